// SPDX-License-Identifier: GPL-2.0
#define _GNU_SOURCE
#include "mtsd/users.h"

#include <sys/socket.h>
#include <unistd.h>

#include "mtsctl/accounts.h"
#include "mtsd/own_cgroup.h"
#include "mtsd/rights.h"
#include "mtsd/users_load.h"
#include "mtsd/wire.h"

/* A process has 65536 groups at most. */
#define GROUPS_MAX 65536u

static DEFINE_MUTEX(lists_lock); /* held while a list is read for a user */
static DEFINE_MUTEX(users_lock); /* held while a user changes something; and: */
static struct users_rules rules; /* no group: no user is a member */

bool mts_users_load(const char *folder)
{
	struct users_rules now;

	if (!users_load(folder, &now))
		return false;
	mutex_lock(&users_lock);
	rules = now;
	mutex_unlock(&users_lock);
	return true;
}

bool mts_users_has_account(uid_t uid)
{
	return account_exists(uid);
}

bool mts_users_is_member(int socket, gid_t gid)
{
	socklen_t size = GROUPS_MAX * sizeof(gid_t);
	gid_t *groups = malloc(size), wanted;
	bool found, has;
	u32 i;

	mutex_lock(&users_lock);
	has = rules.has_group;
	wanted = rules.group;
	mutex_unlock(&users_lock);
	found = has && gid == wanted;
	if (has && groups && !getsockopt(socket, SOL_SOCKET, SO_PEERGROUPS, groups, &size))
		for (i = 0; i < size / sizeof(*groups); i++)
			found |= groups[i] == wanted;
	free(groups);
	return found;
}

/* ---- the jobs that there are ------------------------------------------------------------- */

struct jobs {
	struct mts_elements elements;
	u32 n;
};

static int get_jobs(const struct mts_backend *backend, struct jobs *jobs)
{
	struct mts_list list = { .count = MTS_MAX_JOBS, .elem_size = sizeof(struct mts_job_info) };
	int err = backend->list(MTS_IOC_JOBS, &list, &jobs->elements);

	jobs->n = err ? 0 : list.count;
	return err;
}

static const struct mts_job_info *job_at(const struct jobs *jobs, u32 i)
{
	return (void *)((char *)jobs->elements.at + i * jobs->elements.size);
}

static const struct mts_job_info *find_job(const struct jobs *jobs, u32 id)
{
	u32 i;

	for (i = 0; i < jobs->n; i++)
		if (job_at(jobs, i)->id == id)
			return job_at(jobs, i);
	return NULL;
}

/* Who has made a job, and what is set aside for its children. */
struct maker {
	u32 uid;
	u32 children;
};

/* The mark on its cgroup; RIGHTS_NOBODY: that is gone. */
static struct maker mark_of(const struct mts_job_info *job, u64 instance)
{
	struct maker maker = { .uid = RIGHTS_NOBODY };
	int cgroup = own_cgroup_open(job->cgroup_id);

	if (cgroup < 0)
		return maker;
	maker.uid = own_cgroup_maker(cgroup, job->id, instance, &maker.children);
	close(cgroup);
	return maker;
}

/* The first job of its family, itself if it has no parent; NULL: a job in between is gone. */
static const struct mts_job_info *first_of(const struct jobs *jobs, const struct mts_job_info *job)
{
	u32 levels;

	/* Each parent has a lower id; the bound is for a module that says something else. */
	for (levels = 0; job && job->parent && levels < jobs->n; levels++)
		job = find_job(jobs, job->parent);
	return job;
}

/*
 * A child bears no mark: the module has made it, by the wish of who has made the first job. Without
 * that it belongs to the user who owns its cgroup: who moves all processes out of root's job, so
 * that it ends, can move those of its children out, too.
 */
static u32 maker_of(const struct jobs *jobs, const struct mts_job_info *job, u64 instance)
{
	const struct mts_job_info *first = first_of(jobs, job);
	int cgroup;
	u32 uid;

	if (first)
		return mark_of(first, instance).uid;
	cgroup = own_cgroup_open(job->cgroup_id);
	if (cgroup < 0)
		return RIGHTS_NOBODY;
	uid = own_cgroup_uid(cgroup);
	close(cgroup);
	return uid;
}

static struct rights_has count_jobs(const struct jobs *jobs, u64 instance, u32 uid)
{
	struct rights_has has = { 0 };
	u32 i;

	for (i = 0; i < jobs->n; i++) {
		const struct mts_job_info *job = job_at(jobs, i);

		if (maker_of(jobs, job, instance) != uid)
			continue;
		/* Children are set aside with the first job. */
		if (!job->parent || !first_of(jobs, job))
			has.jobs += 1 + mark_of(job, instance).children;
		has.pins += !!(job->flags & MTS_JOB_PIN);
		has.queued += job->state == MTS_JOB_QUEUED;
		if (job->size_from == MTS_SIZE_GIVEN)
			has.size = mts_add_sat(has.size, job->size);
	}
	return has;
}

/* ---- requests ---------------------------------------------------------------------------- */

#define EACH (MTS_JOB_EACH | MTS_JOB_EACH_LEAF)

/* Is the directory above the user's own, too? The cgroups of children are made there. */
static int check_above(int cgroup, u32 uid)
{
	int above = openat(cgroup, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	u32 owner = above < 0 ? RIGHTS_NOBODY : own_cgroup_uid(above);

	if (above >= 0)
		close(above);
	return owner == uid ? 0 : -EXDEV;
}

/* What is to be asked of the backend. Return: 0, or why the user may not have it. */
static int plan(const struct mts_backend *backend, const struct rights_ask *ask,
		struct mts_job_submit *job)
{
	struct rights_limits limits = rules.limits;
	struct rights_has has;
	struct jobs jobs;
	int err = get_jobs(backend, &jobs);

	if (err)
		return err;
	has = count_jobs(&jobs, backend->instance(), ask->uid);
	kvfree(jobs.elements.at);
	err = rights_within(&limits, ask, &has, job->max_pause_ns);
	if (err)
		return err;
	/* One that nobody has asked to be held takes turns instead. */
	if (has.queued >= limits.queue)
		job->flags &= ~MTS_JOB_BATCH;
	has.jobs++;
	if (job->flags & EACH) {
		job->each_max = rights_children(&limits, &has);
		if (!job->each_max)
			return -MTS_WIRE_TOO_MANY_JOBS;
	}
	job->command = rights_command(job->command, ask->uid);
	return 0;
}

/* Make a job of a cgroup that has been found to be the caller's. */
static int enrol(const struct mts_backend *backend, const struct rights_ask *ask, int cgroup,
		 struct mts_job_submit *job)
{
	struct mts_job_remove remove = { 0 };
	int err = job->flags & EACH ? check_above(cgroup, ask->uid) : 0;

	if (!err)
		err = plan(backend, ask, job);
	if (err)
		return err;
	job->cgroup_fd = cgroup;
	err = backend->command(MTS_IOC_JOB_SUBMIT, job);
	job->cgroup_fd = 0;
	if (err)
		return err;
	err = own_cgroup_set_maker(cgroup, job->id, backend->instance(), ask->uid, job->each_max);
	if (err) {
		remove.id = job->id;
		backend->command(MTS_IOC_JOB_REMOVE, &remove);
	}
	return err;
}

/* @alone: as for own_cgroup_check() */
static int make(const struct mts_backend *backend, const struct rights_ask *ask, u64 id,
		pid_t alone, struct mts_job_submit *job)
{
	int cgroup = own_cgroup_open(id), err;

	if (cgroup < 0)
		return cgroup == -ENOENT ? -ENODEV : cgroup;
	err = rights_of_object(ask->uid, own_cgroup_uid(cgroup), RIGHTS_NOBODY);
	if (!err)
		err = own_cgroup_check(cgroup, ask->uid, alone ? 0 : mts_user_caller()->pid, alone);
	if (!err)
		err = enrol(backend, ask, cgroup, job);
	close(cgroup);
	return err;
}

static int add(const struct mts_backend *backend, const struct rights_ask *ask,
	       struct mts_job_add *add)
{
	struct mts_job_submit job = {
		.flags = add->flags | MTS_JOB_HERE,
		.max_pause_ns = add->max_pause_ns,
		.weight = add->weight,
		.user = add->user,
	};
	int err;

	if (add->flags & ~(EACH | MTS_JOB_PIN | MTS_JOB_USER) || add->pad)
		return -EINVAL;
	err = make(backend, ask, add->cgroup_id, 0, &job);
	add->id = job.id;
	if (!err)
		add->cgroup_id = job.cgroup_id;
	return err;
}

static int submit(const struct mts_backend *backend, const struct rights_ask *ask,
		  struct mts_job_submit *submit)
{
	const u32 known =
		MTS_JOB_ENTER | MTS_JOB_QUEUE | MTS_JOB_BATCH | MTS_JOB_PIN | MTS_JOB_USER | EACH;
	struct mts_user_caller *caller = mts_user_caller();
	struct mts_job_submit job = *submit;
	pid_t pid = caller->pid;
	int err;

	if (job.flags & ~known || !(job.flags & MTS_JOB_ENTER) || job.cgroup_fd || job.each_max)
		return -EINVAL;
	job.flags = (job.flags & ~MTS_JOB_ENTER) | MTS_JOB_HERE;
	/* It is in the cgroup, and is to be: it waits for the answer, and executes its command. */
	caller->pid = getpid();
	err = make(backend, ask, submit->cgroup_id, pid, &job);
	caller->pid = pid;
	if (err)
		return err;
	submit->id = job.id;
	submit->cgroup_id = job.cgroup_id;
	memcpy(submit->name, job.name, sizeof(submit->name));
	return 0;
}

static u32 job_of(unsigned int cmd, const void *argument)
{
	switch (cmd) {
	case MTS_IOC_JOB_SET:
		return ((const struct mts_job_set *)argument)->id;
	case MTS_IOC_JOB_PAUSE:
		return ((const struct mts_job_pause *)argument)->id;
	case MTS_IOC_JOB_WEIGHT:
		return ((const struct mts_job_weight *)argument)->id;
	}
	return ((const struct mts_job_remove *)argument)->id;
}

static int change_own(const struct mts_backend *backend, struct rights_ask ask,
		      const struct jobs *jobs, const struct mts_job_info *job, int cgroup,
		      void *argument)
{
	u64 pause = 0, instance = backend->instance();
	struct rights_has has;
	int err = rights_of_object(ask.uid, own_cgroup_uid(cgroup), maker_of(jobs, job, instance));

	if (err)
		return err;
	if (ask.cmd == MTS_IOC_JOB_PAUSE)
		pause = ((struct mts_job_pause *)argument)->max_pause_ns;
	/* It is one of the pins already. */
	if (job->flags & MTS_JOB_PIN)
		ask.flags &= ~MTS_JOB_PIN;
	has = count_jobs(jobs, instance, ask.uid);
	err = rights_within(&rules.limits, &ask, &has, pause);
	if (!err)
		err = backend->command(ask.cmd, argument);
	if (!err && ask.cmd == MTS_IOC_JOB_REMOVE)
		own_cgroup_clear_maker(cgroup);
	return err;
}

/* Remove, set, pause or weight. */
static int change(const struct mts_backend *backend, const struct rights_ask *ask, void *argument)
{
	const struct mts_job_info *job;
	int err, cgroup;
	struct jobs jobs;

	err = get_jobs(backend, &jobs);
	if (err)
		return err;
	job = find_job(&jobs, job_of(ask->cmd, argument));
	cgroup = job ? own_cgroup_open(job->cgroup_id) : -ENOENT;
	if (cgroup < 0) {
		err = cgroup;
	} else {
		err = change_own(backend, *ask, &jobs, job, cgroup, argument);
		close(cgroup);
	}
	kvfree(jobs.elements.at);
	return err;
}

static u32 flags_of(unsigned int cmd, const void *argument)
{
	const struct mts_job_set *set = argument;

	switch (cmd) {
	case MTS_IOC_JOB_ADD:
		return ((const struct mts_job_add *)argument)->flags;
	case MTS_IOC_JOB_SUBMIT:
		return ((const struct mts_job_submit *)argument)->flags;
	case MTS_IOC_JOB_SET:
		return set->mask & set->flags;
	}
	return 0;
}

static u32 user_of(unsigned int cmd, const void *argument)
{
	switch (cmd) {
	case MTS_IOC_JOB_ADD:
		return ((const struct mts_job_add *)argument)->user;
	case MTS_IOC_JOB_SUBMIT:
		return ((const struct mts_job_submit *)argument)->user;
	}
	return 0;
}

static u32 weight_of(unsigned int cmd, const void *argument)
{
	switch (cmd) {
	case MTS_IOC_JOB_ADD:
		return ((const struct mts_job_add *)argument)->weight;
	case MTS_IOC_JOB_SUBMIT:
		return ((const struct mts_job_submit *)argument)->weight;
	case MTS_IOC_JOB_WEIGHT:
		return ((const struct mts_job_weight *)argument)->weight;
	}
	return 0;
}

static u64 size_of(unsigned int cmd, const void *argument)
{
	return cmd == MTS_IOC_JOB_SUBMIT ? ((const struct mts_job_submit *)argument)->size : 0;
}

int mts_users_command(const struct mts_backend *backend, bool is_member, unsigned int cmd,
		      void *argument)
{
	const struct rights_ask ask = { .uid = mts_user_caller()->uid,
					.is_member = is_member,
					.cmd = cmd,
					.flags = flags_of(cmd, argument),
					.size = size_of(cmd, argument),
					.user = user_of(cmd, argument),
					.weight = weight_of(cmd, argument) };
	int err = rights_of_caller(&ask);

	if (err)
		return err;
	if (!rights_need_object(cmd))
		return backend->command(cmd, argument);
	mutex_lock(&users_lock);
	if (cmd == MTS_IOC_JOB_ADD)
		err = add(backend, &ask, argument);
	else if (cmd == MTS_IOC_JOB_SUBMIT)
		err = submit(backend, &ask, argument);
	else
		err = change(backend, &ask, argument);
	mutex_unlock(&users_lock);
	return err;
}

int mts_users_list(const struct mts_backend *backend, unsigned int cmd, struct mts_list *list,
		   struct mts_elements *elements)
{
	int err;

	mutex_lock(&lists_lock);
	err = backend->list(cmd, list, elements);
	mutex_unlock(&lists_lock);
	return err;
}

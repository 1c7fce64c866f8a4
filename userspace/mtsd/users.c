// SPDX-License-Identifier: GPL-2.0
#define _GNU_SOURCE
#include "mtsd/users.h"

#include <sys/socket.h>
#include <unistd.h>

#include "mtsd/own_cgroup.h"
#include "mtsd/rights.h"
#include "mtsd/users_load.h"
#include "mtsd/wire.h"

/* A process has 65536 groups at most. */
#define GROUPS_MAX 65536u

static DEFINE_MUTEX(lists_lock); /* held while a list is read for a user */
static DEFINE_MUTEX(users_lock); /* held while a user changes something; and: */
static struct users_rules rules; /* no group: no user is a member */

void mts_users_load(const char *folder)
{
	struct users_rules now;

	if (!users_load(folder, &now))
		return;
	mutex_lock(&users_lock);
	rules = now;
	mutex_unlock(&users_lock);
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

static u32 maker_of(const struct mts_job_info *job, u64 instance)
{
	int cgroup = own_cgroup_open(job->cgroup_id);
	u32 uid;

	if (cgroup < 0)
		return RIGHTS_NOBODY;
	uid = own_cgroup_maker(cgroup, job->id, instance);
	close(cgroup);
	return uid;
}

static void count_jobs(const struct jobs *jobs, u64 instance, u32 uid, u32 *n, u32 *pins)
{
	u32 i;

	*n = *pins = 0;
	for (i = 0; i < jobs->n; i++) {
		if (maker_of(job_at(jobs, i), instance) != uid)
			continue;
		++*n;
		*pins += !!(job_at(jobs, i)->flags & MTS_JOB_PIN);
	}
}

/* ---- requests ---------------------------------------------------------------------------- */

static int within(const struct mts_backend *backend, const struct jobs *jobs,
		  const struct rights_ask *ask, u64 max_pause_ns)
{
	u32 n, pins;

	count_jobs(jobs, backend->instance(), ask->uid, &n, &pins);
	return rights_within(&rules.limits, ask, n + 1, pins + 1, max_pause_ns);
}

/* Make a job of a cgroup that has been found to be the caller's. */
static int enrol(const struct mts_backend *backend, const struct rights_ask *ask, int cgroup,
		 struct mts_job_add *add)
{
	struct mts_job_remove remove = { 0 };
	struct jobs jobs;
	int err = get_jobs(backend, &jobs);

	if (err)
		return err;
	err = within(backend, &jobs, ask, add->max_pause_ns);
	kvfree(jobs.elements.at);
	if (err)
		return err;
	add->cgroup_fd = cgroup;
	err = backend->command(MTS_IOC_JOB_ADD, add);
	add->cgroup_fd = -1;
	if (err)
		return err;
	err = own_cgroup_set_maker(cgroup, add->id, backend->instance(), ask->uid);
	if (err) {
		remove.id = add->id;
		backend->command(MTS_IOC_JOB_REMOVE, &remove);
	}
	return err;
}

/* @alone: as for own_cgroup_check() */
static int make(const struct mts_backend *backend, const struct rights_ask *ask, u64 id,
		pid_t alone, struct mts_job_add *add)
{
	int cgroup = own_cgroup_open(id), err;

	if (cgroup < 0)
		return cgroup == -ENOENT ? -ENODEV : cgroup;
	err = rights_of_object(ask->uid, own_cgroup_uid(cgroup), RIGHTS_NOBODY);
	if (!err)
		err = own_cgroup_check(cgroup, ask->uid, alone ? 0 : mts_user_caller()->pid, alone);
	if (!err)
		err = enrol(backend, ask, cgroup, add);
	close(cgroup);
	return err;
}

static int submit(const struct mts_backend *backend, const struct rights_ask *ask,
		  struct mts_job_submit *submit)
{
	struct mts_user_caller *caller = mts_user_caller();
	struct mts_job_add add = {
		.max_pause_ns = submit->max_pause_ns,
		.weight = submit->weight,
	};
	pid_t pid = caller->pid;
	int err;

	if (submit->flags & ~(MTS_JOB_ENTER | MTS_JOB_PIN | MTS_JOB_BATCH | MTS_JOB_USER) ||
	    !(submit->flags & MTS_JOB_ENTER) || submit->reserved[0])
		return -EINVAL;
	if (submit->size || submit->max_wait_ns)
		return -EOPNOTSUPP;
	add.flags = submit->flags & (MTS_JOB_PIN | MTS_JOB_USER);
	add.user = submit->user;
	/* It is in the cgroup, and is to be: it waits for the answer, and executes its command. */
	caller->pid = getpid();
	err = make(backend, ask, submit->cgroup_id, pid, &add);
	caller->pid = pid;
	submit->id = add.id;
	submit->cgroup_id = add.cgroup_id;
	return err;
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
	u64 pause = 0;
	int err = rights_of_object(ask.uid, own_cgroup_uid(cgroup),
				   own_cgroup_maker(cgroup, job->id, backend->instance()));

	if (err)
		return err;
	if (ask.cmd == MTS_IOC_JOB_PAUSE)
		pause = ((struct mts_job_pause *)argument)->max_pause_ns;
	/* It is one of the pins already. */
	if (job->flags & MTS_JOB_PIN)
		ask.flags &= ~MTS_JOB_PIN;
	err = within(backend, jobs, &ask, pause);
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

int mts_users_command(const struct mts_backend *backend, bool is_member, unsigned int cmd,
		      void *argument)
{
	const struct rights_ask ask = { .uid = mts_user_caller()->uid,
					.is_member = is_member,
					.cmd = cmd,
					.flags = flags_of(cmd, argument),
					.user = user_of(cmd, argument),
					.weight = weight_of(cmd, argument) };
	int err = rights_of_caller(&ask);

	if (err)
		return err;
	if (!rights_need_object(cmd))
		return backend->command(cmd, argument);
	mutex_lock(&users_lock);
	if (cmd == MTS_IOC_JOB_ADD)
		err = make(backend, &ask, ((struct mts_job_add *)argument)->cgroup_id, 0, argument);
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

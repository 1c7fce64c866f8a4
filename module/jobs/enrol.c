// SPDX-License-Identifier: GPL-2.0
#include "jobs/enrol.h"

#include "context.h"
#include "memory/cgroupfs.h"
#include "jobs/freeze_watch.h"
#include "jobs/freezer.h"
#include "jobs/gone.h"
#include "jobs/past.h"
#include "jobs/protect.h"
#include "jobs/ran.h"
#include "events/stats.h"
#include "jobs/tasks.h"
#include "events/trace.h"
#include "events/wake.h"

atomic_t mts_job_marked;

/*
 * Held from mkdir to publish(). So a cgroup in the base without a job was left by an earlier load
 * (make_or_replace()).
 */
static DEFINE_MUTEX(create_lock); /* mts.h has the lock order */
static u32 next_id = 1; /* never reused, so that an id in a script cannot name another job */

static struct mts_job *job_alloc(const struct mts_wish *wish)
{
	struct mts_job *job = kzalloc(struct_size(job, stalled, nr_cpu_ids), GFP_KERNEL);

	if (!job)
		return NULL;
	kref_init(&job->ref);
	mutex_init(&job->freeze_lock);
	init_rwsem(&job->evict_lock);
	job->flags = wish->flags & (MTS_JOB_EACH | MTS_JOB_EACH_LEAF | MTS_JOB_PIN | MTS_JOB_QUEUE);
	job->last_threads = 1;
	job->since = ktime_get_ns();
	job->began = job->since;
	job->max_pause_ns = wish->max_pause_ns;
	job->weight = wish->weight ?: MTS_WEIGHT_DEFAULT;
	job->owner = wish->user;
	job->max_wait_ns = wish->max_wait_ns;
	job->size = wish->size;
	job->command = wish->command;
	/* From before it is published: the rotor must not take it for one that has begun. */
	job->held = wish->flags & MTS_JOB_QUEUE;
	job->bin = MTS_BIN_NONE;
	job->ran_since_evict = true;
	return job;
}

/* job->dir is set: open the rest. On error the caller drops what is open (job_release()). */
static int job_open(struct mts_job *job)
{
	job->cgrp = mts_cgroupfs_get(&job->dir);
	if (IS_ERR(job->cgrp)) {
		int err = PTR_ERR(job->cgrp);

		job->cgrp = NULL;
		return err;
	}
	if (!cgroup_parent(job->cgrp))
		return -EINVAL;
	if (!mts_cgroupfs_has_memory(job->cgrp))
		return -EOPNOTSUPP;
	job->freeze_file = mts_cgroupfs_open(&job->dir, "cgroup.freeze", O_WRONLY);
	if (IS_ERR(job->freeze_file)) {
		int err = PTR_ERR(job->freeze_file);

		job->freeze_file = NULL;
		return err == -ENOENT ? -ENODEV : err;
	}
	return mts_freeze_watch_begin(job);
}

/*
 * Freezing is recursive. So no job may lie inside another one, nor contain the base, in which new
 * jobs are made.
 */
static bool overlaps(struct cgroup *cgrp)
{
	struct mts_job *job;

	mts_job_for_each(job)
		if (cgroup_is_descendant(job->cgrp, cgrp) || cgroup_is_descendant(cgrp, job->cgrp))
			return true;
	return cgroup_is_descendant(mts_cgroupfs_base(), cgrp);
}

/* Put the job into the table, with a reference of its own. */
static int publish(struct mts_job *job)
{
	lockdep_assert_held(&mts_lock);
	if (mts_job_count() >= MTS_MAX_JOBS)
		return -ENOSPC;
	if (overlaps(job->cgrp))
		return -EEXIST;
	kref_get(&job->ref);
	mts_jobs_insert(job);
	trace_mts_job(job, MTS_JOB_ENROLLED);
	/*
	 * If the cgroup was removed before the job was in the table, the hook has not found the
	 * job. Then mts_cgroupfs_is_online() says so here.
	 */
	smp_mb();
	if (!mts_cgroupfs_is_online(job->cgrp))
		atomic_inc(&mts_job_marked);
	mts_wake_rotor(MTS_ROTOR_EV_JOBS);
	return 0;
}

/* After this, lookups do not find the job. The caller buries it after it has dropped mts_lock. */
static void unpublish(struct mts_job *job)
{
	lockdep_assert_held(&mts_lock);
	trace_mts_job(job, MTS_JOB_FORGOTTEN);
	mts_jobs_delete(job);
	mts_wake_rotor(MTS_ROTOR_EV_JOBS);
}

/* Where the cgroup of a job that mts makes is; NULL: in the base. */
static const struct path *place_of(const struct mts_job *job)
{
	return job->place.dentry ? &job->place : NULL;
}

/* Its processes may have made cgroups below it: these go with it. */
static void remove_cgroup(struct mts_job *job)
{
	int err = mts_cgroupfs_trim(&job->dir, job->cgrp);

	if (!err)
		err = mts_cgroupfs_rmdir(place_of(job), job->name, &job->dir);
	/* It has been removed already, or has got a process meanwhile. */
	if (err && err != -ENOENT && err != -ENODEV && !mts_cgroupfs_is_populated(job->cgrp))
		pr_notice_ratelimited("job %s has ended, but its cgroup stays: error %d\n",
				      job->name, err);
}

/* Thaw the job for good, remove its cgroup if mts has made it, drop the table's reference. */
static void bury(struct mts_job *job)
{
	mts_freezer_retire(job);
	mts_freeze_watch_end(job);
	mts_protect_end(job);
	mts_ran_end(job);
	/*
	 * With a process in it, rmdir would fail with EBUSY: do not wait for evict_lock for that.
	 */
	if (job->created && !mts_cgroupfs_is_populated(job->cgrp)) {
		down_write(&job->evict_lock);
		remove_cgroup(job);
		up_write(&job->evict_lock);
	}
	mts_job_put(job);
}

static bool name_is_valid(const char *name)
{
	const char *c;

	if (*name == '.')
		return false;
	for (c = name; *c; c++)
		if (!isascii(*c) || (!isalnum(*c) && !strchr("._@:+-", *c)))
			return false;
	return true;
}

/* If a child's name is too long, its parent's part is cut, not the number. */
static void name_child(struct mts_job *job, struct mts_job *parent, u32 n)
{
	char suffix[12];
	int len = snprintf(suffix, sizeof(suffix), ".%u", n);

	snprintf(job->name, sizeof(job->name), "%.*s%s", (int)sizeof(job->name) - 1 - len,
		 parent->name, suffix);
	job->parent = parent->id;
}

/* If the first job of a family is gone, its jobs are counted no more: it gets no new ones. */
static bool family_has_room(const struct mts_job *parent)
{
	bool has_first = false;
	struct mts_job *job;
	u32 n = 0;

	lockdep_assert_held(&mts_lock);
	mts_job_for_each(job) {
		has_first |= job->id == parent->family;
		n += job->family == parent->family && job->id != parent->family;
	}
	return has_first && n < parent->each_max;
}

static int job_name(struct mts_job *job, const char *name, struct mts_job *parent)
{
	int err;

	err = mutex_lock_killable(&mts_lock);
	if (err)
		return err;
	if (mts_job_count() >= MTS_MAX_JOBS ||
	    (parent && parent->family && !family_has_room(parent)))
		err = -ENOSPC;
	else
		job->id = next_id++;
	if (parent)
		name_child(job, parent, ++parent->each_count);
	else if (*name)
		strscpy(job->name, name, sizeof(job->name));
	else
		snprintf(job->name, sizeof(job->name), "job-%u", job->id);
	mutex_unlock(&mts_lock);
	return err;
}

/* Is the cgroup of that name in the base a job, made or added? */
static bool name_is_taken(const char *name)
{
	struct mts_job *job;
	bool taken = false;

	mutex_lock(&mts_lock);
	mts_job_for_each(job)
		taken |=
			cgroup_parent(job->cgrp) == mts_cgroupfs_base() && !strcmp(job->name, name);
	mutex_unlock(&mts_lock);
	return taken;
}

/*
 * An earlier load leaves a cgroup behind if there are processes in it. Once they have exited the
 * cgroup is replaced; until then rmdir fails with EBUSY.
 */
static int make_or_replace(struct mts_job *job)
{
	int err = mts_cgroupfs_mkdir(place_of(job), job->name, &job->dir), removed;

	/* Elsewhere it belongs to a user. */
	if (err != -EEXIST || place_of(job))
		return err;
	/*
	 * The cgroup may be of a job that has just ended, and that the busy rotor has not reaped.
	 */
	mts_job_reap(NULL);
	if (name_is_taken(job->name))
		return err;
	removed = mts_cgroupfs_rmdir(NULL, job->name, NULL);
	if (removed && removed != -ENOENT)
		return err;
	return mts_cgroupfs_mkdir(NULL, job->name, &job->dir);
}

/* If a chosen name is taken, try the next number. */
static int job_make_cgroup(struct mts_job *job, const char *name, struct mts_job *parent)
{
	int err, attempts = *name ? 1 : 100;

	do {
		err = job_name(job, name, parent);
		if (!err)
			err = make_or_replace(job);
	} while (err == -EEXIST && --attempts);
	return err == -ENOENT ? -ENODEV : err;
}

static int job_publish(struct mts_job *job)
{
	int err;

	err = mutex_lock_killable(&mts_lock);
	if (err)
		return err;
	err = publish(job);
	mutex_unlock(&mts_lock);
	return err;
}

/* Make the cgroup and publish the job; on error remove both. */
static int job_make(struct mts_job *job, const char *name, struct mts_job *parent)
{
	int err;

	err = mutex_lock_killable(&create_lock);
	if (err)
		return err;
	err = job_make_cgroup(job, name, parent);
	if (err)
		goto out;
	job->created = true;
	err = job_open(job);
	if (!err)
		err = job_publish(job);
	if (err) {
		mts_freeze_watch_end(job);
		mts_cgroupfs_rmdir(place_of(job), job->name, &job->dir);
	}
out:
	mutex_unlock(&create_lock);
	return err;
}

int mts_job_create(const char *name, const struct mts_wish *wish, struct mts_job *parent,
		   struct mts_job **result)
{
	u32 flags = wish->flags;
	struct mts_job *job;
	int err;

	if (!name_is_valid(name))
		return -EINVAL;
	if ((flags & MTS_JOB_ENTER) && is_global_init(current))
		return -EBUSY;
	job = job_alloc(wish);
	if (!job)
		return -ENOMEM;
	if (parent) {
		job->max_pause_ns = READ_ONCE(parent->max_pause_ns);
		job->weight = READ_ONCE(parent->weight);
		job->family = parent->family;
		job->each_max = parent->each_max;
		job->place = parent->place;
		if (job->place.dentry)
			path_get(&job->place);
		job->owner = parent->owner;
	} else if (!(flags & MTS_JOB_USER)) {
		job->owner = from_kuid(&init_user_ns, current_uid());
	}
	mts_past_ask(job);
	err = job_make(job, name, parent);
	if (err)
		goto out_put;

	/*
	 * The process enters after the job is published. If it entered before and exited at once,
	 * the hook would not find the job whose cgroup has become empty.
	 */
	if (flags & MTS_JOB_ENTER) {
		err = mts_cgroupfs_enter(&job->dir);
		if (err)
			goto out_remove;
	}
	/* With the process in it, so that none of its events tells that it is empty. */
	if (flags & MTS_JOB_QUEUE)
		mts_freezer_hold(job);
	*result = job;
	return 0;

out_remove:
	mts_job_remove(job->id);
	goto out_put;
out_put:
	mts_job_put(job);
	return err;
}

int mts_job_add(int fd, const struct mts_wish *wish, struct mts_job **result)
{
	const u32 each = MTS_JOB_EACH | MTS_JOB_EACH_LEAF;
	struct mts_job *job;
	int err;

	job = job_alloc(wish);
	if (!job)
		return -ENOMEM;
	mts_past_ask(job);
	err = mts_cgroupfs_dir_of_fd(fd, &job->dir);
	if (err)
		goto out_put;

	mts_cgroupfs_name(&job->dir, job->name, sizeof(job->name));
	if (!(wish->flags & MTS_JOB_USER))
		job->owner = mts_cgroupfs_owner(&job->dir);
	err = job_open(job);
	if (!err)
		err = mts_tasks_check(job->cgrp);
	if (err)
		goto out_put;
	if (wish->flags & MTS_JOB_HERE && wish->flags & each) {
		mts_cgroupfs_above(&job->dir, &job->place);
		job->each_max = wish->each_max ?: MTS_MAX_JOBS;
	}
	/* What it ran and waited before is not of this job. */
	mts_ran_begin(job);
	mts_tasks_stalled(job);

	err = mutex_lock_killable(&mts_lock);
	if (err)
		goto out_put;
	job->id = next_id++;
	if (job->place.dentry)
		job->family = job->id;
	err = publish(job);
	mutex_unlock(&mts_lock);
	if (err)
		goto out_put;
	if (wish->flags & MTS_JOB_QUEUE)
		mts_freezer_hold(job);
	*result = job;
	return 0;

out_put:
	mts_freeze_watch_end(job);
	mts_job_put(job);
	return err;
}

static struct mts_job *find(u32 id)
{
	struct mts_job *job;

	mts_job_for_each(job)
		if (job->id == id)
			return job;
	return NULL;
}

int mts_job_remove(u32 id)
{
	struct mts_job *job;
	bool ours;

	mutex_lock(&mts_lock);
	job = find(id);
	if (job)
		kref_get(&job->ref);
	mutex_unlock(&mts_lock);
	if (!job)
		return -ENOENT;

	/* Thaw the job while it is in the table, where the watchdog finds it. */
	mts_freezer_retire(job);
	/*
	 * A new job of the same name must wait until this is done: make_or_replace() would remove
	 * the cgroup without evict_lock.
	 */
	mutex_lock(&create_lock);
	mutex_lock(&mts_lock);
	ours = job->published;
	if (ours)
		unpublish(job);
	mutex_unlock(&mts_lock);
	if (ours)
		bury(job);
	mutex_unlock(&create_lock);
	mts_job_put(job);
	return ours ? 0 : -ENOENT;
}

int mts_job_set(u32 id, u32 mask, u32 flags)
{
	struct mts_job *job;

	mutex_lock(&mts_lock);
	job = find(id);
	if (job) {
		mts_jobs_set_flags(job, (job->flags & ~mask) | (flags & mask));
		mts_wake_rotor(MTS_ROTOR_EV_JOBS);
		mts_wake_rotor(MTS_ROTOR_EV_CONFIG);
	}
	mutex_unlock(&mts_lock);
	return job ? 0 : -ENOENT;
}

int mts_job_pause(u32 id, u64 max_pause_ns)
{
	struct mts_job *job;

	mutex_lock(&mts_lock);
	job = find(id);
	if (job) {
		WRITE_ONCE(job->max_pause_ns, max_pause_ns);
		mts_jobs_changed();
		mts_wake_rotor(MTS_ROTOR_EV_JOBS);
		mts_wake_rotor(MTS_ROTOR_EV_CONFIG);
	}
	mutex_unlock(&mts_lock);
	return job ? 0 : -ENOENT;
}

int mts_job_weight(u32 id, u32 weight)
{
	struct mts_job *job;

	mutex_lock(&mts_lock);
	job = find(id);
	if (job) {
		WRITE_ONCE(job->weight, weight ?: MTS_WEIGHT_DEFAULT);
		mts_jobs_changed();
		mts_wake_rotor(MTS_ROTOR_EV_CONFIG);
	}
	mutex_unlock(&mts_lock);
	return job ? 0 : -ENOENT;
}

/* Has its last process exited, with no new one since, or has its cgroup been removed? */
static bool is_gone(struct mts_job *job)
{
	if (!mts_cgroupfs_is_online(job->cgrp))
		return true;
	return test_and_clear_bit(MTS_JOB_EV_EMPTIED, &job->events) &&
	       !mts_cgroupfs_is_populated(job->cgrp);
}

static void bury_all(struct list_head *graves, void (*step)(const char *doing))
{
	struct mts_job *job, *next;

	/* Thaw all of them first: to remove a directory may take long. */
	list_for_each_entry(job, graves, grave)
		mts_freezer_retire(job);
	list_for_each_entry_safe(job, next, graves, grave) {
		if (step)
			step("jobs that ended are cleared away");
		bury(job);
	}
}

bool mts_job_reap(void (*step)(const char *doing))
{
	struct mts_job *job, *next;
	LIST_HEAD(graves);
	bool any;

	/* Cleared before the pass: a job that is marked from now on causes another pass. */
	if (!atomic_xchg(&mts_job_marked, 0))
		return false;
	mutex_lock(&mts_lock);
	list_for_each_entry_safe(job, next, &mts_jobs, node) {
		if (!is_gone(job))
			continue;
		unpublish(job);
		list_add_tail(&job->grave, &graves);
		mts_stats_inc(jobs_gone);
		mts_gone_note(job);
	}
	mutex_unlock(&mts_lock);
	list_for_each_entry(job, &graves, grave)
		mts_past_tell(job);
	any = !list_empty(&graves);
	bury_all(&graves, step);
	return any;
}

void mts_job_exit(void)
{
	struct mts_job *job, *next;
	LIST_HEAD(graves);

	mutex_lock(&mts_lock);
	list_for_each_entry_safe(job, next, &mts_jobs, node) {
		unpublish(job);
		list_add_tail(&job->grave, &graves);
	}
	mutex_unlock(&mts_lock);
	bury_all(&graves, NULL);
}

// SPDX-License-Identifier: GPL-2.0
#include "jobs/freeze_watch.h"

#ifdef CONFIG_FSNOTIFY

#include <linux/err.h>
#include <linux/fs.h>
#include <linux/fsnotify_backend.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>

#include "jobs/freezer.h"

/**
 * struct mts_freeze_watch - one job's mark
 * @mark: on the inode of the job's cgroup.freeze
 * @job: NULL once the watch has ended; read under RCU
 *
 * fsnotify frees the mark when no process is in on_event() any more. The job may be freed earlier.
 */
struct mts_freeze_watch {
	struct fsnotify_mark mark;
	struct mts_job *job;
};

static struct fsnotify_group *group;

static struct mts_job *get_job(struct fsnotify_mark *mark)
{
	struct mts_freeze_watch *watch = container_of(mark, struct mts_freeze_watch, mark);
	struct mts_job *job;

	rcu_read_lock();
	job = READ_ONCE(watch->job);
	if (job && !mts_job_tryget(job))
		job = NULL;
	rcu_read_unlock();
	return job;
}

/* In the context of the process that opens or writes. May sleep. */
static int on_event(struct fsnotify_group *unused, u32 mask, const void *data, int data_type,
		    struct inode *dir, const struct qstr *name, u32 cookie,
		    struct fsnotify_iter_info *iter)
{
	struct fsnotify_mark *mark = fsnotify_iter_inode_mark(iter);
	struct mts_job *job;

	/*
	 * Without a path it is a truncation, as by open(O_TRUNC), or a change of times: no write.
	 */
	if (!mark || !fsnotify_data_path(data, data_type))
		return 0;
	job = get_job(mark);
	if (!job)
		return 0;
	if (mask & FS_OPEN)
		mts_freezer_note_open(job);
	if (mask & FS_MODIFY)
		mts_freezer_note_write(job);
	mts_job_put(job);
	return 0;
}

static void free_watch(struct fsnotify_mark *mark)
{
	kfree(container_of(mark, struct mts_freeze_watch, mark));
}

static const struct fsnotify_ops watch_ops = {
	.handle_event = on_event,
	.free_mark = free_watch,
};

int mts_freeze_watch_begin(struct mts_job *job)
{
	struct mts_freeze_watch *watch = kzalloc(sizeof(*watch), GFP_KERNEL);
	unsigned int noreclaim;
	int err;

	if (!watch)
		return -ENOMEM;
	fsnotify_init_mark(&watch->mark, group);
	watch->mark.mask = FS_OPEN | FS_MODIFY;
	watch->job = job;
	/*
	 * No reclaim: fsnotify holds the group's lock while it allocates, and the rotor takes that
	 * lock when a watch ends.
	 */
	noreclaim = memalloc_noreclaim_save();
	err = fsnotify_add_inode_mark(&watch->mark, file_inode(job->freeze_file), 0);
	memalloc_noreclaim_restore(noreclaim);
	if (err) {
		fsnotify_put_mark(&watch->mark);
		return err;
	}
	job->freeze_watch = watch;
	return 0;
}

void mts_freeze_watch_end(struct mts_job *job)
{
	struct mts_freeze_watch *watch = job->freeze_watch;

	if (!watch)
		return;
	job->freeze_watch = NULL;
	WRITE_ONCE(watch->job, NULL);
	fsnotify_destroy_mark(&watch->mark, group);
	fsnotify_put_mark(&watch->mark);
}

int mts_freeze_watch_init(void)
{
	/* DUPS: a cgroup that is added again has the mark of its old job until that is buried. */
	group = fsnotify_alloc_group(&watch_ops, FSNOTIFY_GROUP_DUPS);
	return PTR_ERR_OR_ZERO(group);
}

void mts_freeze_watch_exit(void)
{
	fsnotify_put_group(group);
	fsnotify_wait_marks_destroyed();
}

#else /* CONFIG_FSNOTIFY */

int mts_freeze_watch_begin(struct mts_job *job)
{
	return 0;
}

void mts_freeze_watch_end(struct mts_job *job)
{
}

int mts_freeze_watch_init(void)
{
	pr_warn("this kernel has no fsnotify: a freeze that another process asks for while mts holds the job frozen is lost\n");
	return 0;
}

void mts_freeze_watch_exit(void)
{
}

#endif /* CONFIG_FSNOTIFY */

// SPDX-License-Identifier: GPL-2.0
#include "sched_hooks/each.h"

#include <linux/cgroup.h>
#include <linux/llist.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/task_work.h>
#include <linux/wait.h>

#include "jobs/enrol.h"
#include "events/stats.h"

/*
 * Children between fork and their first instruction at a time. The hook cannot allocate; a child
 * beyond these stays in its parent's job (each_missed).
 */
#define MAX_PENDING 1024

struct each_work {
	struct callback_head work;
	struct llist_node free;
	struct mts_job *parent; /* with a reference */
};

static struct each_work *works;
static LLIST_HEAD(free_works);
static DEFINE_RAW_SPINLOCK(free_lock); /* llist_del_first() allows one consumer at a time */
static atomic_t pending;
static bool used; /* a task work has been queued since load */
static DECLARE_WAIT_QUEUE_HEAD(drained);

static struct each_work *take_work(void)
{
	struct llist_node *node;
	unsigned long flags;

	raw_spin_lock_irqsave(&free_lock, flags);
	node = llist_del_first(&free_works);
	raw_spin_unlock_irqrestore(&free_lock, flags);
	return node ? llist_entry(node, struct each_work, free) : NULL;
}

/* Any context. Return: no child has a pending task work now. */
static bool give_work(struct each_work *work)
{
	llist_add(&work->free, &free_works);
	return atomic_dec_and_test(&pending);
}

/* The task work: runs in the child's context. */
static void give_job(struct callback_head *head)
{
	struct each_work *work = container_of(head, struct each_work, work);
	struct mts_job *job;

	/* The child was killed before it ran, or EACH was switched off since: no job. */
	if (current->flags & PF_EXITING || !(READ_ONCE(work->parent->flags) & MTS_JOB_EACH)) {
		/* nothing */
	} else if (!mts_job_create("", MTS_JOB_ENTER, 0, work->parent, &job)) {
		mts_stats_inc(jobs_each);
		mts_job_put(job);
	} else {
		mts_stats_inc(each_missed);
	}
	mts_job_put(work->parent);
	if (give_work(work))
		wake_up(&drained);
}

static struct each_work *work_for(struct mts_job *parent)
{
	struct each_work *work = take_work();

	if (!work) {
		mts_stats_inc(each_missed);
		return NULL;
	}
	atomic_inc(&pending);
	WRITE_ONCE(used, true);
	if (mts_job_tryget(parent)) {
		work->parent = parent;
		init_task_work(&work->work, give_job);
		return work;
	}
	/* mts_each_exit() begins to wait after the hook is removed: no wake-up is needed. */
	give_work(work);
	return NULL;
}

void mts_hook_fork(void *data, struct task_struct *parent, struct task_struct *child)
{
	struct each_work *work = NULL;
	struct mts_job *job;

	if (likely(!atomic_read(&mts_job_each)))
		return;
	if (same_thread_group(parent, child) || child->flags & (PF_KTHREAD | PF_IO_WORKER))
		return;

	rcu_read_lock();
	/* The child's cgroup, not the parent's: clone3(CLONE_INTO_CGROUP) may have changed it. */
	job = mts_job_of_cgroup(task_dfl_cgroup(child));
	if (job && READ_ONCE(job->flags) & MTS_JOB_EACH)
		work = work_for(job);
	rcu_read_unlock();
	/*
	 * Only an exiting task refuses work, and this one has not run yet. If it happens
	 * nevertheless, the reference to the parent's job leaks: to drop it could sleep.
	 */
	if (work && WARN_ON_ONCE(task_work_add(child, &work->work, TWA_RESUME)))
		give_work(work);
}

int mts_each_init(void)
{
	int i;

	works = kcalloc(MAX_PENDING, sizeof(*works), GFP_KERNEL);
	if (!works)
		return -ENOMEM;
	for (i = 0; i < MAX_PENDING; i++)
		llist_add(&works[i].free, &free_works);
	return 0;
}

void mts_each_exit(void)
{
	wait_event(drained, !atomic_read(&pending));
	/*
	 * The last child may still execute, or be preempted at, the last instructions of
	 * give_job(). synchronize_rcu_tasks() waits until it has left them.
	 */
	if (READ_ONCE(used))
		synchronize_rcu_tasks();
	kfree(works);
}

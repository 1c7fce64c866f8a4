// SPDX-License-Identifier: GPL-2.0
#include "sched_hooks/each.h"

#include <linux/cgroup.h>
#include <linux/irq_work.h>
#include <linux/llist.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/task_work.h>
#include <linux/wait.h>

#include "compat/compat.h"
#include "jobs/enrol.h"
#include "events/stats.h"

/*
 * Processes on their way to a job at a time. Hooks cannot allocate. Beyond these, a child of an
 * EACH job stays in its parent's job (each_missed), and a leaf tries again when it grows on.
 */
#define MAX_PENDING 1024

struct each_work {
	struct callback_head work;
	struct llist_node free;
	struct task_struct *task; /* it will run the work; NULL, by @works_lock: it does so now */
	struct mts_job *parent; /* with a reference */
	u32 flag; /* of @parent: MTS_JOB_EACH or MTS_JOB_EACH_LEAF */
};

static struct each_work *works;
static LLIST_HEAD(free_works);
static DEFINE_RAW_SPINLOCK(free_lock); /* llist_del_first() allows one consumer at a time */
static DEFINE_RAW_SPINLOCK(works_lock); /* a task that runs no work yet does not go */
static atomic_t pending;
static bool used; /* a task work has been queued since load */
static DECLARE_WAIT_QUEUE_HEAD(drained);
static void (*tell_unused)(void);

/* A leaf that got no job tries again after this time, not at each of its page faults. */
#define RETRY_NS ((u64)NSEC_PER_SEC)
/*
 * Jiffies, 100 ms: the module's unload waits so long for works before it interrupts system calls,
 * which programs may notice. A process that returns to user space needs less, however many
 * processors the host has; an unload takes 1.5 s without such a call (test_failopen), for RCU.
 */
#define DRAIN_PATIENCE (HZ / 10)

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

/*
 * False: the process was killed before it ran, the flag was taken away, or another thread has given
 * the process its job.
 */
static bool is_wanted(const struct each_work *work)
{
	bool is_there;

	rcu_read_lock();
	is_there = mts_job_of_cgroup(task_dfl_cgroup(current)) == work->parent;
	rcu_read_unlock();
	return is_there && !(current->flags & PF_EXITING) &&
	       READ_ONCE(work->parent->flags) & work->flag;
}

/* The process may go from now on: interrupt_all() does not look at it any more. */
static void forget_task(struct each_work *work)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&works_lock, flags);
	work->task = NULL;
	raw_spin_unlock_irqrestore(&works_lock, flags);
}

/* The task work: runs in the context of the process. */
static void give_job(struct callback_head *head)
{
	struct each_work *work = container_of(head, struct each_work, work);
	const struct mts_wish wish = { .flags = MTS_JOB_ENTER | (work->flag & MTS_JOB_EACH_LEAF) };
	struct mts_job *job;

	forget_task(work);
	if (!is_wanted(work)) {
		/* nothing */
	} else if (!mts_job_create("", &wish, work->parent, &job)) {
		mts_stats_inc(jobs_each);
		mts_job_put(job);
	} else {
		mts_stats_inc(each_missed);
		WRITE_ONCE(work->parent->leaf_retry, ktime_get_ns() + RETRY_NS);
	}
	mts_job_put(work->parent);
	if (give_work(work))
		wake_up(&drained);
}

static struct each_work *work_for(struct mts_job *parent, u32 flag)
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
		work->flag = flag;
		init_task_work(&work->work, give_job);
		return work;
	}
	/* mts_each_exit() begins to wait after the hook is removed: no wake-up is needed. */
	give_work(work);
	return NULL;
}

/* Queue the work, if there is one, for a process that will return to user space. */
static void queue(struct task_struct *task, struct each_work *work)
{
	/*
	 * Only an exiting task refuses work, and this one does not exit. If it happens
	 * nevertheless, the reference to the parent's job leaks: to drop it could sleep.
	 */
	if (!work)
		return;
	/* interrupt_all() begins after the hooks are removed: no lock is needed. */
	work->task = task;
	if (WARN_ON_ONCE(task_work_add(task, &work->work, TWA_RESUME))) {
		work->task = NULL;
		give_work(work);
	}
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
		work = work_for(job, MTS_JOB_EACH);
	rcu_read_unlock();
	queue(child, work);
}

static void on_unused(struct irq_work *unused)
{
	tell_unused();
}

static DEFINE_IRQ_WORK(unused_work, on_unused);

/*
 * Has the current process so much memory of its own? After a fork most of its pages are its
 * parent's, until it executes a program: then what it has got since counts. A copy of a page of the
 * parent's changes no number of pages, but is a page fault.
 */
static bool has_grown(struct mm_struct *mm)
{
	const unsigned long enough = MTS_LEAF_BYTES >> PAGE_SHIFT;

	if (!(current->group_leader->flags & PF_FORKNOEXEC))
		return get_mm_counter(mm, MM_ANONPAGES) + get_mm_counter(mm, MM_SHMEMPAGES) +
			       get_mm_counter(mm, MM_SWAPENTS) >=
		       enough;
	/* fork() sets hiwater_rss to the pages that the child begins with. */
	return current->min_flt >= enough || get_mm_rss(mm) >= READ_ONCE(mm->hiwater_rss) + enough;
}

/* Is the current process a leaf that belongs into a job of its own? Under rcu_read_lock(). */
static bool is_leaf_of(const struct mts_job *job)
{
	return READ_ONCE(job->flags) & MTS_JOB_EACH_LEAF &&
	       current->group_leader->start_time > job->since &&
	       ktime_get_ns() >= READ_ONCE(job->leaf_retry);
}

/* On 6.1 once in 64 pages of a thread, on newer kernels once in a page fault. */
void mts_hook_growth(struct mm_struct *mm)
{
	struct each_work *work = NULL;
	struct mts_job *job;

	if (unlikely(!atomic_read(&mts_job_leaves))) {
		irq_work_queue(&unused_work);
		return;
	}
	/* The child of a vfork has its parent's memory. */
	if (mm != current->mm || current->vfork_done ||
	    current->flags & (PF_KTHREAD | PF_IO_WORKER | PF_USER_WORKER | PF_EXITING))
		return;
	/* Its task work may be pending already: a long system call can touch many pages. */
	if (!has_grown(mm) || task_work_pending(current))
		return;

	rcu_read_lock();
	job = mts_job_of_cgroup(task_dfl_cgroup(current));
	if (job && is_leaf_of(job))
		work = work_for(job, MTS_JOB_EACH_LEAF);
	rcu_read_unlock();
	queue(current, work);
}

int mts_each_init(void (*unused)(void))
{
	int i;

	tell_unused = unused;
	works = kcalloc(MAX_PENDING, sizeof(*works), GFP_KERNEL);
	if (!works)
		return -ENOMEM;
	for (i = 0; i < MAX_PENDING; i++)
		llist_add(&works[i].free, &free_works);
	return 0;
}

void mts_each_sync(void)
{
	irq_work_sync(&unused_work);
}

/* As set_notify_signal(), whose wake_up_state() is not exported. */
static void interrupt(struct task_struct *task)
{
	set_tsk_thread_flag(task, TIF_NOTIFY_SIGNAL);
	if (READ_ONCE(task->__state) & TASK_INTERRUPTIBLE)
		wake_up_process(task);
}

/*
 * A work runs when its process returns to user space. A leaf may have grown in a system call that
 * waits for hours now: recv(MSG_WAITALL), or a read into new memory that faults. It ends as for
 * the cgroup freezer: begun again, or with what has been done of it.
 */
static void interrupt_all(void)
{
	unsigned long flags;
	int i;

	for (i = 0; i < MAX_PENDING; i++) {
		raw_spin_lock_irqsave(&works_lock, flags);
		if (works[i].task)
			interrupt(works[i].task);
		raw_spin_unlock_irqrestore(&works_lock, flags);
	}
}

void mts_each_exit(void)
{
	while (!wait_event_timeout(drained, !atomic_read(&pending), DRAIN_PATIENCE))
		interrupt_all();
	/*
	 * The last child may still execute, or be preempted at, the last instructions of
	 * give_job(). synchronize_rcu_tasks() waits until it has left them.
	 */
	if (READ_ONCE(used))
		synchronize_rcu_tasks();
	kfree(works);
}

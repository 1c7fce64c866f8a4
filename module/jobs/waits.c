// SPDX-License-Identifier: GPL-2.0
#include "jobs/waits.h"

#include <linux/cgroup.h>
#include <linux/mm.h>
#include <linux/net.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>

#include "jobs/blocked.h"
#include "jobs/watched.h"
#include "jobs/files.h"
#include "job.h"
#include "events/stats.h"
#include "events/trace.h"
#include "policy/ties.h"

/* Mappings of one process that are searched; bounds the time that its mmap_lock is held. */
#define MAX_AREAS 1024

#define FILE_KINDS (BIT(MTS_AWAITED_FILE) | BIT(MTS_AWAITED_INODE) | BIT(MTS_AWAITED_SOCKET))

/* The rotor and the lookout both look. Protects the look under way, also its table in blocked.c. */
static DEFINE_MUTEX(look_lock);
static u64 looked; /* when; ktime, ns */
static u64 known_before; /* when the round was planned; ktime, ns */

static bool is_in_bin(const struct mts_job *job)
{
	return job->bin < MTS_MAX_JOBS;
}

/*
 * Do other jobs hold it up only by their turns? A job that sleeps would be in a bin if it did not
 * wait, so it is no process outside.
 */
static bool takes_turns(const struct mts_job *job)
{
	return is_in_bin(job) || READ_ONCE(job->sleeps);
}

static bool may_run(const struct mts_job *job)
{
	return READ_ONCE(job->runs) || READ_ONCE(job->sleeps);
}

/* Note what tasks in no bin wait for, and with @running those of the jobs whose bin runs, too. */
static void look_at_waiters(bool running)
{
	struct task_struct *process, *task;
	struct mts_job *job;

	for_each_process(process) {
		job = mts_job_of_cgroup(task_dfl_cgroup(process));
		if (job &&
		    (READ_ONCE(job->frozen) || (takes_turns(job) && !(running && may_run(job)))))
			continue;
		if (process->flags & PF_KTHREAD)
			continue;
		for_each_thread(process, task) {
			if (++mts_look_steps > MTS_LOOK_MAX_STEPS)
				return;
			mts_blocked_look(task, job && takes_turns(job) ? job : NULL);
		}
	}
}

/* ---- which job holds it ----------------------------------------------------------------- */

/* Is it frozen, or would it be frozen without its call, which this look then extends? */
static bool is_held_up(const struct mts_job *holder)
{
	return READ_ONCE(holder->frozen) || mts_job_has_call(holder);
}

static void found_by_outsider(const struct mts_awaited *awaited, struct mts_job *holder)
{
	const struct mts_caller caller = mts_caller_of(awaited->task);
	bool is_new = READ_ONCE(holder->frozen) && !mts_job_has_call(holder);

	if (!is_held_up(holder))
		return;
	if (is_new)
		trace_mts_wait(holder, NULL, awaited->what);
	mts_calls_seen(holder, awaited->what == MTS_WAIT_LOCK ? MTS_CALL_LOCK : MTS_CALL_WRITE,
		       &caller);
}

static void found(const struct mts_awaited *awaited, struct mts_job *holder)
{
	struct mts_job *waiter = awaited->waiter;
	bool frozen = READ_ONCE(holder->frozen);

	if (waiter == holder || !is_in_bin(holder))
		return;
	if (!waiter) {
		found_by_outsider(awaited, holder);
		return;
	}
	/* Jobs of one bin can wait for each other without harm; the tie keeps them together. */
	if (mts_ties_note(&waiter->ties, holder->id, looked, frozen) && frozen) {
		mts_stats_inc(waits);
		trace_mts_wait(holder, waiter, awaited->what);
	}
	/* The plan knew of the tie, and has not put both into one bin. */
	if (is_held_up(holder) && awaited->what == MTS_WAIT_LOCK &&
	    mts_ties_known(&waiter->ties, holder->id, looked, known_before)) {
		const struct mts_caller caller = mts_caller_of(awaited->task);

		mts_calls_seen(holder, MTS_CALL_LOCK, &caller);
	}
}

static void match(struct mts_job *holder, enum mts_awaited_kind kind, unsigned long id,
		  fmode_t mode)
{
	const struct mts_awaited *awaited = mts_blocked_first(kind, id);

	for (; awaited; awaited = mts_blocked_next(awaited)) {
		if (++mts_look_steps > MTS_LOOK_MAX_STEPS)
			return;
		if (awaited->kind == kind && (awaited->mode & mode) == awaited->mode)
			found(awaited, holder);
	}
}

static void match_file(struct file *file, void *job)
{
	struct socket *socket = sock_from_file(file);
	struct mts_job *holder = job;

	match(holder, MTS_AWAITED_FILE, (unsigned long)file, 0);
	if (mts_files_pipe(file))
		match(holder, MTS_AWAITED_INODE, (unsigned long)file_inode(file), file->f_mode);
	else if (socket)
		match(holder, MTS_AWAITED_SOCKET, (unsigned long)socket, 0);
}

static void match_memory(struct mm_struct *mm, struct mts_job *holder)
{
	VMA_ITERATOR(vmi, mm, 0);
	struct vm_area_struct *vma;
	u32 n = 0;

	if (!mmap_read_trylock(mm))
		return;
	for_each_vma(vmi, vma) {
		if (++n > MAX_AREAS || ++mts_look_steps > MTS_LOOK_MAX_STEPS)
			break;
		if (vma->vm_flags & VM_SHARED && vma->vm_file)
			match(holder, MTS_AWAITED_MEMORY, (unsigned long)file_inode(vma->vm_file),
			      0);
	}
	mmap_read_unlock(mm);
}

/*
 * Threads of a process share its files and memory: one that has not exited is enough. Return: this
 * one was.
 */
static bool look_at_holder(struct task_struct *task, struct mts_job *holder)
{
	bool alive;

	task_lock(task);
	alive = task->mm && task->files;
	if (alive && mts_blocked_has_kind(FILE_KINDS))
		mts_look_files(task, match_file, holder);
	if (alive && mts_blocked_has_kind(BIT(MTS_AWAITED_MEMORY)))
		match_memory(task->mm, holder);
	task_unlock(task);
	return alive;
}

static void look_at_holders(bool running)
{
	struct task_struct *process, *task;
	struct mts_job *job;

	for_each_process(process) {
		if (mts_look_steps > MTS_LOOK_MAX_STEPS)
			return;
		job = mts_job_of_cgroup(task_dfl_cgroup(process));
		/* Jobs that run, too: the ties between them are refreshed. */
		if (!job || !(is_held_up(job) || (running && READ_ONCE(job->runs))))
			continue;
		match(job, MTS_AWAITED_PROCESS, process->tgid, 0);
		for_each_thread(process, task)
			if (look_at_holder(task, job))
				break;
	}
}

static void look(bool running, u64 planned)
{
	mutex_lock(&look_lock);
	mts_blocked_clear();
	mts_look_steps = 0;
	looked = ktime_get_ns();
	known_before = planned;
	rcu_read_lock();
	look_at_waiters(running);
	if (mts_blocked_sort()) {
		mts_look_steps = 0;
		look_at_holders(running);
	}
	rcu_read_unlock();
	mutex_unlock(&look_lock);
}

void mts_waits_look(u64 planned)
{
	look(true, planned);
}

void mts_waits_look_outside(void)
{
	look(false, 0);
}

// SPDX-License-Identifier: GPL-2.0
#include "sched_hooks/pipes.h"

#include <linux/cgroup.h>
#include <linux/fs.h>
#include <linux/irq_work.h>
#include <linux/kprobes.h>
#include <linux/pipe_fs_i.h>
#include <linux/rcupdate.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/workqueue.h>

#include "jobs/files.h"
#include "jobs/interactive.h"
#include "jobs/trails.h"
#include "policy/interactive.h"

/* Pipes with recent writes. A new one beyond these replaces the one written longest ago. */
#define MAX_PIPES 8
/* A pipe's reader is searched at most this often: credit does not come more often. */
#define LOOK_NS (100 * (u64)NSEC_PER_MSEC)
/* Processes and files in one search; bounds the time under rcu_read_lock(). */
#define MAX_STEPS (64 * 1024)

/**
 * struct request - a write to a pipe
 * @pipe: address of the pipe's inode, only compared; 0: the entry is free
 * @at: when; ktime, ns
 * @step: number of programs between the person and the reader
 * @writer: id of the writer's job; 0: none
 * @is_new: the reader has not been searched yet
 */
struct request {
	unsigned long pipe;
	u64 at;
	u32 step;
	u32 writer;
	bool is_new;
};

static struct request requests[MAX_PIPES];
/*
 * No thread is woken while it is held. Hooks only try it: a kprobe that is a breakpoint may
 * interrupt the holder, as an NMI may.
 */
static DEFINE_RAW_SPINLOCK(requests_lock);

static void look(struct work_struct *work);
static DECLARE_WORK(look_work, look);

static void begin_to_look(struct irq_work *unused)
{
	schedule_work(&look_work);
}

static DEFINE_IRQ_WORK(begin_work, begin_to_look);

/* ---- record a write ----------------------------------------------------------------------- */

/* The pipe's entry, or the one of the pipe that was written longest ago. */
static struct request *find_place(unsigned long pipe)
{
	struct request *oldest = &requests[0];
	int i;

	for (i = 0; i < MAX_PIPES; i++) {
		if (requests[i].pipe == pipe)
			return &requests[i];
		if (requests[i].at < oldest->at)
			oldest = &requests[i];
	}
	return oldest;
}

/* Return: the reader must be searched. */
static bool add_request(const struct request *new)
{
	struct request *place;
	unsigned long flags;
	bool is_new;

	/* If the lock is taken, drop this write: a program that writes now will write again. */
	if (!raw_spin_trylock_irqsave(&requests_lock, flags))
		return false;
	place = find_place(new->pipe);
	is_new = place->pipe != new->pipe || new->at - place->at >= LOOK_NS;
	if (is_new)
		*place = *new;
	raw_spin_unlock_irqrestore(&requests_lock, flags);
	return is_new;
}

/* Under RCU. */
static void note_request(const struct file *file, struct task_struct *from)
{
	struct request new = {
		.pipe = (unsigned long)file_inode(file),
		.at = ktime_get_mono_fast_ns(),
		.step = mts_trails_step(from) + 1,
		.is_new = true,
	};
	struct mts_job *job;

	if (new.step > MTS_STEP_MAX)
		return;
	job = mts_job_of_cgroup(task_dfl_cgroup(from));
	new.writer = job ? job->id : 0;
	if (add_request(&new))
		irq_work_queue(&begin_work);
}

int mts_hook_pipe_write(struct kprobe *probe, struct pt_regs *regs)
{
	const struct kiocb *iocb = (struct kiocb *)regs_get_kernel_argument(regs, 0);

	if (!mts_interactive_is_busy())
		return 0;
	rcu_read_lock();
	note_request(iocb->ki_filp, current);
	rcu_read_unlock();
	return 0;
}

void mts_pipes_unread(struct file *file, struct task_struct *from)
{
	const struct pipe_inode_info *pipe = mts_files_pipe(file);

	if (!pipe || !(file->f_mode & FMODE_WRITE) ||
	    pipe_empty(READ_ONCE(pipe->head), READ_ONCE(pipe->tail)))
		return;
	rcu_read_lock();
	note_request(file, from);
	rcu_read_unlock();
}

/* ---- find the reader ---------------------------------------------------------------------- */

/* The pipes of the search under way. */
static struct wanted {
	struct request request;
	struct mts_job *job; /* the last job found that reads it */
	struct task_struct *task; /* a task of that job */
	u32 readers; /* jobs that read it */
} wanted[MAX_PIPES];
static u32 nwanted;

static void note_reader(struct wanted *pipe, struct task_struct *task)
{
	struct mts_job *job = mts_job_of_cgroup(task_dfl_cgroup(task));

	/* The task may have left its job meanwhile. */
	if (!job || pipe->request.writer == job->id || pipe->job == job)
		return;
	pipe->readers++;
	pipe->job = job;
	pipe->task = task;
}

static void look_at_file(struct file *file, void *task)
{
	u32 i;

	if (!mts_files_pipe(file) || !(file->f_mode & FMODE_READ))
		return;
	for (i = 0; i < nwanted; i++)
		if (wanted[i].request.pipe == (unsigned long)file_inode(file))
			note_reader(&wanted[i], task);
}

/* Under RCU. Return: the number of steps, for MAX_STEPS. */
static u32 look_at_process(struct task_struct *process)
{
	struct task_struct *task;
	u32 steps = 1;

	if (!mts_job_of_cgroup(task_dfl_cgroup(process)))
		return steps;
	/* Threads share their files: the first one that has not exited is enough. */
	for_each_thread(process, task) {
		task_lock(task);
		if (task->files) {
			steps += mts_files_each(task, look_at_file, task);
			task_unlock(task);
			break;
		}
		task_unlock(task);
		steps++;
	}
	return steps;
}

static void take_new(void)
{
	int i;

	nwanted = 0;
	raw_spin_lock_irq(&requests_lock);
	for (i = 0; i < MAX_PIPES; i++)
		if (requests[i].is_new) {
			requests[i].is_new = false;
			wanted[nwanted++] = (struct wanted){ .request = requests[i] };
		}
	raw_spin_unlock_irq(&requests_lock);
}

static void look(struct work_struct *work)
{
	struct task_struct *process;
	u32 i, steps = 0;

	take_new();
	/* An earlier search has taken the request. */
	if (!nwanted)
		return;
	rcu_read_lock();
	for_each_process(process) {
		steps += look_at_process(process);
		if (steps > MAX_STEPS)
			break;
	}
	for (i = 0; i < nwanted; i++)
		if (wanted[i].readers == 1)
			mts_trails_give(wanted[i].task, wanted[i].request.step);
	rcu_read_unlock();
}

void mts_pipes_exit(void)
{
	irq_work_sync(&begin_work);
	cancel_work_sync(&look_work);
}

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

/* That are written to at one time; beyond them the one longest ago is forgotten. */
#define MAX_PIPES 8
/* A pipe's reader is looked for this often: credit does not come more often. */
#define LOOK_NS (100 * (u64)NSEC_PER_MSEC)
/* Processes and files, in one look. */
#define MAX_STEPS (64 * 1024)

struct said {
	unsigned long pipe; /* its inode, as a name; 0: none */
	u64 at;
	u32 step; /* of who reads it */
	u32 writer; /* its job; 0: none */
	bool is_new;
};

static struct said said[MAX_PIPES];
/* Nothing is woken while it is held. Hooks only try: they may be breakpoints, as good as NMIs. */
static DEFINE_RAW_SPINLOCK(said_lock);

static void look(struct work_struct *work);
static DECLARE_WORK(look_work, look);

static void begin_to_look(struct irq_work *unused)
{
	schedule_work(&look_work);
}

static DEFINE_IRQ_WORK(begin_work, begin_to_look);

/* ---- what is said ------------------------------------------------------------------------ */

/* Its place, or that of the one that is longest ago. */
static struct said *find_place(unsigned long pipe)
{
	struct said *oldest = &said[0];
	int i;

	for (i = 0; i < MAX_PIPES; i++) {
		if (said[i].pipe == pipe)
			return &said[i];
		if (said[i].at < oldest->at)
			oldest = &said[i];
	}
	return oldest;
}

/* Return: its reader is to be looked for. */
static bool note(const struct said *new)
{
	struct said *place;
	unsigned long flags;
	bool is_new;

	/* Who says something now says more. */
	if (!raw_spin_trylock_irqsave(&said_lock, flags))
		return false;
	place = find_place(new->pipe);
	is_new = place->pipe != new->pipe || new->at - place->at >= LOOK_NS;
	if (is_new)
		*place = *new;
	raw_spin_unlock_irqrestore(&said_lock, flags);
	return is_new;
}

/* Under RCU. */
static void say(const struct file *file, struct task_struct *from)
{
	struct said new = {
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
	if (note(&new))
		irq_work_queue(&begin_work);
}

int mts_hook_pipe_write(struct kprobe *probe, struct pt_regs *regs)
{
	const struct kiocb *iocb = (struct kiocb *)regs_get_kernel_argument(regs, 0);

	if (!mts_interactive_is_busy())
		return 0;
	rcu_read_lock();
	say(iocb->ki_filp, current);
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
	say(file, from);
	rcu_read_unlock();
}

/* ---- who reads it ------------------------------------------------------------------------- */

/* Of the look under way. */
static struct wanted {
	struct said said;
	struct mts_job *job; /* the last that reads it */
	struct task_struct *task; /* of that job */
	u32 readers;
} wanted[MAX_PIPES];
static u32 nwanted;

static void reads(struct wanted *pipe, struct task_struct *task)
{
	struct mts_job *job = mts_job_of_cgroup(task_dfl_cgroup(task));

	/* It may have left its job meanwhile. */
	if (!job || pipe->said.writer == job->id || pipe->job == job)
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
		if (wanted[i].said.pipe == (unsigned long)file_inode(file))
			reads(&wanted[i], task);
}

/* Under RCU. Return: how much there was to look at. */
static u32 look_at_process(struct task_struct *process)
{
	struct task_struct *task;
	u32 steps = 1;

	if (!mts_job_of_cgroup(task_dfl_cgroup(process)))
		return steps;
	/* The first thread that has not exited speaks for all. */
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
	raw_spin_lock_irq(&said_lock);
	for (i = 0; i < MAX_PIPES; i++)
		if (said[i].is_new) {
			said[i].is_new = false;
			wanted[nwanted++] = (struct wanted){ .said = said[i] };
		}
	raw_spin_unlock_irq(&said_lock);
}

static void look(struct work_struct *work)
{
	struct task_struct *process;
	u32 i, steps = 0;

	take_new();
	/* Another look has taken it. */
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
			mts_trails_give(wanted[i].task, wanted[i].said.step);
	rcu_read_unlock();
}

void mts_pipes_exit(void)
{
	irq_work_sync(&begin_work);
	cancel_work_sync(&look_work);
}

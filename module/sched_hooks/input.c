// SPDX-License-Identifier: GPL-2.0
#include "input.h"

#include <linux/cgroup.h>
#include <linux/kprobes.h>
#include <linux/pid.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/tty.h>
#include <linux/tty_driver.h>

#include "../interactive.h"

/* Of a process group; it is a pipeline as a rule. */
#define MAX_PROCESSES 64

static struct tty_struct *tty_of(struct pt_regs *regs)
{
	return (struct tty_struct *)regs_get_kernel_argument(regs, 0);
}

/* There is the program that plays the terminal, not the one that is used. */
static bool is_master(const struct tty_struct *tty)
{
	return tty->driver->type == TTY_DRIVER_TYPE_PTY && tty->driver->subtype == PTY_TYPE_MASTER;
}

static void give(struct task_struct *task, u32 step)
{
	struct mts_job *job = mts_job_of_cgroup(task_dfl_cgroup(task));

	if (job)
		mts_interactive_input(job, step);
}

static void give_group(struct pid *group)
{
	struct task_struct *task;
	u32 n = 0;

	rcu_read_lock();
	hlist_for_each_entry_rcu(task, &group->tasks[PIDTYPE_PGID], pid_links[PIDTYPE_PGID]) {
		give(task, 0);
		if (++n == MAX_PROCESSES)
			break;
	}
	rcu_read_unlock();
}

int mts_hook_tty_input(struct kprobe *probe, struct pt_regs *regs)
{
	struct tty_struct *tty = tty_of(regs);
	struct pid *group;

	if (!mts_interactive_is_on() || is_master(tty))
		return 0;
	group = tty_get_pgrp(tty);
	if (group)
		give_group(group);
	put_pid(group);
	return 0;
}

int mts_hook_tty_output(struct kprobe *probe, struct pt_regs *regs)
{
	struct mts_job *job;

	if (likely(!mts_interactive_may_be_answer()) || !mts_interactive_is_on() ||
	    is_master(tty_of(regs)))
		return 0;
	rcu_read_lock();
	job = mts_job_of_cgroup(task_dfl_cgroup(current));
	if (job)
		mts_interactive_answer(job);
	rcu_read_unlock();
	return 0;
}

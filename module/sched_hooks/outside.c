// SPDX-License-Identifier: GPL-2.0
#include "sched_hooks/outside.h"

#include <linux/cgroup.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/signal.h>
#include <trace/events/signal.h>

#include "jobs/watched.h"
#include "job.h"
#include "sched_hooks/moves.h"

/* Is the current task outside the job? Not in an interrupt, which has no task. Under RCU. */
static bool is_outside(const struct mts_job *job)
{
	return in_task() && mts_job_of_cgroup(task_dfl_cgroup(current)) != job;
}

void mts_hook_newtask(void *data, struct task_struct *task, MTS_CLONE_FLAGS flags)
{
	struct mts_job *job;

	if (list_empty(&mts_jobs) || flags & CLONE_THREAD)
		return;
	rcu_read_lock();
	job = mts_job_of_cgroup(task_dfl_cgroup(task));
	if (job && is_outside(job))
		mts_watched_task(job, MTS_CALL_TASK, task, current, flags & CLONE_VFORK);
	else if (job)
		mts_watched_forked(current, task);
	rcu_read_unlock();
}

void mts_outside_moved(struct cgroup *cgrp, struct task_struct *task)
{
	struct mts_job *job;

	rcu_read_lock();
	job = mts_job_of_cgroup(cgrp);
	/*
	 * A task that has moved itself is in the job by now, but came from outside, too. A move
	 * between cgroups of the job brings nothing into it.
	 */
	if (!mts_moves_end(job) && job && (task == current || is_outside(job)))
		mts_watched_task(job, MTS_CALL_TASK, task, current, false);
	rcu_read_unlock();
}

/*
 * Does the sender ask the process to end?
 * - SIGKILL needs no thaw.
 * - The kernel's signals for faults and timers are caused by the task itself: not a call.
 * - PID 1 sends only KillSignal=, which may be any signal, and SIGCONT after it.
 */
static bool is_to_end(int sig, const struct kernel_siginfo *info)
{
	switch (sig) {
	case SIGKILL:
	case SIGSTOP:
	case SIGCONT:
		return false;
	case SIGINT:
	case SIGQUIT:
	case SIGHUP:
		/* The kernel sends these for a terminal's keys, and when a terminal hangs up. */
		if (info == SEND_SIG_PRIV)
			return true;
	}
	if (info == SEND_SIG_PRIV || (info != SEND_SIG_NOINFO && info->si_code != SI_USER &&
				      info->si_code != SI_QUEUE && info->si_code != SI_TKILL))
		return false;
	return is_global_init(current) || !(sig_kernel_ignore(sig) || sig_kernel_stop(sig));
}

void mts_hook_signal(void *data, int sig, struct kernel_siginfo *info, struct task_struct *task,
		     int group, int result)
{
	struct mts_job *job;

	if (list_empty(&mts_jobs) || result == TRACE_SIGNAL_IGNORED || !is_to_end(sig, info))
		return;
	rcu_read_lock();
	job = mts_job_of_cgroup(task_dfl_cgroup(task));
	if (job && is_outside(job))
		mts_watched_task(job, MTS_CALL_SIGNAL, task, current, false);
	rcu_read_unlock();
}

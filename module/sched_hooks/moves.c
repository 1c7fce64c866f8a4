// SPDX-License-Identifier: GPL-2.0
#include "sched_hooks/moves.h"

#include <linux/cgroup.h>
#include <linux/kprobes.h>
#include <linux/sched.h>

#include "job.h"

/* The move that is under way, under cgroup_mutex. @by is only compared. */
static struct {
	const struct task_struct *by; /* the task that moves; NULL: none */
	u32 from; /* id of the job in which the moved task is; 0: in none */
	u64 to; /* id of the destination's cgroup */
} move;

int mts_hook_move(struct kprobe *probe, struct pt_regs *regs)
{
	struct cgroup *to = (struct cgroup *)regs_get_kernel_argument(regs, 0);
	struct task_struct *task = (struct task_struct *)regs_get_kernel_argument(regs, 1);
	struct mts_job *job;

	if (list_empty(&mts_jobs))
		return 0;
	rcu_read_lock();
	job = mts_job_of_cgroup(task_dfl_cgroup(task));
	move.by = current;
	move.from = job ? job->id : 0;
	move.to = cgroup_id(to);
	rcu_read_unlock();
	return 0;
}

bool mts_moves_end(const struct mts_job *job)
{
	bool within = move.by == current && job && move.from == job->id;

	move.by = NULL;
	return within;
}

/*
 * A move that fails does not end by the tracepoint. The task that tried it may exit as the last one
 * of its job: it does not move then.
 */
void mts_moves_emptied(struct mts_job *job)
{
	if (move.by == current && move.from == job->id && !(current->flags & PF_EXITING))
		WRITE_ONCE(job->moved_to, move.to);
}

void mts_moves_filled(struct cgroup *cgrp)
{
	struct mts_job *job;

	rcu_read_lock();
	job = mts_job_at_cgroup(cgrp);
	if (job)
		WRITE_ONCE(job->moved_to, 0);
	rcu_read_unlock();
}

// SPDX-License-Identifier: GPL-2.0
#include "tasks.h"

#include <linux/cgroup.h>
#include <linux/sched/signal.h>

#include "compat/compat.h"
#include "job.h"

static bool is_untouchable(struct task_struct *task)
{
	return is_global_init(task) || task->flags & PF_KTHREAD;
}

int mts_tasks_check(struct cgroup *cgrp)
{
	struct task_struct *process, *task;
	int err = 0;

	rcu_read_lock();
	for (task = current; !is_global_init(task) && task->pid;
	     task = rcu_dereference(task->real_parent))
		if (task_under_cgroup_hierarchy(task, cgrp))
			err = -EBUSY;
	for_each_process_thread(process, task)
		if (is_untouchable(task) && task_under_cgroup_hierarchy(task, cgrp))
			err = -EBUSY;
	rcu_read_unlock();
	return err;
}

bool mts_tasks_is_spared(struct task_struct *task)
{
	return is_untouchable(task) || rt_or_dl_task_policy(task);
}

void mts_tasks_scan(void)
{
	struct task_struct *process, *task;
	struct mts_job *job;

	rcu_read_lock();
	mts_job_for_each_rcu(job) {
		job->scan_realtime = false;
		job->scan_untouchable = false;
	}
	for_each_process_thread(process, task) {
		if (!mts_tasks_is_spared(task))
			continue;
		job = mts_job_of_cgroup(task_dfl_cgroup(task));
		if (!job)
			continue;
		if (is_untouchable(task))
			job->scan_untouchable = true;
		else
			job->scan_realtime = true;
	}
	mts_job_for_each_rcu(job) {
		WRITE_ONCE(job->realtime, job->scan_realtime);
		WRITE_ONCE(job->untouchable, job->scan_untouchable);
	}
	rcu_read_unlock();
}

static bool can_run(struct task_struct *task)
{
	unsigned int state = READ_ONCE(task->__state);

	return state == TASK_RUNNING || (state & TASK_UNINTERRUPTIBLE && !(state & TASK_NOLOAD));
}

/* Of a process, with its threads that have ended. */
static u64 user_time(struct task_struct *process, bool children, u32 *wanting)
{
	struct signal_struct *signal = process->signal;
	struct task_struct *task;
	u64 sum = READ_ONCE(signal->utime);

	if (children)
		sum += READ_ONCE(signal->cutime);
	for_each_thread(process, task) {
		sum += READ_ONCE(task->utime);
		*wanting += can_run(task);
	}
	return sum;
}

u64 mts_tasks_user(u32 *wanting)
{
	struct task_struct *process;
	struct mts_job *job;
	u64 sum = 0;

	*wanting = 0;
	rcu_read_lock();
	mts_job_for_each_rcu(job)
		job->scan_user = 0;
	for_each_process(process) {
		job = mts_job_of_cgroup(task_dfl_cgroup(process));
		if (job)
			job->scan_user += user_time(process, !(job->flags & MTS_JOB_EACH), wanting);
	}
	mts_job_for_each_rcu(job) {
		sum += mts_sub_floor(job->scan_user, job->user);
		job->user = job->scan_user;
	}
	rcu_read_unlock();
	return sum;
}

bool mts_tasks_bin_can_run(u32 bin)
{
	struct task_struct *process, *task;
	struct mts_job *job;
	bool found = false;

	rcu_read_lock();
	for_each_process_thread(process, task) {
		if (!can_run(task))
			continue;
		job = mts_job_of_cgroup(task_dfl_cgroup(task));
		if (job && job->bin == bin) {
			found = true;
			goto out;
		}
	}
out:
	rcu_read_unlock();
	return found;
}

int mts_tasks_can_run(struct cgroup *cgrp)
{
#ifdef CONFIG_PSI
	struct psi_group *psi = cgrp->psi;
	unsigned int n = 0;
	int cpu;

	if (psi && READ_ONCE(psi->enabled)) {
		/* The sum is right though a task may be counted up on one CPU, down on another. */
		for_each_possible_cpu(cpu) {
			struct psi_group_cpu *group = per_cpu_ptr(psi->pcpu, cpu);

			n += READ_ONCE(group->tasks[NR_RUNNING]) +
			     READ_ONCE(group->tasks[NR_IOWAIT]) +
			     READ_ONCE(group->tasks[NR_MEMSTALL]);
		}
		return n != 0;
	}
#endif
	return -ENODATA;
}

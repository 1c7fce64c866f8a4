// SPDX-License-Identifier: GPL-2.0
#include "sched_hooks/realtime.h"

#include <linux/cgroup.h>
#include <linux/kprobes.h>
#include <linux/sched.h>

#include "jobs/interactive.h"
#include "jobs/tasks.h"
#include "sched_hooks/outside.h"

/* Under RCU. */
static void spare(struct cgroup *cgrp, struct task_struct *task)
{
	struct mts_job *job;

	if (!mts_tasks_is_spared(task))
		return;
	job = mts_job_of_cgroup(cgrp ? cgrp : task_dfl_cgroup(task));
	if (job)
		mts_interactive_spare(job);
}

void mts_hook_attach(void *data, struct cgroup *cgrp, const char *path, struct task_struct *task,
		     bool threadgroup)
{
	struct task_struct *thread;

	rcu_read_lock();
	spare(cgrp, task);
	/* One event for all threads of a process (cgroup_attach_task(), kernel/cgroup/cgroup.c). */
	if (threadgroup)
		for_each_thread(task, thread)
			spare(cgrp, thread);
	rcu_read_unlock();
	mts_outside_moved(cgrp, task);
}

int mts_hook_policy(struct kprobe *probe, struct pt_regs *regs)
{
	rcu_read_lock();
	spare(NULL, (struct task_struct *)regs_get_kernel_argument(regs, 0));
	rcu_read_unlock();
	return 0;
}

// SPDX-License-Identifier: GPL-2.0
#include "realtime.h"

#include <linux/cgroup.h>
#include <linux/kprobes.h>
#include <linux/sched.h>

#include "../interactive.h"
#include "../tasks.h"

static void spare(struct cgroup *cgrp, struct task_struct *task)
{
	struct mts_job *job;

	if (!mts_tasks_is_spared(task))
		return;
	rcu_read_lock();
	job = mts_job_of_cgroup(cgrp ? cgrp : task_dfl_cgroup(task));
	if (job)
		mts_interactive_spare(job);
	rcu_read_unlock();
}

void mts_hook_attach(void *data, struct cgroup *cgrp, const char *path, struct task_struct *task,
		     bool threadgroup)
{
	spare(cgrp, task);
}

int mts_hook_policy(struct kprobe *probe, struct pt_regs *regs)
{
	spare(NULL, (struct task_struct *)regs_get_kernel_argument(regs, 0));
	return 0;
}

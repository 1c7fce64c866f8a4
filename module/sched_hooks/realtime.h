/* SPDX-License-Identifier: GPL-2.0 */
/* Who must not stand still, from now on: real-time threads, PID 1, kernel threads. */
#ifndef _MTS_REALTIME_H
#define _MTS_REALTIME_H

#include <linux/types.h>

struct cgroup;
struct kprobe;
struct pt_regs;
struct task_struct;

/* The tracepoint cgroup_attach_task: such a task has been moved into a job. */
void mts_hook_attach(void *data, struct cgroup *cgrp, const char *path, struct task_struct *task,
		     bool threadgroup);

/*
 * rt_mutex_adjust_pi(task): the last thing that a change of a thread's policy
 * calls, with no lock held, when it has succeeded (__sched_setscheduler(),
 * kernel/sched/core.c, syscalls.c in newer kernels).
 */
int mts_hook_policy(struct kprobe *probe, struct pt_regs *regs);

#endif /* _MTS_REALTIME_H */

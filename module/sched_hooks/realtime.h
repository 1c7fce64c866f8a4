/* SPDX-License-Identifier: GPL-2.0 */
/* A job gets a task that must not be frozen: a real-time thread, PID 1 or a kernel thread. */
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
 * Kprobe on rt_mutex_adjust_pi(task). __sched_setscheduler() (kernel/sched/core.c, syscalls.c in
 * newer kernels) calls it last, with no lock held, after it has changed a thread's policy.
 */
int mts_hook_policy(struct kprobe *probe, struct pt_regs *regs);

#endif /* _MTS_REALTIME_H */

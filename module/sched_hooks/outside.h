/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Calls (calls.h) by what a process outside a job does: it creates a task in the job, moves one
 * into it, or asks one to end. Handlers of tracepoints, in atomic context.
 */
#ifndef _MTS_OUTSIDE_H
#define _MTS_OUTSIDE_H

#include "compat/compat.h"

struct cgroup;
struct kernel_siginfo;
struct task_struct;

/*
 * Tracepoint task_newtask: the child is in its cgroup already, and the current task, its parent,
 * has not begun to wait for it. (sched_process_fork does not pass the clone flags.)
 */
void mts_hook_newtask(void *data, struct task_struct *task, MTS_CLONE_FLAGS flags);

/* The current task has moved @task, or itself, to @cgrp. The caller need not hold RCU. */
void mts_outside_moved(struct cgroup *cgrp, struct task_struct *task);

/* Tracepoint signal_generate; under the target's siglock. */
void mts_hook_signal(void *data, int sig, struct kernel_siginfo *info, struct task_struct *task,
		     int group, int result);

#endif /* _MTS_OUTSIDE_H */

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What processes outside a job do to its tasks, as calls (calls.h): they create one in it, move one
 * into it, or tell one to end. Handlers of tracepoints, in atomic context.
 */
#ifndef _MTS_OUTSIDE_H
#define _MTS_OUTSIDE_H

#include "compat/compat.h"

struct cgroup;
struct kernel_siginfo;
struct task_struct;

/*
 * task_newtask: the child is in its cgroup, and its parent, the current task, has not begun to wait
 * for it. (sched_process_fork has no flags.)
 */
void mts_hook_newtask(void *data, struct task_struct *task, MTS_CLONE_FLAGS flags);

/* cgroup_attach_task(): the current task has moved @task, or itself, to @cgrp. Not under RCU. */
void mts_outside_moved(struct cgroup *cgrp, struct task_struct *task);

/* signal_generate: under the target's siglock. */
void mts_hook_signal(void *data, int sig, struct kernel_siginfo *info, struct task_struct *task,
		     int group, int result);

#endif /* _MTS_OUTSIDE_H */

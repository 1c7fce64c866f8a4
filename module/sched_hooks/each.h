/* SPDX-License-Identifier: GPL-2.0 */
/*
 * MTS_JOB_EACH: every child process of the job's processes gets a job of its
 * own before it runs an instruction of user code.
 *
 * The fork hook runs in the parent, in atomic context, before the child has
 * run. It leaves the child a task work, which the child runs in its own
 * context on its first way to user space (ret_from_fork); there it may sleep,
 * makes the cgroup and moves itself into it.
 */
#ifndef _MTS_EACH_H
#define _MTS_EACH_H

struct task_struct;

int mts_each_init(void);

/* After the fork hook has been removed: waits until no child has a pending task work. */
void mts_each_exit(void);

/* Tracepoint sched_process_fork. */
void mts_hook_fork(void *data, struct task_struct *parent, struct task_struct *child);

#endif /* _MTS_EACH_H */

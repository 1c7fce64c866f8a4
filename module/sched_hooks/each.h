/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Processes of a job that get jobs of their own.
 *
 * MTS_JOB_EACH: every child of the job's processes, before it runs an instruction of user code.
 * The fork hook runs in the parent, in atomic context, before the child has run.
 *
 * MTS_JOB_EACH_LEAF: every process that has grown. The hook on growth runs in the process, in a
 * page fault. It asks the kernel's own figures for all it needs to know, and keeps no list.
 *
 * Both leave the process a task work. The process runs it on its way to user space; there it may
 * sleep, makes the cgroup and moves itself into it.
 */
#ifndef _MTS_EACH_H
#define _MTS_EACH_H

struct mm_struct;
struct task_struct;

/* @unused: called when the hook on growth is hit though no job has MTS_JOB_EACH_LEAF. */
int mts_each_init(void (*unused)(void));

/* The hook on growth has been removed: when it returns, @unused is not called any more. */
void mts_each_sync(void);

/* After the hooks have been removed: waits until no process has a pending task work. */
void mts_each_exit(void);

/* Tracepoint sched_process_fork. */
void mts_hook_fork(void *data, struct task_struct *parent, struct task_struct *child);

/* Of the tracepoint rss_stat: a number of pages of this address space has changed. */
void mts_hook_growth(struct mm_struct *mm);

#endif /* _MTS_EACH_H */

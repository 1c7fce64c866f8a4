/* SPDX-License-Identifier: GPL-2.0 */
/* What a cgroup's tasks are and do. A walk visits every thread of the host, under RCU. */
#ifndef _MTS_TASKS_H
#define _MTS_TASKS_H

#include "context.h"

struct cgroup;
struct task_struct;

/**
 * mts_tasks_check() - may this cgroup be frozen?
 *
 * Return: 0, or -EBUSY: PID 1, a kernel thread, the caller or one of its
 * ancestors is in it or below it.
 */
int mts_tasks_check(struct cgroup *cgrp);

/**
 * mts_tasks_scan() - mark jobs that must not be frozen
 *
 * Sets job.realtime (it has a real-time thread) and job.untouchable (it has PID 1 or a kernel
 * thread) by a walk. For the rotor's thread alone; others may read the marks at any time.
 */
void mts_tasks_scan(void);

/* Would a scan mark the job that this task is in? Any context. */
bool mts_tasks_is_spared(struct task_struct *task);

/**
 * mts_tasks_awake() - how many tasks of the cgroup run, or wait for a disk
 *
 * If there are none, how many wait for memory. Takes O(processors), without a walk. Return:
 * -ENODATA: the kernel has no pressure stall information (PSI) of the cgroup.
 */
int mts_tasks_awake(struct cgroup *cgrp);

/* Does a task of the cgroup wait for memory now? False also without PSI. */
bool mts_tasks_stalls(struct cgroup *cgrp);

/**
 * mts_tasks_stalled() - how long tasks of the cgroup have waited for memory
 * @ns: a sum over processors that wraps; only differences are meaningful
 *
 * Return: false: the kernel has no PSI of the cgroup.
 */
bool mts_tasks_stalled(struct cgroup *cgrp, u32 *ns);

/**
 * mts_tasks_look() - sample by a walk what the threads of all jobs do
 *
 * Adds to each job's @look. A process that ends between two looks counts once its parent has waited
 * for it, as part of the parent's children time; not in an EACH job, whose children are jobs of
 * their own. For the rotor's thread alone.
 *
 * Return: user time of all jobs that are not confined since the last call, in ns, counted in ticks.
 */
u64 mts_tasks_look(void);

/* Does a task of the bin run or wait for a disk? By a walk; for the rotor's thread alone. */
bool mts_tasks_bin_can_run(u32 bin);

#endif /* _MTS_TASKS_H */

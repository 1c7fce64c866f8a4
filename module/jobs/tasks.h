/* SPDX-License-Identifier: GPL-2.0 */
/* What the task list says of cgroups. What walks, walks every thread, under RCU. */
#ifndef _MTS_TASKS_H
#define _MTS_TASKS_H

#include "context.h"

struct cgroup;
struct task_struct;

/**
 * mts_tasks_check() - may this cgroup be frozen?
 *
 * Return: 0, or -EBUSY: PID 1, a kernel thread, the caller or one of its
 * ancestors lives in it or below it.
 */
int mts_tasks_check(struct cgroup *cgrp);

/**
 * mts_tasks_scan() - mark the jobs that have a real-time thread (job.realtime)
 * or a task that must not be frozen (job.untouchable)
 *
 * Only for the rotor's thread; others may read the marks at any time.
 */
void mts_tasks_scan(void);

/* Would a scan mark the job that this task is in? Any context. */
bool mts_tasks_is_spared(struct task_struct *task);

/**
 * mts_tasks_awake() - how many tasks of the cgroup run, or wait for a disk
 *
 * If none does, how many wait for memory. In O(processors), and not a walk. Return:
 * -ENODATA: the kernel keeps no pressure accounts for it.
 */
int mts_tasks_awake(struct cgroup *cgrp);

/* Does a task of the cgroup wait for memory now? False also without pressure accounts. */
bool mts_tasks_stalls(struct cgroup *cgrp);

/**
 * mts_tasks_stalled() - how long tasks of the cgroup have waited for memory
 * @ns: a sum over processors that wraps; only differences mean something
 *
 * Return: false: the kernel keeps no pressure accounts for it.
 */
bool mts_tasks_stalled(struct cgroup *cgrp, u32 *ns);

/**
 * mts_tasks_look() - a look at what all jobs' threads do
 *
 * Adds to each job's @look. A job's processes that end in between are left out;
 * the children of its processes count when they have been waited for, but those
 * of an EACH job are jobs of their own. Only for the rotor's thread.
 *
 * Return: user time of all jobs since the last call, in ns, counted in ticks.
 */
u64 mts_tasks_look(void);

/* Is any task of a bin awake? By a walk; only for the rotor's thread. */
bool mts_tasks_bin_can_run(u32 bin);

#endif /* _MTS_TASKS_H */

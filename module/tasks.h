/* SPDX-License-Identifier: GPL-2.0 */
/* What the task list says of cgroups. All of it walks every thread, under RCU. */
#ifndef _MTS_TASKS_H
#define _MTS_TASKS_H

#include <linux/types.h>

struct cgroup;

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
 * Only for the rotor's thread, which reads the marks.
 */
void mts_tasks_scan(void);

/* Does anything in the cgroup run, or wait for a disk or for memory? */
bool mts_tasks_can_run(struct cgroup *cgrp);

#endif /* _MTS_TASKS_H */

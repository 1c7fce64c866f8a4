/* SPDX-License-Identifier: GPL-2.0 */
/* What a cgroup's tasks are and do. A walk visits every thread of the host, under RCU. */
#ifndef _MTS_TASKS_H
#define _MTS_TASKS_H

#include "context.h"

struct cgroup;
struct mts_job;
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

/**
 * mts_tasks_scan_attended() - mark jobs for which a user or a program outside may wait
 *
 * Sets job.attended: a process of it has a controlling terminal, has a socket or a device open (a
 * terminal, FUSE, …; not /dev/null and its like), or reads or writes a pipe as a standard stream:
 * ssh, cron and CI services start commands so, and wait for the output. Other pipes are a job's own
 * as a rule. A walk over the files of all processes of jobs. The caller holds mts_lock.
 */
void mts_tasks_scan_attended(void);

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

/*
 * For how long the job's tasks have waited for memory since the last call: a sum over processors,
 * ns. Exact if that was within 4.29 s; else it may be more. Called before the job is in the table,
 * and then in the rotor's thread alone. Return: U64_MAX: the kernel has no PSI of the cgroup.
 */
u64 mts_tasks_stalled(struct mts_job *job);

/*
 * Time in which a task of the cgroup waited for memory, ns; the kernel updates it every two
 * seconds. 0: not known. Any context.
 */
u64 mts_tasks_stalled_total(struct cgroup *cgrp);

/**
 * mts_tasks_look() - sample by a walk what the threads of all jobs do
 *
 * Adds to each job's @look: which threads are awake, and for how long they waited for memory. For
 * the rotor's thread alone.
 */
void mts_tasks_look(void);

/* Does a task of the running bins run, or wait for a disk? A walk; in the rotor's thread alone. */
bool mts_tasks_running_can_run(void);

#endif /* _MTS_TASKS_H */

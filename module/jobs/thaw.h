/* SPDX-License-Identifier: GPL-2.0 */
/* Thaws many jobs: all jobs, jobs that must run at once, or jobs near their pause limit. */
#ifndef _MTS_THAW_H
#define _MTS_THAW_H

#include "context.h"

/**
 * mts_thaw_and_stop() - close the gate and thaw everything
 * @reason: enum mts_reason, not NONE
 * @fmt: a sentence that says why, for the log and for mts_status.detail
 *
 * The first reason stays until the gate is opened, except that any other one replaces a suspend.
 * Sleeps; gives up after a second if a job cannot be thawed, and leaves it to the watchdog.
 *
 * Return: the number of jobs that were frozen.
 */
__printf(2, 3) u32 mts_thaw_and_stop(u32 reason, const char *fmt, ...);

/*
 * Thaw all jobs: the caller has forbidden freezing, by the gate or by the configuration. Sleeps;
 * gives up after a second if a job cannot be thawed.
 */
void mts_thaw_all(void);

/*
 * Thaw jobs that must run at once (mts_job_is_wanted()), and jobs with a call that the budget
 * grants. Return: false: a job that must run is still frozen, for example as another thread holds
 * its lock: call again.
 */
bool mts_thaw_wanted(void);

/*
 * Thaw jobs that have been frozen for @limit_ns, or for their own limit if that is shorter, less
 * @before_ns. 0 and 0: all jobs. Return: how many.
 */
u32 mts_thaw_overdue(u64 limit_ns, u64 before_ns);

#endif /* _MTS_THAW_H */

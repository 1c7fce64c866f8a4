/* SPDX-License-Identifier: GPL-2.0 */
/* Thaws many jobs: all, those that are wanted, or those that have been frozen for too long. */
#ifndef _MTS_THAW_H
#define _MTS_THAW_H

#include "context.h"

/**
 * mts_freezer_stop() - close the gate and thaw everything
 * @reason: enum mts_reason, not NONE
 * @fmt: a sentence that says why, for the log and for mts_status.detail
 *
 * The first reason stays until the gate is opened, except that any other one
 * replaces a suspend. Sleeps, for a second at most where a job resists.
 *
 * Return: the number of jobs that were frozen.
 */
__printf(2, 3) u32 mts_freezer_stop(u32 reason, const char *fmt, ...);

/*
 * Thaw everything: the caller has forbidden freezing, by the gate or by the configuration.
 * Sleeps, for a second at most where a job resists.
 */
void mts_freezer_thaw_all(void);

/*
 * Thaw what is to run at once (mts_job_is_wanted()). Return: false: another one
 * holds such a job's lock, come again.
 */
bool mts_freezer_thaw_wanted(void);

/*
 * Thaw what has been frozen for @limit_ns, or for the job's own limit if that is shorter, less
 * @before_ns. Return: how many.
 */
u32 mts_freezer_thaw_overdue(u64 limit_ns, u64 before_ns);

#endif /* _MTS_THAW_H */

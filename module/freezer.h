/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The one owner of "we have frozen this job", and the gate: while it is
 * closed nothing can be frozen. Whoever wants everything thawed, for whatever
 * reason, closes the gate; that also thaws. None of it needs the rotor's help.
 */
#ifndef _MTS_FREEZER_H
#define _MTS_FREEZER_H

#include "job.h"

/**
 * mts_freezer_freeze() - ask for a job's freeze; does not wait
 *
 * Return: 0, also if we froze it before; -ECANCELED: the gate is closed, or the
 * configuration forbids it (mts_config_is_hands_off());
 * -EAGAIN: it has just been asked to run (interactive.h); -EBUSY: somebody else
 * has frozen it; -ENODEV: it is gone, or retired.
 */
int mts_freezer_freeze(struct mts_job *job);

/* Lift our freeze, if there is one. */
void mts_freezer_thaw(struct mts_job *job);

/* The same, and never freeze it again. */
void mts_freezer_retire(struct mts_job *job);

/* Somebody else lifted our freeze: notice it. Return: true if so. */
bool mts_freezer_lost(struct mts_job *job);

/* Jobs that we have frozen now. */
u32 mts_freezer_count(void);

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

/* Open the gate, if it was closed for @reason; MTS_REASON_NONE: for any but a suspend. */
void mts_freezer_open(u32 reason);

/* Why the gate is closed; MTS_REASON_NONE: it is open. Any context. */
u32 mts_freezer_gate(void);

/* Is the gate open, and does the configuration let jobs be frozen? Any context. */
bool mts_freezer_may_freeze(void);

/* Copy the sentence of mts_freezer_stop(); empty if the gate is open. */
void mts_freezer_detail(char *text, size_t size);

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

#endif /* _MTS_FREEZER_H */

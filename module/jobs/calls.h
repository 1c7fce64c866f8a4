/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Calls: a process outside a job waits for it, and would wait until the job's next turn if the job
 * were frozen. Hooks and the lookout (waits.h) record calls; the watchdog thaws the job within
 * 100 ms, and whatever freezes jobs asks here first. The one owner of what is recorded.
 *
 * PID 1's own waits are always honoured. All others are within the budget (budget.h), so that no
 * user keeps his jobs running by calls.
 */
#ifndef _MTS_CALLS_H
#define _MTS_CALLS_H

#include "job.h"

/**
 * struct mts_caller - a process outside the job
 * @pid: in the initial namespace
 * @comm: its name; may change while it is read
 * @is_init: it is PID 1
 */
struct mts_caller {
	u32 pid;
	const char *comm;
	bool is_init;
};

/* The lookout looks ten times in this time, unless it has so much to look at. */
#define MTS_CALL_SEEN_MS 1000

/**
 * mts_calls_seen() - a process outside is seen to wait for the job
 * @kind: MTS_CALL_WRITE, MTS_CALL_LOCK
 *
 * Lasts for a second; the caller looks again before that. Under RCU; any context.
 */
void mts_calls_seen(struct mts_job *job, enum mts_call kind, const struct mts_caller *by);

/* Does a process outside wait for it, budget or not? Any context. */
bool mts_job_has_call(const struct mts_job *job);

/* Must it not be frozen now for a call? Any context. */
bool mts_job_is_called(const struct mts_job *job);

/*
 * If the job has a call, let it run if the budget does. Process context. Return: it must not be
 * frozen now for a call.
 */
bool mts_calls_admit(struct mts_job *job);

/* One of job->*_until, ms: later than it was, or as it was. Any context. */
void mts_calls_extend(atomic64_t *until, u64 ms);

/*
 * A call is recorded (watched.c): if the job is frozen, count it, and have the job thawed. Any
 * context.
 */
void mts_calls_ring(struct mts_job *job, enum mts_call kind, const struct mts_caller *by);

/* A frozen job is to run, or may: the watchdog looks at it. Any context. */
void mts_calls_ask(struct mts_job *job);

/* It has been frozen: its calls are over, or have been refused. Under its freeze_lock. */
void mts_calls_frozen(struct mts_job *job);

/* It has been thawed for a call; under its freeze_lock. */
void mts_calls_thawed(struct mts_job *job);

#endif /* _MTS_CALLS_H */

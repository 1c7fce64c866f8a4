/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Calls: a process outside a job waits for the job. If the job were frozen, it would wait until the
 * job's next turn. Hooks and looks (waits.h) record calls; the watchdog thaws the job within
 * 100 ms, and the freezer asks here before it freezes a job. The owner of the recorded calls.
 *
 * Calls by PID 1 are always granted. All others are limited by the budget (budget.h), so that a
 * user cannot keep a job running by calls.
 */
#ifndef _MTS_CALLS_H
#define _MTS_CALLS_H

#include "job.h"

/**
 * struct mts_caller - a process outside the job
 * @pid: in the initial namespace
 * @comm: its name; may change while it is read
 * @is_init: the process is PID 1
 */
struct mts_caller {
	u32 pid;
	const char *comm;
	bool is_init;
};

/*
 * How long a call lasts that a look has seen. The lookout looks 10 to 20 times in this time, so
 * that one look may miss the wait without ending the call.
 */
#define MTS_CALL_SEEN_MS 1000

/**
 * mts_calls_seen() - a look has seen a task wait for the job
 * @kind: MTS_CALL_WRITE, MTS_CALL_LOCK
 *
 * The call lasts for MTS_CALL_SEEN_MS; the next look extends it. Under RCU; any context.
 */
void mts_calls_seen(struct mts_job *job, enum mts_call kind, const struct mts_caller *by);

/* Does a process outside wait for it, whether or not the budget grants that? Any context. */
bool mts_job_has_call(const struct mts_job *job);

/* Does it have a call that was granted, so that it must not be frozen now? Any context. */
bool mts_job_is_called(const struct mts_job *job);

/*
 * If the job has a call, ask the budget for it. Process context. Return: true: the call is granted,
 * so that the job must not be frozen now.
 */
bool mts_calls_admit(struct mts_job *job);

/* Set one of job->*_until to @ms, unless it is later already. Any context. */
void mts_calls_extend(atomic64_t *until, u64 ms);

/*
 * After a call was recorded: if the job is frozen, count the call and ask for a thaw. Any context.
 */
void mts_calls_ring(struct mts_job *job, enum mts_call kind, const struct mts_caller *by);

/*
 * Ask the watchdog to thaw a frozen job, if the job must run or the budget grants it. Any context.
 */
void mts_calls_ask(struct mts_job *job);

/* The job has been frozen: it has no granted call. Under its freeze_lock. */
void mts_calls_frozen(struct mts_job *job);

/* The job has been thawed for a call. Under its freeze_lock. */
void mts_calls_thawed(struct mts_job *job);

#endif /* _MTS_CALLS_H */

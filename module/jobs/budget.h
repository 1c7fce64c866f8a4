/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The budget: which jobs may run out of turn because a process outside or a person waits for them,
 * and for how long. The owner of a job's account and of job->lent.
 *
 * Two things are limited:
 * - Memory: together, the jobs that run out of turn hold no more than the share
 *   mts_config.interactive of the capacity. A job larger than that may run if it is the only one.
 * - Time: each job has an account (policy/account.h).
 * The budget does not limit calls by PID 1 (calls.h), nor pinned and real-time jobs.
 */
#ifndef _MTS_BUDGET_H
#define _MTS_BUDGET_H

#include "job.h"

/**
 * mts_budget_lend() - may this job run out of turn now?
 * @job: a process outside or a person waits for it
 * @input: a person does. Once in a round this is granted even if the memory is used up: the next
 *	plan then chooses the jobs that were used last (mts_interactive_grant()).
 *
 * Process context; takes no other lock. Return: true also if the job holds memory of the budget
 * already.
 */
bool mts_budget_lend(struct mts_job *job, bool input);

/* A plan has put the job into every bin: it holds memory of the budget. */
void mts_budget_hold(struct mts_job *job);

/* The job does not run out of turn any more: release its memory of the budget. Process context. */
void mts_budget_return(struct mts_job *job);

/* At a new round: the bytes that jobs out of turn may hold together. */
void mts_budget_set_limit(u64 bytes);

/* Is its account empty? Any context. */
bool mts_budget_is_spent(const struct mts_job *job);

/**
 * mts_budget_look() - update the job's account: it earns with time, and pays for runs out of turn
 * @out_of_turn: the job runs now because a process or a person waits for it, but its bin does not
 * @share: the figures of the host and of the rotation; the number of threads is taken from the job
 *
 * For the rotor's thread alone, once a tick. Reads a file once a second while @out_of_turn.
 */
void mts_budget_look(struct mts_job *job, bool out_of_turn, struct mts_share share);

#endif /* _MTS_BUDGET_H */

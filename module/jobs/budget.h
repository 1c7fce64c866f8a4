/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The budget: which jobs may run out of their turn for a process or a person outside that waits
 * for them, and for how long. The one owner of a job's account and of what it is lent.
 *
 * Two things are limited. Memory: the jobs that run out of turn together hold no more than the
 * share of the capacity that mts_config.interactive names; one job larger than that may run if it
 * is the only one. Time: each job has an account (policy/account.h). PID 1's waits are outside the
 * budget (calls.h), and so are pinned and real-time jobs.
 */
#ifndef _MTS_BUDGET_H
#define _MTS_BUDGET_H

#include "job.h"

/**
 * mts_budget_lend() - may this job run out of turn now?
 * @job: a process outside waits for it, or a person does
 * @input: a person. Once in a round that is granted although all of the memory is lent: the next
 *	plan then takes the jobs that were used last (mts_interactive_grant()).
 *
 * Process context; takes no other lock. Return: true, also if it was lent something before.
 */
bool mts_budget_lend(struct mts_job *job, bool input);

/* A plan has given the job its place in every bin: it holds its memory of the budget. */
void mts_budget_hold(struct mts_job *job);

/* It does not run out of turn any more. Process context. */
void mts_budget_return(struct mts_job *job);

/* A new round: bytes that such jobs may hold together. */
void mts_budget_set_limit(u64 bytes);

/* Is its account empty? Any context. */
bool mts_budget_is_spent(const struct mts_job *job);

/**
 * mts_budget_look() - the time that passes is earned, what the job runs out of turn is spent
 * @out_of_turn: it runs now, though its bin does not, for a process or a person that waits
 * @share: the host's and the turns'; its threads are the job's
 *
 * Only for the rotor's thread, once a tick: reads a file once a second while @out_of_turn.
 */
void mts_budget_look(struct mts_job *job, bool out_of_turn, struct mts_share share);

#endif /* _MTS_BUDGET_H */

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Thrashing protection: one job at a time keeps its memory, so that it at least gets on (Jiang &
 * Zhang 2001). Times are ns. Pure code (pure.h).
 */
#ifndef _MTS_POLICY_TOKEN_H
#define _MTS_POLICY_TOKEN_H

#include "policy/holding.h"
#include "policy/verdict.h"

/**
 * struct mts_token_job - a job; all zero: it has never held
 * @faults: since the last step, major ones of its own
 * @lacks: bytes of it in swap: the paper's allocated memory less the resident set
 * @may_hold: nothing exempts it
 * @asleep: no thread of it wants to run
 * @holds: it is the holder
 * @queued_at: when it last held or, if it never did, was first seen; ktime
 */
struct mts_token_job {
	u64 faults;
	u64 lacks;
	bool may_hold;
	bool asleep;
	bool holds;
	u64 queued_at;
};

/**
 * struct mts_token_host - what is seen of the host
 * @now: ktime
 * @elapsed_ns: since the last step; not 0
 * @user_ns: user time of all jobs since then. Not system time: a host that thrashes spends it
 * @could_run: processors that the jobs' threads can use
 * @fault_ns: what a fault takes; 0: not known
 */
struct mts_token_host {
	u64 now;
	u64 elapsed_ns;
	u64 user_ns;
	u32 could_run;
	u64 fault_ns;
};

/**
 * struct mts_token - the policy's state; all zero: there was no holder yet
 * @since: a job holds since then; ktime; 0: none does
 * @fetched: its memory has come by then; ktime; 0: it is still coming
 * @lacks: bytes of it in swap in the last step
 * @user_ns: user time of all jobs since then
 * @without: what the jobs ran when none held last, per mille of what they could
 * @poor: holdings in a row in which that was better than what they ran
 */
struct mts_token {
	u64 since;
	u64 fetched;
	u64 lacks;
	u64 user_ns;
	u64 without;
	u32 poor;
};

/**
 * mts_token_step() - which job holds until the next step
 * @verdict: that holdings do not pay; the caller drops it if the jobs are others. NULL: whatever
 *	they cost
 * @jobs: n jobs; what is measured is given, .holds and the times are kept from step to step
 *
 * The rules and the thresholds are the paper's, but for what ends a holding and for the scale:
 *
 * - The host thrashes if at least two jobs have more than 10 faults/s each, and the jobs run for
 *   less than 40 % of what they could. Then the job of these holds that lacks least: it has all of
 *   its memory soonest. The paper's disk served some 100 faults/s: on a faster disk twentieths of
 *   what it serves count.
 * - That is the order of those that were first seen at a time. One that has held, or comes later,
 *   is behind all that wait. By what it lacks alone it would be the same one each time; and if
 *   newcomers were first, a stream of them would keep all others from it.
 * - It no longer holds if none of the others has 1 fault/s (a tenth of the above), if it sleeps,
 *   or if it is gone. In the paper it does not either if it does not fault itself, or if the
 *   processors are used. That is what it holds for: it would lose its memory while it computes.
 * - Its memory has come, which is when it no longer lacks less from step to step, and it has held
 *   for mts_token_hold_ns() since: another one that faults holds. In any other
 *   case none does until the next step, in which it is measured what the jobs run without.
 * - In two holdings in a row the jobs ran less than before, by more than the error of what is
 *   measured (forecast.h): verdict.h says for how long there are none.
 *
 * Return: index of the holder; n: none.
 */
u32 mts_token_step(struct mts_token *token, struct mts_verdict *verdict,
		   const struct mts_token_host *host, struct mts_token_job *jobs, u32 n);

#endif /* _MTS_POLICY_TOKEN_H */

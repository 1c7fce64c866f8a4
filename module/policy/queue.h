/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The queue: which jobs start now of those that have not begun, and when the others will. Bytes and
 * ns. Pure code (pure.h).
 *
 * A job that has not begun has no memory to move. So where no user waits for it, it is cheaper to
 * start it later than to let it take turns (Batat & Feitelson 2000, "Gang scheduling with memory
 * considerations").
 *
 * - A job starts when it fits beside the claims of the jobs that have begun. A claim holds until
 *   the job ends: the job may still grow to it.
 * - The oldest starts first. If nothing has begun, it starts whatever it needs.
 * - None starts while jobs of the queue that have begun keep all processors busy. With one more all
 *   of them would be done later, and the last ones would leave processors idle.
 * - A younger one may pass (backfill, Lifka 1995), if it delays no older one that waits (the
 *   conservative rule: Mu'alem & Feitelson 2001, section 2). There run times are known. Here they
 *   are guesses, so the rule is of memory alone: whichever of the jobs before it end first, each
 *   older one must fit as soon as it would without the passing job.
 */
#ifndef _MTS_POLICY_QUEUE_H
#define _MTS_POLICY_QUEUE_H

#include "policy/pure.h"

/**
 * struct mts_queue_begun - a job that has begun
 * @claim: the larger of its demand and of what it was expected to need
 * @threads: that want to run at a time, of a job that was in the queue; 0 of any other
 * @ends_ns: how long it will still run; U64_MAX: not known
 */
struct mts_queue_begun {
	u64 claim;
	u32 threads;
	u64 ends_ns;
};

/**
 * struct mts_queue_waiting - a job that has not
 * @need: what it is expected to need
 * @is_guess: @need is taken from other jobs
 * @runs_ns: how long it will run; U64_MAX: not known
 * @starts_ns: result: in how long it starts; 0: now; U64_MAX: cannot be foretold
 * @passes: result: it starts now, before an older one
 */
struct mts_queue_waiting {
	u64 need;
	bool is_guess;
	u64 runs_ns;
	u64 starts_ns;
	bool passes;
};

/**
 * struct mts_queue_line
 * @capacity: for all of these jobs together
 * @processors: of the host
 * @is_settled: no job whose need is not known still grows: one more such may start
 * @begun: in any order, with room for @nbegun + @nwaiting. Jobs that are to start are added
 * @waiting: the oldest first
 */
struct mts_queue_line {
	u64 capacity;
	u32 processors;
	bool is_settled;
	struct mts_queue_begun *begun;
	u32 nbegun;
	struct mts_queue_waiting *waiting;
	u32 nwaiting;
};

/* Which start now: fills starts_ns and passes of each; starts_ns is 0 or U64_MAX. */
void mts_queue_decide(struct mts_queue_line *line);

/*
 * After that: when will the others start? As far as the ends of those that run can be foretold.
 * Destroys @line->begun.
 */
void mts_queue_foretell(struct mts_queue_line *line);

#endif /* _MTS_POLICY_QUEUE_H */

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Turns, or holdings (token.h), were tried or thought through, and are left alone for a while: ns.
 * Pure code (pure.h).
 */
#ifndef _MTS_POLICY_VERDICT_H
#define _MTS_POLICY_VERDICT_H

#include "policy/pure.h"

/**
 * struct mts_grounds - what a verdict rests on
 * @demand: of all jobs, exempt ones too, bytes
 * @exempt: the part of it that is in every bin, bytes
 * @capacity: bytes
 * @jobs: that can be frozen
 * @processors: of the host
 */
struct mts_grounds {
	u64 demand;
	u64 exempt;
	u64 capacity;
	u32 jobs;
	u32 processors;
};

/* Does one of them differ by an eighth? */
bool mts_grounds_differ(const struct mts_grounds *then, const struct mts_grounds *now);

/**
 * struct mts_verdict - turns do not pay; all zero: none was given yet
 * @reason: enum mts_reason
 * @until: no turns before; ktime, ns
 * @hold_ns: how long the last one held
 * @grounds: as of the first plan without turns after it; capacity is 0 until then
 */
struct mts_verdict {
	u32 reason;
	u64 until;
	u64 hold_ns;
	struct mts_grounds grounds;
};

/*
 * It holds for 30 s, and each further one for twice as long as the last, 10 minutes at most. A
 * shorter time repeats costly attempts; a longer one delays turns if the jobs have changed in a way
 * that their grounds do not show.
 */
void mts_verdict_give(struct mts_verdict *verdict, u32 reason, u64 now);

bool mts_verdict_holds(const struct mts_verdict *verdict, u64 now);

/**
 * mts_verdict_review() - drop a verdict if one of its grounds has changed by an eighth
 * @grounds: as of a plan while there are no turns
 *
 * An eighth is what demands vary by from one plan to the next (policy/fit.h); more is other jobs,
 * or another host. The first call after a verdict notes its grounds: while jobs take turns they
 * have other demands, those of what they use.
 *
 * Return: was it dropped?
 */
bool mts_verdict_review(struct mts_verdict *verdict, const struct mts_grounds *grounds);

/* Nothing is held against turns, and the next verdict is the first again. */
void mts_verdict_forget(struct mts_verdict *verdict);

#endif /* _MTS_POLICY_VERDICT_H */

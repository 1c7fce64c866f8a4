/* SPDX-License-Identifier: GPL-2.0 */
/* Does a bin fit while it runs? Bytes. Pure code (pure.h). */
#ifndef _MTS_POLICY_FIT_H
#define _MTS_POLICY_FIT_H

#include "policy/bins.h"

/**
 * struct mts_lesson - the capacity ceiling that is learned; zero: none
 * @capacity_ceiling: bytes that did not fit: the demand of a bin and the exempt jobs that swapped
 *	in its slice, or of all jobs that lost time to memory although they should have fitted
 * @capacity: capacity for bins and exempt jobs together when the ceiling was learned
 * @rounds: clean rounds in which the ceiling rises by its margin
 * @has_risen: since it was last lowered
 *
 * The automatic capacity is an estimate. It is too high where caches cannot be dropped, because of
 * watermarks, and because swapping itself takes memory. A measured ceiling overrides it while the
 * host's memory is as it was then. The reason may pass, so it rises again.
 */
struct mts_lesson {
	u64 capacity_ceiling;
	u64 capacity;
	u32 rounds;
	bool has_risen;
};

/*
 * Apply the ceiling to an automatic capacity: at most 15/16 of the ceiling. The ceiling is dropped
 * when the capacity has grown by more than an eighth since it was learned.
 */
u64 mts_policy_learned(struct mts_lesson *lesson, u64 capacity);

/*
 * A round was clean: each bin had its slice, and none had to be repacked. The ceiling rises a step.
 * It is dropped after a clean round with all of the capacity. Each time that it is lowered again
 * it rises at half the pace, so that a reason which does not pass costs few slices.
 */
void mts_policy_clean_round(struct mts_lesson *lesson);

/* Bytes by which it grows within @within_ns, after @grown bytes in @elapsed_ns, at that pace. */
u64 mts_policy_grows(u64 grown, u64 elapsed_ns, u64 within_ns);

/*
 * Must a bin of several jobs that now needs @demand be split? The bin may exceed the capacity by an
 * eighth, because demands change after planning; groups that overlap by a 32nd. A bin that was
 * planned overfull (MTS_PACK_RW) must exceed its planned demand by as much, too.
 */
bool mts_policy_outgrown(const struct mts_plan *plan, const struct mts_plan_bin *bin, u64 demand);

/*
 * A bin of several jobs that now needs @demand swaps in its slice: must it be repacked? If it
 * should have fitted, the capacity ceiling is lowered. @free: free bytes of the host; above half of
 * the capacity the bin's size is not the cause. @may_learn: the capacity is automatic, and nothing
 * but the bin's size explains why it swaps.
 */
bool mts_policy_misfit(struct mts_lesson *lesson, const struct mts_plan *plan,
		       const struct mts_plan_bin *bin, u64 demand, u64 free, bool may_learn);

/*
 * All jobs and the exempt jobs together need @demand and fit, but lose time to memory: is the
 * capacity too large? Then the capacity ceiling is lowered. Below three quarters of the capacity
 * the cause is something else. @capacity: for bins and exempt jobs. @free: as above.
 */
bool mts_policy_tight(struct mts_lesson *lesson, u64 capacity, u64 demand, u64 free);

#endif /* _MTS_POLICY_FIT_H */

/* SPDX-License-Identifier: GPL-2.0 */
/* Whether a bin fits, as it runs: bytes. Pure code (pure.h). */
#ifndef _MTS_POLICY_FIT_H
#define _MTS_POLICY_FIT_H

#include "policy/bins.h"

/**
 * struct mts_lesson - that a capacity was too large; zero: nothing is known
 * @capacity_ceiling: a bin and the residents of so many bytes swapped while it ran, or all jobs
 *	needed so many, fitted, and lost time by memory
 * @capacity: for bins and residents together, then
 *
 * What is available is an estimate: caches that are not given back, watermarks,
 * and what swapping itself takes make it too large. What a bin has shown counts
 * for more, while the host is as it was then.
 */
struct mts_lesson {
	u64 capacity_ceiling;
	u64 capacity;
};

/*
 * An automatic capacity, less 1/16 of what was too much if there is a lesson.
 * Forgets it if the capacity has grown by more than an eighth since.
 */
u64 mts_policy_learned(struct mts_lesson *lesson, u64 capacity);

/*
 * Jobs had @before bytes in memory and have @now, @elapsed_ns later: will they have the @left
 * ones as well within @within_ns, if they go on so? Not if they do not grow. What is shorter than
 * a millisecond counts as one.
 */
bool mts_policy_fills(u64 left, u64 before, u64 now, u64 elapsed_ns, u64 within_ns);

/*
 * Must a bin of several jobs that needs @demand now be split? An eighth of the
 * capacity is tolerated: the plan was made with demands that move. A bin that
 * was planned too full (MTS_PACK_RW) must outgrow that plan.
 */
bool mts_policy_outgrown(const struct mts_plan *plan, const struct mts_plan_bin *bin, u64 demand);

/*
 * A bin of several jobs, that needs @demand now, swaps while it runs: is it to
 * be packed anew? The lesson is taken down if it was to fit. @free: bytes that
 * the host has free; if that is half the capacity then it is not the bin's size
 * that makes it swap. @capacity_is_set: by the user.
 */
bool mts_policy_misfit(struct mts_lesson *lesson, const struct mts_plan *plan,
		       const struct mts_plan_bin *bin, u64 demand, u64 free, bool capacity_is_set);

/*
 * All jobs fit, they need @demand together with the residents, and yet they lose time by
 * memory: is the capacity, for bins and residents together, too much? The lesson is taken
 * down then. Not if they fill less than three quarters of it: it is something else then.
 * @free: as above.
 */
bool mts_policy_tight(struct mts_lesson *lesson, u64 capacity, u64 demand, u64 free);

#endif /* _MTS_POLICY_FIT_H */

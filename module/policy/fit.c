// SPDX-License-Identifier: GPL-2.0
/* Does a bin fit while it runs? If not, the capacity ceiling is lowered. */
#include "policy/fit.h"

#include "policy/window.h"

/*
 * A bin may exceed its capacity by 1/8: demands change after planning, and a repack begins the
 * round anew, so that the others of the bin lose the rest of their slice.
 */
#define TOLERANCE_SHIFT 3
/* Shortest interval from which growth is predicted, ns. */
#define FILLS_MIN_NS 1000000ull
/* The margin below the ceiling. Smaller: another failure is likely; larger: memory is wasted. */
#define CEILING_MARGIN_PART 16
/* The ceiling is dropped when the capacity has grown by 1/8: the host is not as it was. */
#define CEILING_DROP_PART 8
/*
 * Clean rounds in which the ceiling rises by its margin: then the bin that did not fit is tried
 * again. A failure costs the slice of one bin. At first 8, which is minutes: capacity that was a
 * fifth too low is back after 30 rounds. The number doubles with each failure, up to 64: of two
 * bins that is less than 1 % of the slices. Where all jobs fit in one bin, to try is to end turns,
 * and a failure costs all jobs a storm: 64 at once.
 */
#define RISE_ROUNDS 8u
#define RISE_ROUNDS_MOST 64u

static u64 margin_of(const struct mts_lesson *lesson)
{
	return lesson->capacity_ceiling / CEILING_MARGIN_PART;
}

u64 mts_policy_learned(struct mts_lesson *lesson, u64 capacity)
{
	if (!lesson->capacity_ceiling)
		return capacity;
	if (capacity > mts_add_sat(lesson->capacity, lesson->capacity / CEILING_DROP_PART)) {
		*lesson = (struct mts_lesson){ 0 };
		return capacity;
	}
	return mts_min(capacity, lesson->capacity_ceiling - margin_of(lesson));
}

static void learn(struct mts_lesson *lesson, u64 capacity, u64 capacity_ceiling, u32 rounds)
{
	lesson->capacity_ceiling = capacity_ceiling;
	lesson->capacity = mts_max(capacity, lesson->capacity);
	if (lesson->has_risen)
		lesson->rounds = mts_min(2 * lesson->rounds, RISE_ROUNDS_MOST);
	lesson->rounds = mts_max(rounds, lesson->rounds);
	lesson->has_risen = false;
}

void mts_policy_clean_round(struct mts_lesson *lesson)
{
	u64 margin = margin_of(lesson);

	if (!lesson->capacity_ceiling)
		return;
	if (lesson->capacity_ceiling - margin >= lesson->capacity) {
		*lesson = (struct mts_lesson){ 0 };
		return;
	}
	lesson->capacity_ceiling =
		mts_add_sat(lesson->capacity_ceiling, mts_max(margin / lesson->rounds, 1));
	lesson->has_risen = true;
}

u64 mts_policy_grows(u64 grown, u64 elapsed_ns, u64 within_ns)
{
	/*
	 * Shorter intervals say nothing. They would also overflow the quotient, which traps on x86.
	 */
	if (!elapsed_ns)
		return 0;
	return mul_u64_u64_div_u64(mts_min(grown, MTS_BIN_MAX_BYTES), within_ns,
				   mts_max(elapsed_ns, FILLS_MIN_NS));
}

/*
 * After a repack groups go on in the order of what they have had, and lose nothing. So they may
 * exceed the capacity only by the least step of a plan: with an eighth, groups on 256 GiB were
 * beyond it for a quarter of the time, and swapped.
 */
static u64 tolerance_of(const struct mts_plan *plan)
{
	return plan->overlaps ? plan->capacity / MTS_WINDOW_STEPS :
				plan->capacity >> TOLERANCE_SHIFT;
}

bool mts_policy_outgrown(const struct mts_plan *plan, const struct mts_plan_bin *bin, u64 demand)
{
	u64 tolerance = tolerance_of(plan);

	return demand > mts_add_sat(plan->capacity, tolerance) &&
	       demand > mts_add_sat(bin->demand, tolerance);
}

bool mts_policy_misfit(struct mts_lesson *lesson, const struct mts_plan *plan,
		       const struct mts_plan_bin *bin, u64 demand, u64 free, bool may_learn)
{
	/* With that much free, a watermark boost makes the kernel reclaim (mm/page_alloc.c). */
	if (free > plan->capacity / 2)
		return false;
	/* Repack if the bin has grown, but not if it was planned overfull. */
	if (demand > plan->capacity)
		return !(bin->flags & MTS_PLAN_OVERFULL);
	/* A bin of less than half cannot be packed better. */
	if (!may_learn || demand < plan->capacity / 2)
		return false;
	learn(lesson, mts_add_sat(plan->capacity, plan->resident_demand),
	      mts_add_sat(demand, plan->resident_demand), RISE_ROUNDS);
	return true;
}

bool mts_policy_tight(struct mts_lesson *lesson, u64 capacity, u64 demand, u64 free)
{
	if (free > capacity / 2 || demand < capacity - capacity / 4)
		return false;
	learn(lesson, capacity, demand, RISE_ROUNDS_MOST);
	return true;
}

// SPDX-License-Identifier: GPL-2.0
/* How much memory jobs need, and how much the host can give them. */
#include "policy/demand.h"

/*
 * The reserve, see mts_policy_capacity(): 1/16 of the memory, within these bounds, bytes. A smaller
 * one makes full bins swap in their slice; a larger one makes bins smaller, and so their number
 * larger.
 */
#define RESERVE_SHIFT 4
#define RESERVE_MIN (1ull << 20)
#define RESERVE_MAX (1ull << 30)

u64 mts_policy_droppable(const struct mts_usage *u)
{
	return mts_add_sat(mts_sub_floor(u->file, u->shmem), u->slab_reclaimable);
}

u64 mts_policy_resident(const struct mts_usage *u)
{
	return mts_sub_floor(u->current_bytes, mts_add_sat(mts_policy_droppable(u), u->zswap));
}

/*
 * The counters are read one after the other while the job runs, so they need not agree. Memory and
 * swap are each floored at 0, so that an error in one does not reduce the other.
 */
u64 mts_policy_demand(const struct mts_usage *u)
{
	return mts_add_sat(mts_policy_resident(u), mts_sub_floor(u->swap, u->swapcached));
}

u64 mts_policy_capacity(u64 available, u64 managed, u64 total)
{
	u64 most = mts_min(mts_add_sat(available, managed), total);
	u64 reserve = mts_min(mts_max(most >> RESERVE_SHIFT, RESERVE_MIN), RESERVE_MAX);

	return mts_sub_floor(most, reserve);
}

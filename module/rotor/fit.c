// SPDX-License-Identifier: GPL-2.0
#include "rotor/fit.h"

#include "context.h"
#include "memory/memory.h"
#include "policy/bins.h"
#include "policy/fit.h"
#include "rotor/confined.h"
#include "rotor/roster.h"
#include "rotor/round.h"
#include "rotor/state.h"
#include "sched_hooks/hooks.h"

/* What the running bin needs now. Return: of how many jobs. */
static u32 measure_running(u64 *demand)
{
	u32 i, n = 0;

	*demand = 0;
	for (i = 0; i < mts_rotor.roster.n; i++) {
		struct mts_job *job = mts_rotor.roster.jobs[i];

		if (!job->runs || mts_roster_measure_job(job))
			continue;
		*demand = mts_add_sat(*demand, mts_roster_bin_bytes(job));
		n += mts_roster_bin_bytes(job) > 0;
	}
	return n;
}

bool mts_fit_all(void)
{
	u64 demand = 0;
	u32 i;

	/* The demand of newcomers is not known yet; onset.c decides about a round that it began. */
	if (mts_rotor.round.newcomers || mts_rotor.onset.is_on)
		return false;
	for (i = 0; i < mts_rotor.roster.n; i++)
		if (mts_rotor.roster.jobs[i]->bin < mts_rotor.round.nbins)
			demand =
				mts_add_sat(demand, mts_roster_bin_bytes(mts_rotor.roster.jobs[i]));
	if (!mts_rotor.planning.capacity_is_set)
		demand = mts_sub_floor(demand, mts_confined_excess());
	return demand <= mts_rotor.round.plan.capacity - mts_rotor.round.plan.capacity / 8;
}

bool mts_fit_outgrown(void)
{
	const struct mts_plan_bin running = mts_round_running();
	u64 demand;

	return measure_running(&demand) > 1 &&
	       mts_policy_outgrown(&mts_rotor.round.plan, &running, demand);
}

void mts_fit_begin_slice(void)
{
	mts_confined_swapins();
	mts_rotor.fit.swapins = mts_memory_swapins();
}

void mts_fit_excuse_swapins(u64 pages)
{
	mts_rotor.fit.swapins += pages;
}

u64 mts_fit_learned(u64 capacity)
{
	return mts_policy_learned(&mts_rotor.fit.lesson, capacity);
}

bool mts_fit_is_tight(u64 capacity, u64 demand)
{
	return mts_policy_tight(&mts_rotor.fit.lesson, capacity, demand, mts_memory_free());
}

void mts_fit_forget(void)
{
	mts_rotor.fit.lesson = (struct mts_lesson){ 0 };
}

bool mts_fit_swaps(void)
{
	const struct mts_plan_bin bin = mts_round_running();
	u64 pages = mts_memory_swapins() - mts_rotor.fit.swapins, demand;

	/* An eighth of the bin, and while the host reclaims: else something comes back late. */
	if (pages < bin.demand >> (PAGE_SHIFT + 3) ||
	    mts_hooks_last_reclaim() <= mts_rotor.phase.slice_began)
		return false;
	/* Asked again after as much again. */
	mts_rotor.fit.swapins += pages;
	if (mts_sub_floor(pages, mts_confined_swapins()) < bin.demand >> (PAGE_SHIFT + 3))
		return false;
	return measure_running(&demand) > 1 &&
	       mts_policy_misfit(&mts_rotor.fit.lesson, &mts_rotor.round.plan, &bin, demand,
				 mts_memory_free(), mts_rotor.planning.capacity_is_set);
}

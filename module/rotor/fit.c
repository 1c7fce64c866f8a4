// SPDX-License-Identifier: GPL-2.0
#include "rotor/fit.h"

#include "context.h"
#include "memory/memory.h"
#include "policy/bins.h"
#include "policy/fit.h"
#include "rotor/roster.h"
#include "rotor/state.h"
#include "sched_hooks/hooks.h"

/* What the running bin needs now. Return: of how many jobs. */
static u32 measure_running(u64 *demand)
{
	u32 i, n = 0;

	*demand = 0;
	for (i = 0; i < mts_rotor.roster_size; i++) {
		struct mts_job *job = mts_rotor.roster[i];

		if (job->bin != mts_rotor.running || mts_roster_measure_job(job))
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

	/* Nobody knows yet what newcomers need; onset.c looks whether an early round was needed. */
	if (mts_rotor.newcomers || mts_rotor.in_onset)
		return false;
	for (i = 0; i < mts_rotor.roster_size; i++)
		if (mts_rotor.roster[i]->bin < mts_rotor.nbins)
			demand = mts_add_sat(demand, mts_roster_bin_bytes(mts_rotor.roster[i]));
	return demand <= mts_rotor.plan.capacity - mts_rotor.plan.capacity / 8;
}

bool mts_fit_outgrown(void)
{
	u64 demand;

	return measure_running(&demand) > 1 &&
	       mts_policy_outgrown(&mts_rotor.plan, &mts_rotor.bins[mts_rotor.running], demand);
}

bool mts_fit_swaps(void)
{
	const struct mts_plan_bin *bin = &mts_rotor.bins[mts_rotor.running];
	u64 pages = mts_memory_swapins() - mts_rotor.swapins, demand;

	/* An eighth of the bin, and while the host reclaims: else something comes back late. */
	if (pages < bin->demand >> (PAGE_SHIFT + 3) ||
	    mts_hooks_last_reclaim() <= mts_rotor.slice_began)
		return false;
	/* Asked again after as much again. */
	mts_rotor.swapins += pages;
	return measure_running(&demand) > 1 &&
	       mts_policy_misfit(&mts_rotor.lesson, &mts_rotor.plan, bin, demand, mts_memory_free(),
				 mts_rotor.capacity_is_set);
}

// SPDX-License-Identifier: GPL-2.0
#include "rotor/fit.h"

#include "context.h"
#include "events/promise.h"
#include "jobs/ops.h"
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

/* A job that was planned as asleep is awake, and grows beside every bin. */
static bool a_sleeper_grows(void)
{
	u32 i;

	for (i = 0; i < mts_rotor.roster.n; i++) {
		struct mts_job *job = mts_rotor.roster.jobs[i];

		if (job->sleeps && !mts_roster_measure_job(job) && job->threads &&
		    mts_roster_bin_bytes(job) >
			    mts_add_sat(job->planned_bytes, mts_rotor.planning.small))
			return true;
	}
	return false;
}

bool mts_fit_outgrown(void)
{
	const struct mts_plan_bin running = mts_round_running();
	u64 demand;

	if (a_sleeper_grows())
		return true;
	return measure_running(&demand) > 1 &&
	       mts_policy_outgrown(&mts_rotor.round.plan, &running, demand);
}

void mts_fit_begin_slice(void)
{
	mts_rotor.fit.swapins = mts_memory_swapins();
	mts_rotor.fit.slices++;
	mts_rotor.fit.counts = false;
}

void mts_fit_begin_round(void)
{
	mts_rotor.fit.dirty = false;
}

void mts_fit_end_round(bool whole)
{
	if (whole && !mts_rotor.fit.dirty)
		mts_policy_clean_round(&mts_rotor.fit.lesson);
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

/* Pages of a job since it was last counted in this slice; at first 0. */
static u64 count_job(struct mts_job *job, const struct mts_usage *usage)
{
	struct mts_swapins_seen now = {
		.slice = mts_rotor.fit.slices,
		.refaults = usage->refaults,
		.major_faults = usage->major_faults,
	};
	u64 pages = 0;

	if (job->seen.slice == now.slice)
		pages = max(mts_sub_floor(now.refaults, job->seen.refaults),
			    mts_sub_floor(now.major_faults, job->seen.major_faults));
	job->seen = now;
	return pages;
}

/*
 * Pages that the running bin's own jobs have swapped in since the last call in this slice. A limit
 * of its cgroup, not the capacity, is why a confined job swaps. U64_MAX: not known.
 */
static u64 count_own(void)
{
	struct mts_usage usage;
	u64 pages = 0;
	u32 i;

	mts_promise_step("memory is measured");
	for (i = 0; i < mts_rotor.roster.n; i++) {
		struct mts_job *job = mts_rotor.roster.jobs[i];

		if (!job->runs || job->confined || mts_ops->usage(job, &usage))
			continue;
		if (usage.refaults == U64_MAX)
			return U64_MAX;
		pages = mts_add_sat(pages, count_job(job, &usage));
	}
	return pages;
}

/*
 * Was room taken that the plan gave to the running bin? A job that runs out of turn has its memory
 * beside the bin, as one that the watchdog has thawed, and so has one that has woken since the
 * plan. And what was to leave may have stayed.
 */
static bool is_short_of_room(void)
{
	u32 i;

	for (i = 0; i < mts_rotor.roster.n; i++) {
		const struct mts_job *job = mts_rotor.roster.jobs[i];

		if (job->bin < mts_rotor.round.nbins && !job->runs && !READ_ONCE(job->frozen))
			return true;
		if (job->sleeps && job->threads)
			return true;
	}
	return mts_rotor.evict.fell_short || mts_rotor_is_swap_full();
}

bool mts_fit_swaps(void)
{
	const struct mts_plan_bin bin = mts_round_running();
	u64 pages = mts_memory_swapins() - mts_rotor.fit.swapins, demand, own;
	bool counts = mts_rotor.fit.counts;

	/*
	 * A 16th of the bin, and while the host reclaims: else something comes back late. To read
	 * what jobs have swapped in takes 0.1 ms each, so it begins now. After as much again it is
	 * known whether it is they that swap.
	 */
	if (pages < bin.demand >> (PAGE_SHIFT + 4) ||
	    mts_hooks_last_reclaim() <= mts_rotor.phase.slice_began)
		return false;
	mts_rotor.fit.swapins += pages;
	mts_rotor.fit.counts = true;
	own = count_own();
	if (!counts || min(own, pages) < bin.demand >> (PAGE_SHIFT + 4))
		return false;
	if (measure_running(&demand) < 2)
		return false;
	/* An overfull bin swaps at any capacity. */
	mts_rotor.fit.dirty |= !(bin.flags & MTS_PLAN_OVERFULL);
	return mts_policy_misfit(&mts_rotor.fit.lesson, &mts_rotor.round.plan, &bin, demand,
				 mts_memory_free(),
				 !mts_rotor.planning.capacity_is_set && !is_short_of_room());
}

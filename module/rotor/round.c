// SPDX-License-Identifier: GPL-2.0
#include "rotor/round.h"

#include "context.h"
#include "events/trace.h"
#include "policy/bins.h"

void mts_round_begin(u32 nbins)
{
	lockdep_assert_held(&mts_lock);
	mts_rotor.round.nbins = nbins;
	mts_rotor.round.newcomers = false;
}

void mts_round_end(void)
{
	lockdep_assert_held(&mts_lock);
	mts_rotor.round.nbins = 0;
	mts_round_run(NULL, 0);
	mts_rotor.round.plan.round_ns = 0;
	mts_rotor.round.plan.longest_pause_ns = 0;
}

static bool is_running(u32 bin)
{
	return bin < mts_rotor.round.nbins && mts_rotor.round.bins[bin].runs;
}

void mts_round_run(const u32 *bins, u32 n)
{
	u32 i;

	lockdep_assert_held(&mts_lock);
	for (i = 0; i < mts_rotor.round.nbins; i++)
		mts_rotor.round.bins[i].runs = false;
	for (i = 0; i < n; i++)
		mts_rotor.round.bins[bins[i]].runs = true;
	for (i = 0; i < mts_rotor.roster.n; i++)
		WRITE_ONCE(mts_rotor.roster.jobs[i]->runs,
			   is_running(mts_rotor.roster.jobs[i]->bin));
}

void mts_round_set_slice(u32 bin, u64 slice_ns)
{
	lockdep_assert_held(&mts_lock);
	mts_rotor.round.bins[bin].slice_ns = slice_ns;
}

void mts_round_count_bins(void)
{
	struct mts_plan_bin *bin;
	u32 i;

	lockdep_assert_held(&mts_lock);
	for (i = 0; i < mts_rotor.round.nbins; i++) {
		mts_rotor.round.bins[i].demand = 0;
		mts_rotor.round.bins[i].jobs = 0;
	}
	for (i = 0; i < mts_rotor.roster.n; i++) {
		const struct mts_job *job = mts_rotor.roster.jobs[i];

		if (job->bin >= mts_rotor.round.nbins)
			continue;
		bin = &mts_rotor.round.bins[job->bin];
		bin->demand = mts_add_sat(bin->demand, job->planned_bytes);
		bin->jobs++;
	}
}

void mts_round_give_bin(struct mts_job *job, u32 bin, u64 bytes)
{
	lockdep_assert_held(&mts_lock);
	job->planned_bytes = bytes;
	WRITE_ONCE(job->runs, is_running(bin));
	if (job->bin == bin)
		return;
	job->bin = bin;
	trace_mts_job(job, MTS_JOB_PLACED);
}

void mts_round_move(struct mts_job *job, u32 to, u64 bytes)
{
	struct mts_plan_bin *bin;

	lockdep_assert_held(&mts_lock);
	if (job->bin < mts_rotor.round.nbins) {
		bin = &mts_rotor.round.bins[job->bin];
		bin->demand = mts_sub_floor(bin->demand, job->planned_bytes);
		bin->jobs--;
	}
	if (to < mts_rotor.round.nbins) {
		bin = &mts_rotor.round.bins[to];
		bin->demand = mts_add_sat(bin->demand, bytes);
		bin->jobs++;
	}
	mts_round_give_bin(job, to, to < mts_rotor.round.nbins ? bytes : 0);
}

void mts_round_place(struct mts_job *job, u32 bin, u64 bytes)
{
	mts_rotor.round.newcomers = true;
	mts_round_move(job, bin, bytes);
}

void mts_round_exempt(struct mts_job *job, u64 bytes)
{
	struct mts_plan *plan = &mts_rotor.round.plan;

	mts_round_move(job, MTS_BIN_EVERY, 0);
	plan->demand = mts_sub_floor(plan->demand, bytes);
	plan->resident_demand = mts_add_sat(plan->resident_demand, bytes);
	plan->capacity = mts_sub_floor(plan->capacity, bytes);
}

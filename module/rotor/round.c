// SPDX-License-Identifier: GPL-2.0
#include "rotor/round.h"

#include "context.h"
#include "events/trace.h"
#include "policy/bins.h"
#include "policy/window.h"

static bool is_running(u32 bin)
{
	return bin < mts_rotor.round.nbins && mts_rotor.round.bins[bin].runs;
}

static void update_jobs(void)
{
	u32 i;

	for (i = 0; i < mts_rotor.roster.n; i++)
		WRITE_ONCE(mts_rotor.roster.jobs[i]->runs,
			   is_running(mts_rotor.roster.jobs[i]->bin));
}

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
	update_jobs();
	mts_rotor.round.plan.round_ns = 0;
	mts_rotor.round.plan.longest_pause_ns = 0;
}

void mts_round_choose(u32 bin)
{
	u32 i;

	lockdep_assert_held(&mts_lock);
	for (i = 0; i < mts_rotor.round.nbins; i++)
		mts_rotor.round.bins[i].next = i == bin;
}

u32 mts_round_choose_groups(void)
{
	lockdep_assert_held(&mts_lock);
	return mts_window_next(mts_rotor.round.bins, mts_rotor.round.nbins,
			       mts_rotor.round.plan.capacity);
}

void mts_round_clear_waits(void)
{
	u32 i;

	lockdep_assert_held(&mts_lock);
	for (i = 0; i < mts_rotor.round.nbins; i++) {
		mts_rotor.round.bins[i].service_ns = 0;
		mts_rotor.round.bins[i].due_ns = U64_MAX;
	}
}

void mts_round_note_wait(u32 bin, u64 service_ns, u64 due_ns)
{
	struct mts_plan_bin *group = &mts_rotor.round.bins[bin];

	lockdep_assert_held(&mts_lock);
	group->service_ns += div_u64(service_ns, max(group->jobs, 1U));
	group->due_ns = min(group->due_ns, due_ns);
}

void mts_round_switch(void)
{
	u32 i;

	lockdep_assert_held(&mts_lock);
	for (i = 0; i < mts_rotor.round.nbins; i++)
		mts_rotor.round.bins[i].runs = mts_rotor.round.bins[i].next;
	update_jobs();
}

struct mts_plan_bin mts_round_running(void)
{
	struct mts_plan_bin sum = { 0 };
	u32 i;

	for (i = 0; i < mts_rotor.round.nbins; i++) {
		const struct mts_plan_bin *bin = &mts_rotor.round.bins[i];

		if (!bin->runs)
			continue;
		sum.demand = mts_add_sat(sum.demand, bin->demand);
		sum.jobs += bin->jobs;
		sum.flags |= bin->flags;
	}
	return sum;
}

u32 mts_round_add_bin(bool runs)
{
	u32 bin = mts_rotor.round.nbins;

	lockdep_assert_held(&mts_lock);
	if (bin >= MTS_MAX_JOBS)
		return MTS_BIN_NONE;
	mts_rotor.round.bins[bin] = (struct mts_plan_bin){
		.runs = runs,
		.slice_ns = mts_rotor.round.bins[0].slice_ns,
		.pause_ns = mts_rotor.round.plan.longest_pause_ns,
	};
	mts_rotor.round.nbins++;
	return bin;
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
		mts_rotor.round.bins[i].entitled = 0;
		mts_rotor.round.bins[i].jobs = 0;
	}
	for (i = 0; i < mts_rotor.roster.n; i++) {
		const struct mts_job *job = mts_rotor.roster.jobs[i];

		if (job->bin >= mts_rotor.round.nbins)
			continue;
		bin = &mts_rotor.round.bins[job->bin];
		bin->demand = mts_add_sat(bin->demand, job->planned_bytes);
		bin->entitled += job->entitled;
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
		bin->entitled -= job->entitled;
		bin->jobs--;
	}
	if (to < mts_rotor.round.nbins) {
		bin = &mts_rotor.round.bins[to];
		bin->demand = mts_add_sat(bin->demand, bytes);
		bin->entitled += job->entitled;
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

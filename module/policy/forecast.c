// SPDX-License-Identifier: GPL-2.0
#include "policy/forecast.h"

/* A choice has to promise 1/MARGIN_PART more than the present one. */
#define MARGIN_PART 10u
/*
 * Twice the variance of a time of 1 per mille of a processor that is counted in ticks of 4 ms
 * (CONFIG_HZ=250) in a window of a second, per mille squared: 1000 * 4 ms / 1 s for each per mille.
 * Windows of jobs that sometimes sleep are as long as that (policy/admission.c). From 800 per mille
 * on MARGIN_PART is more.
 */
#define TICKS_ERROR 8u

struct mts_wants mts_wants_of_threads(const struct mts_plan_job *jobs, u32 n)
{
	struct mts_wants wants = { 0 };
	u32 i;

	for (i = 0; i < n; i++) {
		if (jobs[i].flags & MTS_PLAN_RESIDENT)
			wants.exempt += 1000ull * jobs[i].threads;
		else
			wants.others += 1000ull * jobs[i].threads;
	}
	return wants;
}

u32 mts_forecast_part(const struct mts_plan *plan)
{
	if (plan->nbins < 2 || !plan->round_ns)
		return 1000;
	if (!plan->overlaps)
		return 1000 / plan->nbins;
	/* A pause is the part of the round that a job's memory is not there. */
	return 1000 - mul_u64_u64_div_u64(1000, plan->longest_pause_ns, plan->round_ns);
}

/* What a bin wants to run is its part of the threads or, if none was seen awake, of the jobs. */
static u64 weight_of(const struct mts_plan_bin *bin, u64 threads)
{
	return threads ? bin->threads : bin->jobs;
}

/*
 * The mean over the slices of what runs in them on @room. Thousands of bins are looked at for each
 * choice, so in the loops nothing is divided: shares are parts of 2^16, slices are parts of 2^24 of
 * all of them.
 */
static u64 mean_of_slices(u64 others, u64 room, const struct mts_plan_bin *bins,
			  const struct mts_plan *plan)
{
	u64 threads = 0, jobs = 0, slices = 0, sum = 0, weights, share, runs;
	u32 i, shift = 0;

	for (i = 0; i < plan->nbins; i++) {
		threads += bins[i].threads;
		jobs += bins[i].jobs;
		slices = mts_add_sat(slices, bins[i].slice_ns);
	}
	weights = mts_max(threads ? threads : jobs, 1);
	share = div64_u64((others << 16) + weights / 2, weights);
	while (slices >> shift > 1u << 24)
		shift++;
	for (i = 0; i < plan->nbins; i++) {
		runs = mts_min((weight_of(&bins[i], threads) * share + (1u << 15)) >> 16, room);
		sum += runs * (bins[i].slice_ns >> shift);
	}
	slices = mts_max(slices >> shift, 1);
	return div64_u64(sum + slices / 2, slices);
}

u64 mts_forecast_turns(const struct mts_wants *wants, u32 processors,
		       const struct mts_plan_bin *bins, const struct mts_plan *plan)
{
	u64 all = 1000ull * mts_max(processors, 1), left = 1000 - mts_min(plan->lost, 1000);
	u64 exempt = mts_min(wants->exempt, all), runs;

	if (plan->overlaps) {
		runs = mul_u64_u64_div_u64(wants->others, mts_forecast_part(plan), 1000);
		return mts_min(mts_add_sat(exempt, runs), all * left / 1000);
	}
	if (plan->nbins < 2)
		runs = mts_min(wants->others / 2, all - exempt);
	else
		runs = mean_of_slices(wants->others, all - exempt, bins, plan);
	return exempt + runs * left / 1000;
}

bool mts_forecast_is_better(u64 other, u64 present)
{
	u64 gain = mts_sub_floor(other, present);

	return gain > present / MARGIN_PART && gain > div64_u64(TICKS_ERROR * other, gain);
}

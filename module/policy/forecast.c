// SPDX-License-Identifier: GPL-2.0
#include "policy/forecast.h"

#include "policy/holding.h"

/* A choice has to promise 1/MARGIN_PART more than the present one. */
#define MARGIN_PART 10u
/*
 * Twice the variance of a time of 1 per mille of a processor that is counted in ticks of 4 ms
 * (CONFIG_HZ=250) in a window of a second, per mille squared: 1000 * 4 ms / 1 s for each per mille.
 * Windows of jobs that sometimes sleep are as long as that (policy/admission.c). From 800 per mille
 * on MARGIN_PART is more.
 */
#define TICKS_ERROR 8u
/*
 * A job that waits for swap for a PART of the time may become the holder: token.c counts twentieths
 * of the faults that the disk serves.
 */
#define HOLDS_PART 20u
/* The others keep so much where the holder could have all (rotor/protection.c). */
#define OTHERS_PART 16u
#define PAGE_BYTES 4096u

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
	return plan->in_memory;
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

/* Per mille of a processor. */
static u64 share_of(const struct mts_forecast_host *host, u64 ns)
{
	return mul_u64_u64_div_u64(ns, 1000, mts_max(host->elapsed_ns, 1));
}

static u64 sum_user(const struct mts_forecast_job *jobs, u32 n)
{
	u64 sum = 0;
	u32 i;

	for (i = 0; i < n; i++)
		sum = mts_add_sat(sum, jobs[i].user_ns);
	return sum;
}

static bool would_hold(const struct mts_forecast_host *host, const struct mts_forecast_job *job)
{
	return job->may_hold && job->waited_ns >= host->elapsed_ns / HOLDS_PART;
}

/* How long a job fetches and then holds, ns; in @held for which part of it, per mille. 0: never. */
static u64 holding_of(const struct mts_forecast_host *host, const struct mts_forecast_job *job,
		      u64 *held)
{
	u64 most = host->memory - host->memory / OTHERS_PART;
	u64 pages = mts_max(job->lacks / PAGE_BYTES, 1), fetch, hold;

	*held = 0;
	if (mts_add_sat(job->rss, job->lacks) > most || host->fault_ns > U64_MAX / pages)
		return 0;
	fetch = pages * host->fault_ns;
	hold = mts_token_hold_ns(fetch);
	*held = mul_u64_u64_div_u64(hold, 1000, mts_add_sat(hold, fetch));
	return mts_add_sat(hold, fetch);
}

/*
 * What all jobs get while this one holds, for part @held of the time. @user, @rss: of all of them.
 */
static u64 while_it_holds(const struct mts_forecast_host *host, const struct mts_forecast_job *job,
			  u64 held, u64 user, u64 rss)
{
	u64 theirs = share_of(host, mts_sub_floor(user, job->user_ns));
	u64 memory = mts_sub_floor(rss, job->rss), own;

	own = mul_u64_u64_div_u64(mts_min(job->wants, host->could_run), held, 1000);
	if (memory)
		theirs = mul_u64_u64_div_u64(theirs, mts_sub_floor(memory, job->lacks), memory);
	return mts_max(own, share_of(host, job->user_ns)) + theirs;
}

u64 mts_forecast_token(const struct mts_forecast_host *host, const struct mts_forecast_job *jobs,
		       u32 n, u64 *takes_ns)
{
	u64 user = sum_user(jobs, n), rss = 0, sum = 0, now = share_of(host, user);
	u64 takes = 0, its, held;
	u32 i, holders = 0, with_all = 0;

	*takes_ns = 0;
	if (!host->fault_ns)
		return MTS_FORECAST_UNKNOWN;
	for (i = 0; i < n; i++)
		rss = mts_add_sat(rss, jobs[i].rss);
	for (i = 0; i < n; i++) {
		if (!would_hold(host, &jobs[i]))
			continue;
		holders++;
		its = holding_of(host, &jobs[i], &held);
		takes = mts_add_sat(takes, its);
		with_all += its > 0;
		sum = mts_add_sat(sum, while_it_holds(host, &jobs[i], held, user, rss));
	}
	if (with_all)
		*takes_ns = takes / with_all;
	if (holders < 2 || now * 1000 >= host->could_run * MTS_TOKEN_RUN_LOW)
		return now;
	return mts_min(sum / holders, mts_max(host->could_run, now));
}

size_t mts_forecast_fair_scratch(u32 n)
{
	return n * sizeof(struct mts_fair_job) + mts_fair_scratch(n);
}

/*
 * Its waits as of a whole window. What it waited while another policy was in force may be counted
 * in one: more than a million threads can wait would trap in the division.
 */
static u64 recent_wait(const struct mts_forecast_host *host, const struct mts_forecast_job *job)
{
	u64 elapsed = mts_max(host->elapsed_ns, 1);
	u64 most = elapsed > U64_MAX >> 20 ? U64_MAX : elapsed << 20;

	return mul_u64_u64_div_u64(mts_min(job->waited_ns, most), MTS_FAIR_WINDOW_NS, elapsed);
}

u64 mts_forecast_fair(const struct mts_forecast_host *host, const struct mts_forecast_job *jobs,
		      u32 n, const struct mts_user_weights *weights, void *scratch)
{
	struct mts_fair_job *accounts = scratch;
	u64 user = sum_user(jobs, n), runs = 0, theirs = 0, others = 0, gain;
	u32 i;

	for (i = 0; i < n; i++)
		accounts[i] = (struct mts_fair_job){
			.recent_ns = recent_wait(host, &jobs[i]),
			.entitled = jobs[i].entitled,
			.user = jobs[i].user,
			.waits = jobs[i].waited_ns,
			.may_delay = jobs[i].may_delay,
		};
	if (!mts_fair_step(accounts, n, 0, weights, accounts + n))
		return share_of(host, user);
	for (i = 0; i < n; i++) {
		if (accounts[i].delay) {
			runs = mts_add_sat(runs, jobs[i].user_ns);
			theirs = mts_add_sat(theirs, jobs[i].waited_ns);
		} else {
			others = mts_add_sat(others, jobs[i].waited_ns);
		}
	}
	gain = mul_u64_u64_div_u64(others, theirs / 2, mts_max(mts_add_sat(theirs, others), 1));
	gain = mts_add_sat(mts_sub_floor(user, runs / 2), gain);
	return mts_min(share_of(host, gain), mts_max(host->could_run, share_of(host, user)));
}

bool mts_forecast_is_better(u64 other, u64 present)
{
	u64 gain = mts_sub_floor(other, present);

	return gain > present / MARGIN_PART && gain > div64_u64(TICKS_ERROR * other, gain);
}

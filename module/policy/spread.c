// SPDX-License-Identifier: GPL-2.0
/*
 * What packing leaves uneven. It goes by memory alone: of three large jobs and some small ones
 * the first bin may have one large and all the small ones, and the others one thread each, so that
 * all processors but one idle in their slices. And first fit fills the first bins to the brim,
 * while the last has the rest.
 */
#include "policy/spread.h"

#include "policy/bins.h"

/* Jobs looked at in all: what it may cost where there are very many. */
#define MAX_LOOKS (4u * MTS_MAX_JOBS)
/* Bins that are less than this part of the capacity apart are even. */
#define UNEVEN 4u

/* It has room, the bin that it is in keeps enough threads, and nobody there is tied to it. */
static bool may_move(const struct mts_plan_job *job, const struct mts_plan_bin *from,
		     const struct mts_plan_bin *to, u64 capacity, u32 processors)
{
	return job->group == MTS_BIN_NONE && from->threads >= processors + job->threads &&
	       !mts_bin_is_saturated(from) && mts_bin_has_room(to, capacity, job->demand);
}

/* Of the processors those that resident jobs leave: they are in every bin. */
static u32 processors_for_bins(const struct mts_plan_conf *conf, const struct mts_plan_job *jobs,
			       u32 n)
{
	u64 threads = 0;
	u32 i;

	for (i = 0; i < n; i++)
		if (jobs[i].bin == MTS_BIN_EVERY)
			threads += jobs[i].threads;
	return mts_sub_floor(conf->processors, threads);
}

/* ---- threads --------------------------------------------------------------- */

static bool has_too_few(const struct mts_plan_bin *bin, u32 processors)
{
	return bin->threads < processors;
}

/* A thread for @to, and not the last job of its bin. */
static bool helps(const struct mts_plan_job *job, const struct mts_plan_bin *from,
		  const struct mts_plan_bin *to)
{
	return job->threads && from != to && from->jobs > 1;
}

static bool any_has_enough(const struct mts_plan_bin *bins, u32 nbins, u32 processors)
{
	u32 i;

	for (i = 0; i < nbins; i++)
		if (bins[i].threads > processors)
			return true;
	return false;
}

static void spread_threads(struct mts_plan_job *jobs, u32 n, struct mts_plan_bin *bins,
			   const struct mts_plan *plan, u32 processors)
{
	u32 bin, i, looks = 0;

	if (processors < 2 || !any_has_enough(bins, plan->nbins, processors))
		return;
	for (bin = 0; bin < plan->nbins; bin++) {
		struct mts_plan_bin *to = &bins[bin];

		for (i = 0; i < n && has_too_few(to, processors); i++) {
			if (++looks > MAX_LOOKS)
				return;
			if (jobs[i].bin == MTS_BIN_EVERY ||
			    !helps(&jobs[i], &bins[jobs[i].bin], to) ||
			    !may_move(&jobs[i], &bins[jobs[i].bin], to, plan->capacity, processors))
				continue;
			mts_bin_move(&jobs[i], bins, bin);
		}
	}
}

/* ---- memory ---------------------------------------------------------------- */

static u32 emptiest(const struct mts_plan_bin *bins, u32 nbins)
{
	u32 i, least = 0;

	for (i = 1; i < nbins; i++)
		if (bins[i].demand < bins[least].demand)
			least = i;
	return least;
}

/* Far from even, and it leaves its bin fuller than the other one still. */
static bool evens_out(const struct mts_plan_job *job, const struct mts_plan_bin *from,
		      const struct mts_plan_bin *to, u64 capacity)
{
	u64 apart = mts_sub_floor(from->demand, to->demand);

	return job->demand && apart >= capacity / UNEVEN && job->demand <= apart / 2;
}

static void spread_memory(struct mts_plan_job *jobs, u32 n, struct mts_plan_bin *bins,
			  const struct mts_plan *plan, u32 processors)
{
	u32 i, to = emptiest(bins, plan->nbins), looks = 0;

	for (i = 0; i < n && looks < MAX_LOOKS; i++) {
		if (jobs[i].bin == MTS_BIN_EVERY ||
		    !evens_out(&jobs[i], &bins[jobs[i].bin], &bins[to], plan->capacity) ||
		    !may_move(&jobs[i], &bins[jobs[i].bin], &bins[to], plan->capacity, processors))
			continue;
		mts_bin_move(&jobs[i], bins, to);
		to = emptiest(bins, plan->nbins);
		looks += plan->nbins;
	}
}

void mts_plan_spread(const struct mts_plan_conf *conf, struct mts_plan_job *jobs, u32 n,
		     struct mts_plan_bin *bins, const struct mts_plan *plan)
{
	u32 processors;

	if (plan->nbins < 2)
		return;
	processors = processors_for_bins(conf, jobs, n);
	spread_threads(jobs, n, bins, plan, processors);
	if (conf->pack != MTS_PACK_RW)
		spread_memory(jobs, n, bins, plan, processors);
}

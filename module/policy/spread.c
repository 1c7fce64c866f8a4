// SPDX-License-Identifier: GPL-2.0
/*
 * Evens out what packing leaves uneven. Packing goes by memory alone. Of three large and several
 * small jobs, one large job and all small ones may share the first bin. The other bins then have
 * one thread each, and processors idle in their slices. First fit also fills the first bins to the
 * brim and leaves the rest to the last.
 */
#include "policy/spread.h"

#include "policy/bins.h"

/* Bounds the work, in jobs looked at. Beyond it some bins may stay uneven. */
#define MAX_LOOKS (4u * MTS_MAX_JOBS)
/*
 * Demands that differ by less than 1/4 of the capacity count as even: each move of a job costs
 * eviction and bring-back.
 */
#define UNEVEN 4u

/* The job is not tied, its old bin keeps a thread per processor, and the new bin has room. */
static bool may_move(const struct mts_plan_job *job, const struct mts_plan_bin *from,
		     const struct mts_plan_bin *to, u64 capacity, u32 processors)
{
	return job->group == MTS_BIN_NONE && from->threads >= processors + job->threads &&
	       !mts_bin_is_saturated(from) && mts_bin_has_room(to, capacity, job->demand);
}

/* The processors that exempt jobs leave: those are part of every bin. */
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

/* The job adds a thread to @to and is not the last job of its bin. */
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

/* The demands are far apart, and the old bin stays the fuller one. */
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

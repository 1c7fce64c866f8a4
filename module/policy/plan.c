// SPDX-License-Identifier: GPL-2.0
/* The plan of a round. */
#include "policy/plan.h"

#include "policy/bins.h"
#include "policy/forecast.h"
#include "policy/newcomers.h"
#include "policy/slices.h"
#include "policy/spread.h"
#include "policy/ties.h"
#include "policy/traffic.h"
#include "policy/window.h"

struct mts_plan_conf mts_plan_conf_of(const struct mts_config *config)
{
	struct mts_plan_conf conf = {
		.pack = config->pack,
		.evict = config->evict,
		.slice_ns = config->slice_ns,
		.min_slice_ns = config->min_slice_ns,
		.overhead = config->overhead,
	};

	mts_plan_limit_pause(&conf, config->max_pause_ns);
	return conf;
}

/* What a plan gives a job. */
struct place {
	u32 bin;
	u32 group;
};

/* For packing; behind it there is room for a plan's bins and places. A multiple of 8. */
static size_t packing_scratch(u32 n)
{
	size_t bytes = 2 * n * sizeof(struct mts_item) +
		       mts_max(mts_max(mts_binpack_scratch(n), mts_plan_traffic_scratch(n)),
			       mts_newcomers_scratch(n));

	return (bytes + sizeof(u64) - 1) / sizeof(u64) * sizeof(u64);
}

size_t mts_plan_scratch(u32 n)
{
	if (n > MTS_MAX_JOBS)
		n = 0; /* mts_plan_round() will refuse it */

	return packing_scratch(n) + n * (sizeof(struct mts_plan_bin) + sizeof(struct place));
}

static bool is_resident(const struct mts_plan_job *job)
{
	return job->flags & MTS_PLAN_RESIDENT;
}

static u64 sum_residents(const struct mts_plan_job *jobs, u32 n)
{
	u64 sum = 0;
	u32 i;

	for (i = 0; i < n; i++) {
		sum = mts_add_sat(sum, jobs[i].kept_bytes);
		if (is_resident(&jobs[i]))
			sum = mts_add_sat(sum, jobs[i].demand);
	}
	return sum;
}

static bool is_member(const struct mts_plan_job *jobs, u32 i)
{
	return jobs[i].group != MTS_BIN_NONE && jobs[i].group != i;
}

/*
 * From mts_plan_join()'s sums keep what is packed: first jobs of groups, and jobs without a group.
 */
static u32 close_up(const struct mts_plan_job *jobs, u32 n, struct mts_item *items)
{
	u32 nitems = 0;
	u32 i;

	for (i = 0; i < n; i++)
		if (!is_resident(&jobs[i]) && !is_member(jobs, i))
			items[nitems++] = items[i];
	return nitems;
}

/* ---- jobs that are alike ------------------------------------------------------------------- */

/* The usual case, which shall cost nothing. */
static bool all_alike(const struct mts_plan_job *jobs, u32 n)
{
	u32 i;

	for (i = 1; i < n; i++)
		if (jobs[i].entitled != jobs[0].entitled)
			return false;
	return true;
}

/* Of the jobs that are packed, in the order of items: the class of the next one (entitled.h). */
static u32 next_class(const struct mts_plan_job *jobs, u32 *i)
{
	while (is_resident(&jobs[*i]) || is_member(jobs, *i))
		++*i;
	return mts_entitled_class(jobs[(*i)++].entitled);
}

/* The lowest class of the items that is at least @from; MTS_ENTITLED_CLASSES: there is none. */
static u32 lowest_class(const struct mts_plan_job *jobs, u32 nitems, u32 from)
{
	u32 i = 0, k, class, lowest = MTS_ENTITLED_CLASSES;

	for (k = 0; k < nitems; k++) {
		class = next_class(jobs, &i);
		if (class >= from && class < lowest)
			lowest = class;
	}
	return lowest;
}

static int pack_class(const struct mts_plan_job *jobs, struct mts_item *items, u32 nitems,
		      u64 capacity, u32 class, u32 base, struct mts_item *some)
{
	u32 i, k, n = 0;
	int nbins;

	for (i = 0, k = 0; k < nitems; k++)
		if (next_class(jobs, &i) == class)
			some[n++] = items[k];
	nbins = mts_binpack(MTS_PACK_FFD, some, n, capacity, some + n);
	for (i = 0, k = 0, n = 0; nbins > 0 && k < nitems; k++)
		if (next_class(jobs, &i) == class)
			items[k].bin = base + some[n++].bin;
	return nbins;
}

/*
 * The jobs of a group come and go together, and so run for as long as each other. So only jobs that
 * are entitled to about the same share one. Tied jobs are one item: the first one counts.
 */
static int pack_alike(const struct mts_plan_job *jobs, u32 n, struct mts_item *items, u32 nitems,
		      u64 capacity, struct mts_item *some)
{
	u32 class, base = 0;
	int nbins;

	if (all_alike(jobs, n))
		return mts_binpack(MTS_PACK_FFD, items, nitems, capacity, some);
	for (class = lowest_class(jobs, nitems, 0); class < MTS_ENTITLED_CLASSES;
	     class = lowest_class(jobs, nitems, class + 1)) {
		nbins = pack_class(jobs, items, nitems, capacity, class, base, some);
		if (nbins < 0)
			return nbins;
		base += nbins;
	}
	return base;
}

static void fill_bins(struct mts_plan_job *jobs, u32 n, const struct mts_item *items,
		      struct mts_plan_bin *bins, struct mts_plan *plan)
{
	u32 i;

	for (i = 0; i < plan->nbins; i++)
		bins[i] = (struct mts_plan_bin){ 0 };
	for (i = 0; i < n; i++) {
		struct mts_plan_bin *bin;

		if (is_resident(&jobs[i])) {
			jobs[i].bin = MTS_BIN_EVERY;
			continue;
		}
		/* The first job of a group precedes its other jobs. */
		jobs[i].bin = is_member(jobs, i) ? jobs[jobs[i].group].bin : items++->bin;
		bin = &bins[jobs[i].bin];
		bin->demand = mts_add_sat(bin->demand, jobs[i].demand);
		bin->jobs++;
		bin->threads += jobs[i].threads;
		bin->entitled += mts_job_entitled(&jobs[i]);
		plan->demand = mts_add_sat(plan->demand, jobs[i].demand);
	}
}

static void mark_overfull(struct mts_plan_bin *bins, const struct mts_plan *plan)
{
	u32 i;

	for (i = 0; i < plan->nbins; i++)
		if (bins[i].demand > plan->capacity)
			bins[i].flags |= MTS_PLAN_OVERFULL;
}

/*
 * Return: demand of the fullest bin.
 */
static u64 fullest(const struct mts_plan_bin *bins, u32 nbins)
{
	u64 most = 0;
	u32 i;

	for (i = 0; i < nbins; i++)
		most = mts_max(most, bins[i].demand);
	return most;
}

/* ---- overlapping bins -------------------------------------------------------------------- */

/*
 * Jobs that run and jobs that wait are no group: those that run get one of their own. Tied jobs
 * stay together, and wait together.
 */
static void part_groups(struct mts_plan_job *jobs, u32 n, struct mts_plan_bin *bins,
			struct mts_plan *plan)
{
	u32 i, nbins = plan->nbins;

	for (i = 0; i < nbins; i++) {
		bins[i].runs = true;
		bins[i].next = false;
	}
	for (i = 0; i < n; i++)
		if (!is_resident(&jobs[i]) && (!jobs[i].runs || jobs[i].group != MTS_BIN_NONE))
			bins[jobs[i].bin].runs &= jobs[i].runs;
	/* slice_ns leads from a group to the new one of those that run, until slices are set. */
	for (i = 0; i < nbins; i++)
		bins[i].slice_ns = U64_MAX;
	for (i = 0; i < n; i++) {
		struct mts_plan_bin *old = &bins[jobs[i].bin];

		if (is_resident(&jobs[i]) || !jobs[i].runs || jobs[i].group != MTS_BIN_NONE ||
		    old->runs)
			continue;
		if (old->slice_ns == U64_MAX) {
			old->slice_ns = plan->nbins++;
			bins[old->slice_ns] = (struct mts_plan_bin){ .runs = true };
		}
		mts_bin_move(&jobs[i], bins, old->slice_ns);
	}
}

static bool is_saturated(const struct mts_plan_bin *bins, u32 nbins)
{
	u32 i;

	for (i = 0; i < nbins; i++)
		if (mts_bin_is_saturated(&bins[i]))
			return true;
	return false;
}

/* Pack by memory alone. Return: number of bins, or an error. */
static int pack(const struct mts_plan_conf *conf, struct mts_plan_job *jobs, u32 n,
		struct mts_plan_bin *bins, struct mts_plan *plan, void *scratch)
{
	struct mts_item *items = scratch;
	u64 residents = sum_residents(jobs, n);
	u64 capacity = mts_sub_floor(conf->capacity, residents);
	u32 nitems;
	int nbins;

	mts_plan_join(conf, jobs, n, capacity, items);
	nitems = close_up(jobs, n, items);
	nbins = conf->step ? pack_alike(jobs, n, items, nitems, mts_min(conf->step, capacity),
					items + n) :
			     mts_binpack(conf->pack, items, nitems, capacity, items + n);
	if (nbins < 0)
		return nbins;
	*plan = (struct mts_plan){
		.nbins = nbins,
		.capacity = capacity,
		.resident_demand = residents,
	};
	fill_bins(jobs, n, items, bins, plan);
	return nbins;
}

/* Groups, of which several run at a time. More than one bin is needed. */
static int pack_groups(const struct mts_plan_conf *conf, struct mts_plan_job *jobs, u32 n,
		       struct mts_plan_bin *bins, struct mts_plan *plan, void *scratch)
{
	int ngroups = pack(conf, jobs, n, bins, plan, scratch);

	if (ngroups < 0 || is_saturated(bins, ngroups))
		return ngroups;
	part_groups(jobs, n, bins, plan);
	plan->overlaps = true;
	return plan->nbins;
}

/* Honour as many ties as cost no memory: all of them, a half, a quarter, an eighth, or none. */
static int pack_tied(const struct mts_plan_conf *conf, struct mts_plan_job *jobs, u32 n,
		     struct mts_plan_bin *bins, struct mts_plan *plan, void *scratch)
{
	struct mts_plan_conf some = *conf;
	u64 tolerable;
	int nbins, tied;
	u32 part;

	some.nties = 0;
	some.step = 0;
	nbins = pack(&some, jobs, n, bins, plan, scratch);
	if (nbins < 2 || !conf->nties || n > MTS_PLAN_MANY)
		return nbins;
	tolerable = mts_max(plan->capacity, fullest(bins, nbins));
	for (part = 0; part < 4; part++) {
		some.nties = conf->nties >> part;
		tied = pack(&some, jobs, n, bins, plan, scratch);
		if (tied <= nbins && fullest(bins, tied) <= tolerable)
			return tied;
	}
	some.nties = 0;
	return pack(&some, jobs, n, bins, plan, scratch);
}

/* ---- the choice --------------------------------------------------------------------------- */

static void set_slices(const struct mts_plan_conf *conf, struct mts_plan_job *jobs, u32 n,
		       struct mts_plan_bin *bins, struct mts_plan *plan)
{
	if (!plan->overlaps)
		mts_plan_spread(conf, jobs, n, bins, plan);
	mark_overfull(bins, plan);
	mts_plan_slices(conf, bins, plan);
}

/* Where the jobs are, and their bins: to have them again if the other kind is no better. */
static void keep(const struct mts_plan_job *jobs, u32 n, const struct mts_plan_bin *bins,
		 struct mts_plan_bin *kept)
{
	struct place *places = (void *)(kept + n);
	u32 i;

	memcpy(kept, bins, n * sizeof(*bins));
	for (i = 0; i < n; i++)
		places[i] = (struct place){ .bin = jobs[i].bin, .group = jobs[i].group };
}

static void take_back(struct mts_plan_job *jobs, u32 n, struct mts_plan_bin *bins,
		      const struct mts_plan_bin *kept)
{
	const struct place *places = (const void *)(kept + n);
	u32 i;

	memcpy(bins, kept, n * sizeof(*bins));
	for (i = 0; i < n; i++) {
		jobs[i].bin = places[i].bin;
		jobs[i].group = places[i].group;
	}
}

bool mts_plan_prefers_groups(const struct mts_plan *groups, const struct mts_plan *bins)
{
	if (groups->breaks_limit && !bins->breaks_limit)
		return false;
	return mts_forecast_is_better(groups->work_as_groups, bins->work_as_bins);
}

int mts_plan_round(const struct mts_plan_conf *conf, struct mts_plan_job *jobs, u32 n,
		   struct mts_plan_bin *bins, struct mts_plan *plan, void *scratch)
{
	struct mts_plan_bin *kept;
	struct mts_plan of_bins;
	struct mts_wants wants;
	int nbins;

	if (n > MTS_MAX_JOBS)
		return -EINVAL;

	nbins = pack_tied(conf, jobs, n, bins, plan, scratch);
	if (nbins < 0)
		return nbins;
	set_slices(conf, jobs, n, bins, plan);
	if (nbins < 2)
		return 0;
	wants = mts_wants_of_threads(jobs, n);
	plan->work_as_bins = mts_forecast_turns(&wants, conf->processors, bins, plan);
	if (!conf->step)
		return 0;
	kept = (void *)((char *)scratch + packing_scratch(n));
	of_bins = *plan;
	keep(jobs, n, bins, kept);
	nbins = pack_groups(conf, jobs, n, bins, plan, scratch);
	if (nbins < 0)
		return nbins;
	set_slices(conf, jobs, n, bins, plan);
	plan->work_as_bins = of_bins.work_as_bins;
	plan->work_as_groups = mts_forecast_turns(&wants, conf->processors, bins, plan);
	of_bins.work_as_groups = plan->work_as_groups;
	if (conf->chooses && !mts_plan_prefers_groups(plan, &of_bins)) {
		take_back(jobs, n, bins, kept);
		*plan = of_bins;
	}
	return 0;
}

bool mts_plan_exempt_take_all(const struct mts_plan_bin *bins, const struct mts_plan *plan)
{
	/* If nothing is left it is not known here how much more exempt jobs need. */
	u64 whole = plan->capacity ? mts_add_sat(plan->capacity, plan->resident_demand) : U64_MAX;
	bool would_fit = false;
	u32 i;

	if (!plan->resident_demand)
		return false;
	for (i = 0; i < plan->nbins; i++) {
		if (!bins[i].demand)
			continue;
		if (!(bins[i].flags & MTS_PLAN_OVERFULL))
			return false;
		would_fit |= bins[i].demand <= whole;
	}
	return would_fit;
}

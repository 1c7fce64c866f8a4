// SPDX-License-Identifier: GPL-2.0
/* Plans that keep the pause limits of single jobs. */
#include "policy/limits.h"

#include "binpack/sort.h"
#include "policy/plan.h"
#include "policy/slices.h"

/*
 * Limit of planning passes. Each pass exempts jobs, which leaves less memory to the bins. So pauses
 * grow, and further limits may be broken. One pass is usual.
 */
#define PASSES 4u

bool mts_limit_allows(u64 limit_ns, u64 pause_ns)
{
	return !limit_ns || mts_add_sat(pause_ns, MTS_PAUSE_MARGIN_NS) <= limit_ns;
}

/* A limit no shorter than the one for all jobs is kept as that is: slices.h. */
static bool is_kept(const struct mts_plan_job *job, const struct mts_plan_bin *bins,
		    const struct mts_plan *plan)
{
	return job->flags & MTS_PLAN_RESIDENT ||
	       mts_limit_allows(job->max_pause_ns, bins[job->bin].pause_ns) ||
	       (mts_limit_allows(job->max_pause_ns, plan->max_pause_ns) && !plan->breaks_limit);
}

/* Sort the jobs whose limits are broken, the shortest limit first. Return: their number. */
static u32 list_broken(const struct mts_plan_job *jobs, u32 n, const struct mts_plan_bin *bins,
		       const struct mts_plan *plan, struct mts_key *keys)
{
	u32 i, found = 0;

	for (i = 0; i < n; i++)
		if (!is_kept(&jobs[i], bins, plan))
			keys[found++] = (struct mts_key){
				.value = U64_MAX - jobs[i].max_pause_ns,
				.index = i,
			};
	mts_keys_sort(keys, found, keys + n);
	return found;
}

static void make_resident(struct mts_plan_job *job, struct mts_limits *limits)
{
	job->flags |= MTS_PLAN_RESIDENT | MTS_PLAN_LIMITED;
	limits->residents++;
}

/* Exempt jobs in order until one does not fit into the room. Return: how many were exempted. */
static u32 grant(struct mts_plan_job *jobs, const struct mts_key *keys, u32 nkeys,
		 struct mts_limits *limits)
{
	u32 i;

	for (i = 0; i < nkeys; i++) {
		struct mts_plan_job *job = &jobs[keys[i].index];

		/* Its kept_bytes were taken off the room before. */
		if (job->demand > limits->room)
			break;
		limits->room -= job->demand;
		make_resident(job, limits);
	}
	return i;
}

bool mts_plan_shorten(const struct mts_plan_conf *conf, const struct mts_plan_job *job,
		      struct mts_plan_bin *bins, struct mts_plan *plan)
{
	struct mts_plan_conf shorter = *conf;

	shorter.max_pause_ns = mts_sub_floor(job->max_pause_ns, MTS_PAUSE_MARGIN_NS);
	shorter.stretched_pause_ns = shorter.max_pause_ns;
	shorter.longest_pause_ns = 0;
	mts_plan_slices(&shorter, bins, plan);
	return is_kept(job, bins, plan);
}

int mts_plan_limits(const struct mts_plan_conf *conf, struct mts_plan_job *jobs, u32 n,
		    struct mts_plan_bin *bins, struct mts_plan *plan, struct mts_limits *limits,
		    void *scratch)
{
	struct mts_key *keys = scratch;
	u32 pass, i, nkeys;
	int err;

	limits->residents = 0;
	limits->by = MTS_BIN_NONE;
	limits->beyond = false;
	for (pass = 0; plan->nbins >= 2; pass++) {
		nkeys = list_broken(jobs, n, bins, plan, keys);
		if (!nkeys)
			break;
		if (pass == PASSES || !grant(jobs, keys, nkeys, limits)) {
			u32 first = keys[0].index;

			if (mts_plan_shorten(conf, &jobs[first], bins, plan)) {
				limits->by = first;
				break;
			}
			limits->beyond = true;
			if (pass == PASSES) {
				mts_plan_slices(conf, bins, plan);
				break;
			}
			/*
			 * The slices are at their minimum now: no slices keep the limits that are
			 * still broken.
			 */
			nkeys = list_broken(jobs, n, bins, plan, keys);
			for (i = 0; i < nkeys; i++)
				make_resident(&jobs[keys[i].index], limits);
			limits->room = 0;
		}
		err = mts_plan_round(conf, jobs, n, bins, plan, scratch);
		if (err)
			return err;
	}
	return 0;
}

/* SPDX-License-Identifier: GPL-2.0 */
/* What a plan consists of: jobs, bins, and what they are planned with. Pure code (pure.h). */
#ifndef _MTS_POLICY_BINS_H
#define _MTS_POLICY_BINS_H

#include "binpack/binpack.h"

/* Two jobs that wait for each other: their indices in what is planned. */
struct mts_plan_tie {
	u32 a;
	u32 b;
};

struct mts_plan_conf {
	u32 pack; /* enum mts_pack */
	u32 evict; /* enum mts_evict, but AUTO (mts_policy_evict_how()); for mts_plan_traffic() */
	u64 capacity; /* for bins and residents together */
	u64 slice_ns; /* of a full bin, at least */
	u64 min_slice_ns;
	u64 max_pause_ns;
	/* this instead, if it is more, where switches would take more than half of a round */
	u64 stretched_pause_ns;
	u32 overhead; /* per mille of a round that switches may take; 0: slices do not grow */
	u32 processors; /* that a bin is to keep busy; 0 or 1: no matter */
	u64 switch_ns; /* what a switch takes, as measured; 0: not known */
	const struct mts_plan_tie *ties; /* the most important first */
	u32 nties;
};

/* The job belongs to every bin; its demand is taken off the capacity. */
#define MTS_PLAN_RESIDENT (1u << 0)
/* It is resident for its pause limit: a result of mts_plan_limits() (limits.h). */
#define MTS_PLAN_LIMITED (1u << 1)

struct mts_plan_job {
	u64 demand;
	u64 kept_bytes; /* beside that: bytes in memory in every bin, whichever it runs in */
	u64 max_pause_ns; /* its own pause limit, for mts_plan_limits(); 0: none */
	u32 flags; /* MTS_PLAN_* */
	u32 prev_bin; /* as mts_item.prev */
	u32 threads; /* that want to run at a time */
	u32 bin; /* result: index, or MTS_BIN_EVERY for a resident job */
	/* result: the first of the jobs that are packed as one with it; MTS_BIN_NONE: alone */
	u32 group;
};

/* Larger than the capacity: one oversize job, or MTS_PACK_RW's leftovers. */
#define MTS_PLAN_OVERFULL (1u << 0)

struct mts_plan_bin {
	u64 demand;
	u64 slice_ns;
	u64 pause_ns; /* how long its jobs are frozen in a round */
	u32 jobs;
	u32 flags;
	u32 threads; /* sum of its jobs' */
	u32 pad;
};

struct mts_plan {
	u32 nbins;
	u64 capacity; /* of a bin: residents taken off */
	u64 demand; /* of the jobs in bins */
	u64 resident_demand; /* and what stays of others */
	u64 round_ns; /* slices and switches; 0 if nbins < 2 */
	u64 run_ns; /* the slices alone */
	u64 max_pause_ns; /* that of conf's two which slices were made for */
	u64 longest_pause_ns; /* the largest pause_ns; 0 if nbins < 2 */
	u64 swap_out_bytes; /* by mts_plan_traffic(); else 0 */
	u64 swap_in_bytes;
};

/*
 * Plans keep this far away from the user's longest pause: the watchdog thaws a
 * job when half of it is left.
 */
#define MTS_PAUSE_MARGIN_NS 500000000ull

static inline bool mts_bin_has_room(const struct mts_plan_bin *bin, u64 capacity, u64 demand)
{
	return bin->demand <= capacity && demand <= capacity - bin->demand;
}

/* Its sum may not be that of its jobs: then nobody may leave. */
static inline bool mts_bin_is_saturated(const struct mts_plan_bin *bin)
{
	return bin->demand == U64_MAX;
}

static inline void mts_bin_move(struct mts_plan_job *job, struct mts_plan_bin *bins, u32 to)
{
	struct mts_plan_bin *from = &bins[job->bin];

	from->demand -= job->demand;
	from->threads -= job->threads;
	from->jobs--;
	bins[to].demand += job->demand;
	bins[to].threads += job->threads;
	bins[to].jobs++;
	job->bin = to;
}

/* Sum of what the bins can hold: each at most the capacity. */
static inline u64 mts_bins_sum_capped(const struct mts_plan_bin *bins, const struct mts_plan *plan)
{
	u64 sum = 0;
	u32 i;

	for (i = 0; i < plan->nbins; i++)
		sum = mts_add_sat(sum, mts_min(bins[i].demand, plan->capacity));
	return sum;
}

#endif /* _MTS_POLICY_BINS_H */

/* SPDX-License-Identifier: GPL-2.0 */
/* The types of a plan: jobs, bins, and the settings for planning. Pure code (pure.h). */
#ifndef _MTS_POLICY_BINS_H
#define _MTS_POLICY_BINS_H

#include "binpack/binpack.h"
#include "policy/entitled.h"

/*
 * Plans stay this much below the configured longest pause, ns. The watchdog thaws a job when half
 * of this margin is left, so that it does not act on a round that goes as planned, unless groups
 * need longer pauses (mts_plan_pauses_too_long()).
 */
#define MTS_PAUSE_MARGIN_NS 500000000ull

/* Two jobs that wait for each other, as indices into the array of jobs. */
struct mts_plan_tie {
	u32 a;
	u32 b;
};

struct mts_plan_conf {
	u32 pack; /* enum mts_pack */
	u32 evict; /* enum mts_evict, never AUTO (mts_policy_evict_how()); for mts_plan_traffic() */
	u64 capacity; /* bytes, for a bin and the exempt jobs together */
	u64 slice_ns; /* minimum for a full bin */
	u64 min_slice_ns;
	u64 max_pause_ns;
	/*
	 * replaces max_pause_ns if it is larger and switches would take more than half of a round
	 */
	u64 stretched_pause_ns;
	/* replaces both if it is larger, and they shorten slices; 0: it does not */
	u64 longest_pause_ns;
	u32 overhead; /* per mille of a round that switches may take; 0: slices never grow */
	u32 processors; /* that a bin should keep busy; 0 or 1: ignored */
	u64 switch_ns; /* measured duration of a switch; 0: not known */
	/* that it brought in: others take longer in proportion; 0: not known */
	u64 switch_bytes;
	bool switch_overlaps; /* that was a switch of overlapping bins */
	bool faults_are_dear; /* page by page memory comes back much slower than in bulk (disk.h) */
	u64 mib_ns; /* that a MiB takes out and in, by all threads together; 0: not known */
	u64 mib_work_ns; /* processor time of these threads for it; known if mib_ns is */
	/*
	 * Bins that overlap: the plan consists of groups, each of jobs of at most so many bytes
	 * together, or of one larger job. Several groups run at a time. 0: disjoint bins
	 */
	u64 step;
	bool chooses; /* bins overlap only where more gets done so (policy/forecast.h) */
	const struct mts_plan_tie *ties; /* the most important first */
	u32 nties;
};

/* Exempt: the job is part of every bin, and its demand is taken off the capacity. */
#define MTS_PLAN_RESIDENT (1u << 0)
/* Exempt because of its pause limit: set by mts_plan_limits() (limits.h). */
#define MTS_PLAN_LIMITED (1u << 1)

struct mts_plan_job {
	u64 demand;
	u64 kept_bytes; /* bytes outside @demand that stay in memory in every bin */
	u64 max_pause_ns; /* the job's own pause limit, for mts_plan_limits(); 0: none */
	u32 flags; /* MTS_PLAN_* */
	u32 prev_bin; /* as mts_item.prev */
	u32 threads; /* that want to run at the same time */
	u32 entitled; /* entitled.h; 0: MTS_ENTITLED_DEFAULT */
	bool runs; /* it is not frozen now; a group of overlapping bins runs or waits as a whole */
	u32 bin; /* result: index, or MTS_BIN_EVERY for an exempt job */
	/* result: first job of the group that is packed as one; MTS_BIN_NONE: not in a group */
	u32 group;
};

/* Demand exceeds the capacity: one oversize job, or MTS_PACK_RW's leftovers. */
#define MTS_PLAN_OVERFULL (1u << 0)

/**
 * struct mts_plan_bin - a bin; of overlapping bins, a group
 * @slice_ns: of overlapping bins: the time until the next switch, once it has come in
 * @pause_ns: time that its jobs are frozen in a round
 * @threads: sum over its jobs
 * @entitled: likewise; 0: MTS_ENTITLED_DEFAULT for each
 * @runs: it runs, or is switched to
 * @next: it is to run after the next switch
 * @service_ns: the service of its jobs, on average (entitled.h)
 * @due_ns: while it waits: when its pause limit ends; ktime
 */
struct mts_plan_bin {
	u64 demand;
	u64 slice_ns;
	u64 pause_ns;
	u32 jobs;
	u32 flags;
	u32 threads;
	u64 entitled;
	bool runs;
	bool next;
	u64 service_ns;
	u64 due_ns;
};

struct mts_plan {
	u32 nbins;
	bool overlaps; /* the bins are groups, of which several run at a time */
	u64 capacity; /* of a bin: exempt jobs are taken off */
	u64 demand; /* of all jobs in bins */
	u64 resident_demand; /* of exempt jobs, and kept_bytes of the others */
	/*
	 * What the jobs of a bin are entitled to (entitled.h), on average over the memory of all;
	 * 0: the same in all bins
	 */
	u64 entitled;
	u64 round_ns; /* slices and switches; 0 if nbins < 2 */
	/* the sum of the slices; of overlapping bins, the round less the part that moving takes */
	u64 run_ns;
	/* of overlapping bins: a job is in memory for this part of the time, per mille; else 0 */
	u32 in_memory;
	/*
	 * per mille of a round in which nothing runs; of overlapping bins, of the processors, which
	 * move memory. As long as that is not known: conf's overhead, for which slices are made
	 */
	u32 lost;
	/* mts_forecast_turns() by the jobs' threads, as bins and as groups; 0: not planned so */
	u64 work_as_bins;
	u64 work_as_groups;
	u64 max_pause_ns; /* whichever of conf's limits the slices keep */
	bool cut; /* slices are shorter, so that it is kept */
	u64 longest_pause_ns; /* maximum of pause_ns; 0 if nbins < 2 */
	u64 likely_pause_ns; /* of groups, if as many come at once as did; else the same */
	bool breaks_limit; /* a pause is too long, by so much that turns are no answer */
	u64 swap_out_bytes; /* set by mts_plan_traffic(); else 0 */
	u64 swap_in_bytes;
};

static inline u32 mts_job_entitled(const struct mts_plan_job *job)
{
	return job->entitled ? job->entitled : MTS_ENTITLED_DEFAULT;
}

/* What its jobs are entitled to, on average. */
static inline u64 mts_bin_entitled(const struct mts_plan_bin *bin)
{
	return bin->entitled ? div64_u64(bin->entitled, mts_max(bin->jobs, 1)) :
			       MTS_ENTITLED_DEFAULT;
}

/* Are the jobs of each bin entitled to the same, on average? One without jobs does not count. */
static inline bool mts_bins_are_alike(const struct mts_plan_bin *bins, u32 nbins)
{
	u32 i, first = 0;

	while (first + 1 < nbins && !bins[first].jobs)
		first++;
	for (i = first + 1; i < nbins; i++)
		if (bins[i].entitled * bins[first].jobs != bins[first].entitled * bins[i].jobs)
			return false;
	return true;
}

static inline bool mts_bin_has_room(const struct mts_plan_bin *bin, u64 capacity, u64 demand)
{
	return bin->demand <= capacity && demand <= capacity - bin->demand;
}

/* A saturated sum cannot be decremented: no job may leave the bin. */
static inline bool mts_bin_is_saturated(const struct mts_plan_bin *bin)
{
	return bin->demand == U64_MAX;
}

static inline void mts_bin_move(struct mts_plan_job *job, struct mts_plan_bin *bins, u32 to)
{
	struct mts_plan_bin *from = &bins[job->bin];

	from->demand -= job->demand;
	from->threads -= job->threads;
	from->entitled -= mts_job_entitled(job);
	from->jobs--;
	bins[to].demand += job->demand;
	bins[to].threads += job->threads;
	bins[to].entitled += mts_job_entitled(job);
	bins[to].jobs++;
	job->bin = to;
}

/* Sum of the bins' demands, each capped at the capacity. */
static inline u64 mts_bins_sum_capped(const struct mts_plan_bin *bins, const struct mts_plan *plan)
{
	u64 sum = 0;
	u32 i;

	for (i = 0; i < plan->nbins; i++)
		sum = mts_add_sat(sum, mts_min(bins[i].demand, plan->capacity));
	return sum;
}

/* What a bin holds on average, capped likewise. */
static inline u64 mts_bins_mean_capped(const struct mts_plan_bin *bins, const struct mts_plan *plan)
{
	return div64_u64(mts_bins_sum_capped(bins, plan), mts_max(plan->nbins, 1));
}

#endif /* _MTS_POLICY_BINS_H */

/* SPDX-License-Identifier: GPL-2.0 */
/* The plan of one round: bytes, nanoseconds, per mille. Pure code (pure.h). */
#ifndef _MTS_POLICY_PLAN_H
#define _MTS_POLICY_PLAN_H

#include "policy/bins.h"

/*
 * The configuration's part of it; .capacity, .switch_ns, .processors and .ties are left to the
 * caller.
 */
struct mts_plan_conf mts_plan_conf_of(const struct mts_config *config);

/* Bytes of scratch memory that mts_plan_round() and mts_plan_traffic() need for n jobs. */
size_t mts_plan_scratch(u32 n);

/**
 * mts_plan_round() - pack the jobs, give each bin its slice, foretell the round
 * @conf: see there
 * @jobs: n jobs; only .bin and .group are written
 * @n: 0..MTS_MAX_JOBS
 * @bins: room for n bins
 * @plan: result
 * @scratch: mts_plan_scratch(n) bytes, aligned for u64
 *
 * Slices (Reuven & Wiseman section 4.3): a bin runs slice_ns * demand /
 * capacity, at most slice_ns (an oversize job does not hold the others up),
 * at least min_slice_ns. If switches took more than .overhead of the round so,
 * a full bin's slice grows until they do not, up to MTS_SLICE_MAX_NS. If that
 * makes the longest pause (the round less the
 * bin's own slice) exceed max_pause_ns, all slices shrink in proportion, down
 * to min_slice_ns. If that leaves them less of a round than the switches take,
 * they grow until they have half of it, as far as stretched_pause_ns allows.
 * With very many bins, or very long switches, the pause can still exceed that,
 * and .longest_pause_ns says so.
 *
 * Bins are packed by mts_binpack(). Then, where a bin has fewer threads than there are
 * processors, it gets jobs of bins that have more than enough, if it has room for them:
 * processors would idle in its slice otherwise. The number of bins stays as it is.
 *
 * Jobs that are tied share a bin if they fit in one together, and if no bin more is needed
 * for it, nor a fuller one beyond the capacity. If that does not go with all ties, the last
 * half of them is passed over, and so on. Of more than MTS_PLAN_MANY jobs packing takes too
 * long for several attempts: they are packed without ties.
 *
 * For MTS_MAX_JOBS jobs it takes less than five million instructions
 * (tests/unit/test_cost.py).
 *
 * Return: 0, or -EINVAL as mts_binpack().
 */
int mts_plan_round(const struct mts_plan_conf *conf, struct mts_plan_job *jobs, u32 n,
		   struct mts_plan_bin *bins, struct mts_plan *plan, void *scratch);

/**
 * mts_plan_newcomer() - where a job goes that arrives in the middle of a round
 * @bins: this round's bins
 * @nbins: how many
 * @capacity: of a bin
 * @running: index of the bin that runs
 * @demand: the newcomer's, known or expected
 *
 * Return: the running bin if it has room, else the next one in the order of
 * running that has (after the last bin comes the first, whose turn is in the
 * next round), else MTS_BIN_NONE: it waits for the next round (Reuven & Wiseman
 * section 4.1). Bins beyond the capacity have no room, not even for 0 bytes.
 * If @running is no bin, the search begins at bin 0.
 */
u32 mts_plan_newcomer(const struct mts_plan_bin *bins, u32 nbins, u64 capacity, u32 running,
		      u64 demand);

#endif /* _MTS_POLICY_PLAN_H */

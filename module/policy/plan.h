/* SPDX-License-Identifier: GPL-2.0 */
/* The plan of a round: bytes, ns, per mille. Pure code (pure.h). */
#ifndef _MTS_POLICY_PLAN_H
#define _MTS_POLICY_PLAN_H

#include "policy/bins.h"

/*
 * Planning settings from the configuration. The caller sets .capacity, .switch_ns, .processors,
 * .ties and .nties.
 */
struct mts_plan_conf mts_plan_conf_of(const struct mts_config *config);

/* Scratch memory of mts_plan_round() and mts_plan_traffic() for n jobs, bytes. */
size_t mts_plan_scratch(u32 n);

/**
 * mts_plan_round() - pack the jobs, set the slices, and predict the round
 * @conf: settings
 * @jobs: n jobs; only .bin and .group are written
 * @n: 0..MTS_MAX_JOBS
 * @bins: room for n bins
 * @plan: result
 * @scratch: mts_plan_scratch(n) bytes, aligned for u64
 *
 * Packing: mts_binpack(). Then a bin with fewer threads than processors gets jobs from bins with
 * more than enough threads, if it has room for them: otherwise processors would idle in its slice.
 * The number of bins does not change.
 *
 * Ties: jobs that are tied share a bin if they fit into one together, and if this costs neither
 * another bin nor a fuller bin beyond the capacity. If that fails with all ties, the last half of
 * them is dropped, and so on. Above MTS_PLAN_MANY jobs ties are ignored, as several attempts at
 * packing would take too long.
 *
 * Overlapping bins (.step): in place of bins there are groups of jobs (window.h), if more than one
 * bin is needed. The jobs of a group are alike in what they are entitled to (entitled.h). With
 * .chooses only as mts_plan_prefers_groups() says, as disjoint bins are the published scheduler.
 *
 * Slices (Reuven & Wiseman section 4.3): a bin runs slice_ns * demand / capacity. The maximum is
 * slice_ns, so that an oversize job does not delay the others; the minimum is min_slice_ns. A bin
 * whose jobs are entitled to more than the mean of all runs for longer in proportion; to less,
 * shorter. Then:
 *
 * - If switches would exceed .overhead of the round, slices grow until they do not. A full bin's
 *   slice is at most MTS_SLICE_MAX_NS, or as long as the longest pause.
 * - If the longest pause (the round less the bin's own slice) then exceeds max_pause_ns, all slices
 *   shrink in proportion, down to min_slice_ns.
 * - If slices then take less of the round than switches, they grow until they have half of it, as
 *   far as stretched_pause_ns allows.
 * - With very many bins or very long switches the pause can still exceed the limit.
 *   .longest_pause_ns says so.
 *
 * MTS_MAX_JOBS jobs take less than five million instructions (tests/unit/test_cost.py).
 *
 * Return: 0, or -EINVAL as mts_binpack().
 */
int mts_plan_round(const struct mts_plan_conf *conf, struct mts_plan_job *jobs, u32 n,
		   struct mts_plan_bin *bins, struct mts_plan *plan, void *scratch);

/*
 * The same jobs planned as groups and as bins: are the groups better, by the forecast, and do they
 * not break the limit (mts_plan.breaks_limit), if the bins do not?
 */
bool mts_plan_prefers_groups(const struct mts_plan *groups, const struct mts_plan *bins);

/*
 * Do exempt jobs leave so little that no other job fits beside them, though one would fit without
 * them? Then each has a bin of its own, and pages while it runs. @bins, @plan: as planned.
 */
bool mts_plan_exempt_take_all(const struct mts_plan_bin *bins, const struct mts_plan *plan);

#endif /* _MTS_POLICY_PLAN_H */

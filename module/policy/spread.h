/* SPDX-License-Identifier: GPL-2.0 */
/* Evens out what packing leaves uneven. Pure code (pure.h). */
#ifndef _MTS_POLICY_SPREAD_H
#define _MTS_POLICY_SPREAD_H

#include "policy/bins.h"

/**
 * mts_plan_spread() - second step of mts_plan_round(): even out the bins
 * @conf: settings
 * @jobs: n jobs with their bins
 * @n: number of jobs
 * @bins: bins with their sums
 * @plan: number of bins, and capacity
 *
 * Threads: a bin with fewer threads than processors gets jobs from bins with more than enough.
 *
 * Memory: the emptiest bin gets jobs from bins that exceed it by at least a quarter of the
 * capacity. Those bins stay the fuller ones and keep a thread per processor. So every bin has room
 * to grow. Not for MTS_PACK_RW, which follows the paper.
 *
 * Tied jobs do not move. The time is bounded: beyond some thousand jobs not all bins may be looked
 * at.
 */
void mts_plan_spread(const struct mts_plan_conf *conf, struct mts_plan_job *jobs, u32 n,
		     struct mts_plan_bin *bins, const struct mts_plan *plan);

#endif /* _MTS_POLICY_SPREAD_H */

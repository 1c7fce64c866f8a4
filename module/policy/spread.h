/* SPDX-License-Identifier: GPL-2.0 */
/* What packing leaves uneven. Pure code (pure.h). */
#ifndef _MTS_POLICY_SPREAD_H
#define _MTS_POLICY_SPREAD_H

#include "policy/bins.h"

/**
 * mts_plan_spread() - mts_plan_round()'s second step, what packing leaves uneven
 *
 * Jobs' bins and @bins are set. A bin with fewer threads than there are processors gets jobs of
 * others that have more than enough. Then the emptiest bin gets jobs of fuller ones while it is
 * a quarter of the capacity behind, whose bins stay the fuller ones and keep a thread for each
 * processor: every bin has room to grow. That not with MTS_PACK_RW, which is as the paper has
 * it. Jobs that are tied stay where they are. Takes a bounded time: beyond some thousand jobs
 * not all bins may be looked at.
 */
void mts_plan_spread(const struct mts_plan_conf *conf, struct mts_plan_job *jobs, u32 n,
		     struct mts_plan_bin *bins, const struct mts_plan *plan);

#endif /* _MTS_POLICY_SPREAD_H */

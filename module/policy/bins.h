/* SPDX-License-Identifier: GPL-2.0 */
/* What the files that make a plan share; others include policy.h alone. */
#ifndef _MTS_POLICY_BINS_H
#define _MTS_POLICY_BINS_H

#include "policy/policy.h"

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

#endif /* _MTS_POLICY_BINS_H */

/* SPDX-License-Identifier: GPL-2.0 */
/* Jobs that wait for each other. Pure code (pure.h). */
#ifndef _MTS_POLICY_TIES_H
#define _MTS_POLICY_TIES_H

#include "policy/bins.h"

/* More jobs than these are packed once only, without their ties. */
#define MTS_PLAN_MANY 512u

/* A tie is forgotten when it has not been seen for so long. */
#define MTS_TIE_NS 300000000000ull
/* That a job has at most. */
#define MTS_TIES 4u

/* Another job that it was seen to wait for: first, and last; ns; 0: none. */
struct mts_tie {
	u32 id;
	u64 since;
	u64 seen;
};

/* Of one job; all zero: none. */
struct mts_ties {
	struct mts_tie tie[MTS_TIES];
};

/**
 * mts_ties_note() - a job was seen to wait for another one
 * @now: of the look; not 0
 * @is_new: take it down if it was not known, in place of the one that was seen longest ago
 *
 * Return: has this look not seen it before?
 */
bool mts_ties_note(struct mts_ties *ties, u32 id, u64 now, bool is_new);

/* Was it seen to wait for this one @before that time, and is that not forgotten? */
bool mts_ties_known(const struct mts_ties *ties, u32 id, u64 now, u64 before);

/* The job of tie @i below MTS_TIES; 0: there is none. */
u32 mts_ties_id(const struct mts_ties *ties, u32 i, u64 now);

/*
 * mts_plan_round()'s first step: the jobs' groups, none larger than @capacity, and of the
 * first of each, and of each that is alone, what is packed; @sums has room for n.
 */
void mts_plan_join(const struct mts_plan_conf *conf, struct mts_plan_job *jobs, u32 n, u64 capacity,
		   struct mts_item *sums);

#endif /* _MTS_POLICY_TIES_H */

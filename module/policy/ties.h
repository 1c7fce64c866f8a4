/* SPDX-License-Identifier: GPL-2.0 */
/* Ties: jobs that wait for each other. Pure code (pure.h). */
#ifndef _MTS_POLICY_TIES_H
#define _MTS_POLICY_TIES_H

#include "policy/bins.h"

/* Above this number of jobs ties are ignored: honouring them takes several packings. */
#define MTS_PLAN_MANY 512u

/*
 * A tie is forgotten when it has not been seen for 5 minutes, ns. It must outlast the pauses of its
 * jobs; a longer time would keep jobs together that no longer communicate.
 */
#define MTS_TIE_NS 300000000000ull
/* Ties of a job. More would cost memory in each job and time in each look. */
#define MTS_TIES 4u

/* A job that was seen to be waited for: id, first and last time seen, ns. .seen 0: none. */
struct mts_tie {
	u32 id;
	u64 since;
	u64 seen;
};

/* The ties of one job; all zero: none. */
struct mts_ties {
	struct mts_tie tie[MTS_TIES];
};

/**
 * mts_ties_note() - a job was seen to wait for another job
 * @id: the other job
 * @now: time of the look, ns; not 0
 * @is_new: record the tie if it is unknown, in place of the one seen longest ago
 *
 * Return: true if the tie was known, and this look had not seen it before.
 */
bool mts_ties_note(struct mts_ties *ties, u32 id, u64 now, bool is_new);

/* Is there a tie with job @id that was first seen before @before, and is not forgotten? */
bool mts_ties_known(const struct mts_ties *ties, u32 id, u64 now, u64 before);

/* The job of tie @i, below MTS_TIES; 0: none. */
u32 mts_ties_id(const struct mts_ties *ties, u32 i, u64 now);

/*
 * First step of mts_plan_round(): set the jobs' groups, none larger than @capacity. Sets an item of
 * @sums for each first job of a group, and for each job without a group; @sums has room for n.
 */
void mts_plan_join(const struct mts_plan_conf *conf, struct mts_plan_job *jobs, u32 n, u64 capacity,
		   struct mts_item *sums);

#endif /* _MTS_POLICY_TIES_H */

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Jobs that have a pause limit of their own (struct mts_job_pause): a plan keeps it. Pure code
 * (pure.h).
 */
#ifndef _MTS_POLICY_LIMITS_H
#define _MTS_POLICY_LIMITS_H

#include "policy/bins.h"

/**
 * struct mts_limits - what a plan does for jobs with limits of their own
 * @room: in: bytes that they may hold together as residents, beside what stays of them in memory in
 *	every bin; out: what is left of it
 * @residents: out: jobs that are resident for their limit, flagged MTS_PLAN_LIMITED
 * @by: out: index of the job for which the slices are shorter; MTS_BIN_NONE: of none
 */
struct mts_limits {
	u64 room;
	u32 residents;
	u32 by;
};

/**
 * mts_plan_limits() - change a plan so that each job's own limit is kept
 * @conf, @jobs, @n, @bins, @plan, @scratch: of mts_plan_round(), which has made the plan
 * @limits: .room is set
 *
 * A limit is kept if the pause of the job's bin is shorter by MTS_PAUSE_MARGIN_NS or more. Jobs
 * whose limit is not kept become resident, the one with the shortest limit first, of equal ones
 * the first, and the others are planned anew. For the first one that has no room all slices
 * become shorter, which keeps the limits of those behind it as well. If even the shortest slices
 * do not keep its limit, shorter slices would help nobody: the job is resident beyond the room,
 * as if it was pinned, and the slices stay as they are.
 *
 * .flags of the jobs that become resident are changed: MTS_PLAN_RESIDENT | MTS_PLAN_LIMITED.
 * There is a bound on how often it plans anew. A limit that is not kept then is the watchdog's.
 *
 * Return: as mts_plan_round().
 */
int mts_plan_limits(const struct mts_plan_conf *conf, struct mts_plan_job *jobs, u32 n,
		    struct mts_plan_bin *bins, struct mts_plan *plan, struct mts_limits *limits,
		    void *scratch);

/**
 * mts_plan_shorten() - slices anew, as short as a job's own limit needs them
 * @job: of the plan, in a bin; has a limit
 *
 * Return: is the limit kept? If not, the slices are the shortest.
 */
bool mts_plan_shorten(const struct mts_plan_conf *conf, const struct mts_plan_job *job,
		      struct mts_plan_bin *bins, struct mts_plan *plan);

/* Does this pause, as planned, keep a limit? 0: there is none. */
bool mts_limit_allows(u64 limit_ns, u64 pause_ns);

#endif /* _MTS_POLICY_LIMITS_H */

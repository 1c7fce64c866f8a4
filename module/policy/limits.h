/* SPDX-License-Identifier: GPL-2.0 */
/* Keeps the pause limits of single jobs (struct mts_job_pause) in a plan. Pure code (pure.h). */
#ifndef _MTS_POLICY_LIMITS_H
#define _MTS_POLICY_LIMITS_H

#include "policy/bins.h"

/**
 * struct mts_limits - what a plan does for jobs with pause limits of their own
 * @room: in: bytes that these jobs may hold as exempt jobs, beside their kept_bytes; out: the rest
 * @residents: out: number of jobs exempted for their limit, flagged MTS_PLAN_LIMITED
 * @by: out: index of the job for whose limit the slices are shorter; MTS_BIN_NONE: none
 * @beyond: out: no slices keep all limits: jobs are exempt beyond the room, or frozen for longer
 */
struct mts_limits {
	u64 room;
	u32 residents;
	u32 by;
	bool beyond;
};

/**
 * mts_plan_limits() - change a plan so that it keeps each job's own pause limit
 * @conf: as for mts_plan_round(), which has made the plan
 * @jobs: the same
 * @n: the same
 * @bins: the same
 * @plan: the same
 * @limits: .room is set
 * @scratch: as for mts_plan_round()
 *
 * A limit is kept if the pause of the job's bin is shorter by at least MTS_PAUSE_MARGIN_NS. Jobs
 * whose limit is broken become exempt, the shortest limit first, equal ones in order of index, and
 * the other jobs are planned again.
 *
 * For the first job that does not fit into the room all slices are shortened, which keeps the
 * longer limits as well. If even minimal slices break the limit, shorter slices help no job. Then
 * the jobs whose limits are still broken become exempt beyond the room, as if they were pinned, and
 * slices keep their length.
 *
 * Jobs that become exempt get MTS_PLAN_RESIDENT | MTS_PLAN_LIMITED. The number of passes is
 * bounded. The watchdog enforces a limit that is still broken after that.
 *
 * Return: as mts_plan_round().
 */
int mts_plan_limits(const struct mts_plan_conf *conf, struct mts_plan_job *jobs, u32 n,
		    struct mts_plan_bin *bins, struct mts_plan *plan, struct mts_limits *limits,
		    void *scratch);

/**
 * mts_plan_shorten() - shorten all slices as far as one job's own limit needs
 * @job: in a bin of the plan, with a limit
 *
 * Return: is the limit kept? If not, the slices are at their minimum.
 */
bool mts_plan_shorten(const struct mts_plan_conf *conf, const struct mts_plan_job *job,
		      struct mts_plan_bin *bins, struct mts_plan *plan);

/* Does a planned pause keep a limit? Limit 0: always. */
bool mts_limit_allows(u64 limit_ns, u64 pause_ns);

#endif /* _MTS_POLICY_LIMITS_H */

// SPDX-License-Identifier: GPL-2.0
#include "jobs/gone.h"

#include "events/stats.h"

/* The latest; under mts_lock. */
static struct mts_gone_info gone[MTS_GONE_MAX];
static u64 noted; /* number of jobs noted since load; the latest is at (noted - 1) % MTS_GONE_MAX */

static bool has_moved(const struct mts_job *job)
{
	return READ_ONCE(job->moved_to);
}

static void tell(const struct mts_job *job)
{
	if (has_moved(job)) {
		mts_stats_inc(jobs_moved);
		pr_info_ratelimited("job %s (%u) has ended: its last process has moved away\n",
				    job->name, job->id);
	} else {
		mts_stats_inc(jobs_lapsed);
		pr_info_ratelimited("job %s (%u) has ended: its cgroup has become empty\n",
				    job->name, job->id);
	}
}

void mts_gone_note(struct mts_job *job)
{
	lockdep_assert_held(&mts_lock);
	/* The cgroup of a job that mts has made goes with the last process: the usual end. */
	if (job->created && !has_moved(job))
		return;
	tell(job);
	gone[noted % MTS_GONE_MAX] = (struct mts_gone_info){
		.id = job->id,
		.why = has_moved(job) ? MTS_GONE_MOVED : MTS_GONE_EMPTY,
		.cgroup_id = cgroup_ino(job->cgrp),
		.moved_to = READ_ONCE(job->moved_to),
		.gone_ns = ktime_get_ns(),
	};
	strscpy_pad(gone[noted % MTS_GONE_MAX].name, job->name, MTS_NAME_SIZE);
	noted++;
}

u32 mts_gone_list(struct mts_gone_info *infos, u32 n)
{
	u32 i, total = min_t(u64, noted, MTS_GONE_MAX);

	lockdep_assert_held(&mts_lock);
	for (i = 0; i < min(n, total); i++)
		infos[i] = gone[(noted - 1 - i) % MTS_GONE_MAX];
	return total;
}

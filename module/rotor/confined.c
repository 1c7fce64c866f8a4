// SPDX-License-Identifier: GPL-2.0
#include "rotor/confined.h"

#include "context.h"
#include "jobs/ops.h"
#include "policy/demand.h"
#include "rotor/state.h"

/* Does it need more than the limits allow it alone? */
static bool exceeds_its_limit(const struct mts_job *job)
{
	return mts_policy_demand(&job->usage) - job->unused > job->limits.most;
}

static bool is_confined(const struct mts_job *job, const struct mts_shared_limits *shared)
{
	return job->limits.reached || exceeds_its_limit(job) ||
	       mts_shared_cuts(shared, job->limit_above);
}

static void note(struct mts_job *job, bool confined)
{
	/* What it swapped in before says nothing of now. */
	if (confined && !job->confined)
		job->refaults = job->usage.refaults;
	WRITE_ONCE(job->confined, confined);
}

void mts_confined_update(void)
{
	static struct mts_shared_limits shared; /* in the rotor's thread alone */
	u32 i;

	lockdep_assert_held(&mts_lock);
	shared.n = 0;
	for (i = 0; i < mts_rotor.roster.n; i++) {
		struct mts_job *job = mts_rotor.roster.jobs[i];

		job->limit_above = mts_shared_add(&shared, &job->limits, job->demand);
	}
	mts_rotor.confining.excess = mts_shared_settle(&shared);
	for (i = 0; i < mts_rotor.roster.n; i++) {
		struct mts_job *job = mts_rotor.roster.jobs[i];

		/* Of a frozen job the last look at it counts, when it ran and had its memory. */
		if (!READ_ONCE(job->frozen))
			note(job, is_confined(job, &shared));
	}
}

u64 mts_confined_excess(void)
{
	return mts_rotor.confining.excess;
}

u64 mts_confined_swapins(void)
{
	struct mts_usage usage;
	u64 pages = 0;
	u32 i;

	for (i = 0; i < mts_rotor.roster.n; i++) {
		struct mts_job *job = mts_rotor.roster.jobs[i];

		if (!job->confined || READ_ONCE(job->frozen) || mts_ops->usage(job, &usage))
			continue;
		pages = mts_add_sat(pages, mts_sub_floor(usage.refaults, job->refaults));
		job->refaults = usage.refaults;
	}
	return pages;
}

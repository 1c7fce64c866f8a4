// SPDX-License-Identifier: GPL-2.0
#include "rotor/protection.h"

#include "context.h"
#include "events/promise.h"
#include "jobs/interactive.h"
#include "jobs/protect.h"
#include "rotor/roster.h"
#include "rotor/state.h"

/*
 * More than the holder has: the kernel scans a cgroup that exceeds memory.low by one page, and a
 * change of an eighth is not written (protect.c).
 */
#define HOLDER_PART 8u
/* The others keep this part: where nothing can be reclaimed, the kernel ignores protection. */
#define OTHERS_PART 16u

/* Is the job in every bin, or, without turns, would it be? */
static bool is_kept(const struct mts_job *job)
{
	return mts_rotor.round.nbins ? job->bin == MTS_BIN_EVERY : mts_roster_is_resident(job);
}

/* What all jobs may have. */
static u64 all_memory(void)
{
	return mts_add_sat(mts_rotor.round.plan.capacity, mts_rotor.round.plan.resident_demand);
}

/* What the holder keeps: what it needs and somewhat more, if it leaves the others a part. */
static u64 holder_bytes(const struct mts_job *job)
{
	u64 most = all_memory();

	return min(mts_add_sat(job->demand, job->demand / HOLDER_PART), most - most / OTHERS_PART);
}

void mts_protection_update(bool wanted)
{
	u64 most = all_memory();
	u32 i;

	for (i = 0; i < mts_rotor.roster.n; i++) {
		struct mts_job *job = mts_rotor.roster.jobs[i];
		bool kept = wanted && is_kept(job);
		bool used = kept && mts_job_is_interactive(job);
		bool pinned = kept && (job->flags & MTS_JOB_PIN || job->limited);
		bool always = pinned || (wanted && (job->realtime || job->kept_bytes));
		u64 low = 0;

		if (used || always)
			low = min(job->demand, most);
		else if (wanted && job->holder)
			low = holder_bytes(job);
		mts_promise_step("memory is protected");
		mts_protect(job, low, used && !always ? mts_rotor.round.nbins : 1);
	}
}

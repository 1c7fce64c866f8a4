// SPDX-License-Identifier: GPL-2.0
#include "rotor/spill.h"

#include "context.h"
#include "events/stats.h"
#include "rotor/bring.h"
#include "rotor/evict.h"
#include "rotor/freeze.h"
#include "rotor/roster.h"
#include "rotor/round.h"
#include "rotor/state.h"

/* 1/PART of the capacity is evicted at a time; where that is much SPILL_MOST_NS ends it. */
#define PART 8u
/* A spill aims to freeze the jobs of bins for no longer than this, ns, or to the slice's end. */
#define SPILL_MOST_NS (1 * (u64)NSEC_PER_SEC)

static void move(struct mts_job *job, u32 to)
{
	mutex_lock(&mts_lock);
	mts_round_move(job, to, job->planned_bytes);
	mts_jobs_changed();
	mutex_unlock(&mts_lock);
}

static void send_away(u64 deadline)
{
	struct mts_job *job;
	u32 n;

	/* The largest job makes most room. A job that is alone in its bin stays. */
	job = mts_roster_largest(mts_rotor.phase.running, &n);
	if (n < 2)
		return;
	move(job, (mts_rotor.phase.running + mts_rotor.round.nbins - 1) % mts_rotor.round.nbins);
	mts_bring_note_use(false);
	mts_evict_job(job, U64_MAX, deadline);
	mts_stats_inc(spills);
}

int mts_spill(void)
{
	u64 began = ktime_get_ns(), want = mts_rotor.round.plan.capacity / PART;
	/*
	 * All jobs are frozen meanwhile, and a disk with heads needs minutes for an eighth of 64
	 * GiB.
	 */
	u64 deadline = min(began + SPILL_MOST_NS, mts_rotor.phase.slice_ends);
	int err;

	/* Capacity is 0: nothing to spill. */
	if (!want)
		return 0;
	err = mts_freeze_stop(deadline);
	if (err)
		return err;
	began = ktime_get_ns();
	set_user_nice(current, 0);
	if (mts_evict_frozen(want, deadline) < want / 2 && mts_rotor_should_run())
		send_away(deadline);
	set_user_nice(current, MIN_NICE);
	mts_stats_add(evict_ns, ktime_get_ns() - began);
	return mts_freeze_apply_bins(mts_rotor.phase.slice_ends);
}

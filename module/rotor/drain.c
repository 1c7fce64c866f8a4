// SPDX-License-Identifier: GPL-2.0
#include "rotor/drain.h"

#include "context.h"
#include "events/promise.h"
#include "jobs/freezer.h"
#include "policy/bins.h"
#include "rotor/bring.h"
#include "rotor/cut.h"
#include "rotor/freeze.h"
#include "rotor/state.h"

/* When turns end they wait no longer for what is in swap, where faults are about as fast. */
#define BRING_ALL_NS (1 * (u64)NSEC_PER_SEC)

/* Of the frozen jobs, the one whose pause limit comes first; NULL: none stays frozen. */
static struct mts_job *first_to_run(void)
{
	struct mts_job *found = NULL;
	u64 left, least = U64_MAX;
	u32 i;

	for (i = 0; i < mts_rotor.roster.n; i++) {
		struct mts_job *job = mts_rotor.roster.jobs[i];

		if (!READ_ONCE(job->frozen))
			continue;
		if (!mts_freeze_is_for(job)) {
			mts_freezer_thaw(job);
			continue;
		}
		left = mts_cut_until(job, 0, mts_rotor.planning.max_pause_ns);
		if (left < least) {
			least = left;
			found = job;
		}
	}
	return found;
}

/*
 * From a slow disk, faults take far longer than a bring-back in order. So each job stays frozen
 * until all of its memory is back, within its pause limit; jobs before it run meanwhile. Return:
 * jobs are still frozen.
 */
static bool bring_each(void)
{
	u64 now = ktime_get_ns(), pass_ends = now + BRING_ALL_NS, left;
	struct mts_job *job;

	for (job = first_to_run(); job; job = first_to_run()) {
		if (now >= pass_ends)
			return true;
		left = mts_cut_until(job, now + MTS_PAUSE_MARGIN_NS,
				     mts_rotor.planning.max_pause_ns);
		if (left)
			mts_bring_job(job, now + left);
		/* As far as it has come; the rest when it is known what it is about. */
		if (mts_rotor_should_abort())
			return true;
		mts_promise_step("jobs are thawed");
		mts_freezer_thaw(job);
		/* It resists: it is thawed with the others. */
		if (READ_ONCE(job->frozen))
			return false;
		now = ktime_get_ns();
	}
	return false;
}

bool mts_drain(void)
{
	struct mts_move move = mts_bring_frozen();

	if (!move.n)
		return false;
	mutex_lock(&mts_lock);
	mts_state_begin_switch(MTS_BIN_NONE);
	mutex_unlock(&mts_lock);
	if (mts_rotor_disk_is_slow())
		return bring_each();
	mts_bring_until(&move, ktime_get_ns() + BRING_ALL_NS);
	return false;
}

// SPDX-License-Identifier: GPL-2.0
#include "rotor/cut.h"

#include "context.h"
#include "policy/bins.h"
#include "policy/slices.h"
#include "rotor/roster.h"
#include "rotor/state.h"

/* From @now until it will have been frozen for @max_pause, or for its own limit. */
u64 mts_cut_until(const struct mts_job *job, u64 now, u64 max_pause)
{
	return mts_sub_floor(READ_ONCE(job->frozen_since) + mts_job_pause_limit(job, max_pause),
			     now);
}

/*
 * How long each bin may still wait for its switch to begin, in ns, so that no job is frozen for
 * longer than @max_pause or its own limit. U64_MAX: no job of the bin is frozen.
 *
 * Bins differ, so the switch may take half as long again as the slowest of late. At most half of
 * what is left is kept for that: else jobs would hardly run where two switches take most of a
 * pause.
 */
static void find_left(u64 *left, u64 now, u64 max_pause)
{
	u64 slowest = mts_rotor.costs.switches.slowest_ns;
	u64 room;
	u32 i;

	for (i = 0; i < mts_rotor.round.nbins; i++)
		left[i] = U64_MAX;
	for (i = 0; i < mts_rotor.roster.n; i++) {
		const struct mts_job *job = mts_rotor.roster.jobs[i];

		if (job->bin >= mts_rotor.round.nbins || !READ_ONCE(job->frozen))
			continue;
		room = mts_cut_until(job, now + slowest + MTS_PAUSE_MARGIN_NS, max_pause);
		left[job->bin] = min(left[job->bin], room - min(slowest, room) / 2);
	}
}

u64 mts_cut_longest(u64 now, u64 max_pause)
{
	u64 *left = mts_rotor.scratch;

	find_left(left, now, max_pause);
	return mts_plan_cut(mts_rotor.round.bins, mts_rotor.phase.running, mts_rotor.turns.order,
			    mts_rotor.turns.n, left, mts_rotor.costs.switches.slowest_ns);
}

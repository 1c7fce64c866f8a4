// SPDX-License-Identifier: GPL-2.0
#include "rotor/cut.h"

#include "context.h"
#include "policy/bins.h"
#include "policy/slices.h"
#include "rotor/overlap.h"
#include "rotor/roster.h"
#include "rotor/state.h"

/* From @now until it will have been frozen for @max_pause, or for its own limit. */
u64 mts_cut_until(const struct mts_job *job, u64 now, u64 max_pause)
{
	return mts_sub_floor(READ_ONCE(job->frozen_since) + mts_job_pause_limit(job, max_pause),
			     now);
}

/* The bin whose turn is next; the running one, if no other has jobs. */
static u32 next_bin(void)
{
	const struct mts_turns *turns = &mts_rotor.turns;
	u32 i;

	for (i = 0; i < turns->n; i++)
		if (mts_rotor.round.bins[turns->order[i]].jobs)
			return turns->order[i];
	return mts_rotor.phase.running;
}

/*
 * How long each bin may still wait for its switch to begin, in ns, so that no job is frozen for
 * longer than @max_pause or its own limit. U64_MAX: no job of the bin is frozen.
 *
 * Bins differ, so the switch may take half as long again as the slowest of late. An overlapped
 * switch shares the processors with the jobs that run, so the first one may take twice as long. Its
 * jobs come back one after the other.
 */
static void find_left(u64 *left, u64 now, u64 max_pause)
{
	u32 i, n = 0, comes = 0, next = next_bin();
	u64 back;
	bool passes = mts_overlap_is_for(next);
	const struct mts_switches *switches = &mts_rotor.costs.switches;
	u64 more = switches->slowest_ns / (passes && !switches->saved_ns ? 1 : 2);
	u64 takes = switches->slowest_ns + more + MTS_PAUSE_MARGIN_NS;

	for (i = 0; i < mts_rotor.round.nbins; i++)
		left[i] = U64_MAX;
	for (i = 0; i < mts_rotor.roster.n; i++) {
		const struct mts_job *job = mts_rotor.roster.jobs[i];

		if (job->bin < mts_rotor.round.nbins && job->bin != next && READ_ONCE(job->frozen))
			left[job->bin] =
				min(left[job->bin], mts_cut_until(job, now + takes, max_pause));
	}
	for (i = 0; i < mts_rotor.roster.n; i++)
		n += mts_rotor.roster.jobs[i]->bin == next &&
		     READ_ONCE(mts_rotor.roster.jobs[i]->frozen);
	for (i = 0; i < mts_rotor.roster.n; i++) {
		const struct mts_job *job = mts_rotor.roster.jobs[i];

		if (job->bin != next || !READ_ONCE(job->frozen))
			continue;
		comes++;
		back = passes ? div_u64(takes * min(comes, n), max(n, 1U)) : takes;
		left[next] = min(left[next], mts_cut_until(job, now + back, max_pause));
	}
}

u64 mts_cut_longest(u64 now, u64 max_pause)
{
	u64 *left = mts_rotor.scratch;

	find_left(left, now, max_pause);
	return mts_plan_cut(mts_rotor.round.bins, mts_rotor.phase.running, mts_rotor.turns.order,
			    mts_rotor.turns.n, left, mts_rotor.costs.switches.slowest_ns);
}

// SPDX-License-Identifier: GPL-2.0
#include "rotor/switch.h"

#include "context.h"
#include "events/stats.h"
#include "events/trace.h"
#include "events/words.h"
#include "rotor/bring.h"
#include "rotor/costs.h"
#include "rotor/evict.h"
#include "rotor/freeze.h"
#include "rotor/roster.h"
#include "rotor/round.h"
#include "rotor/state.h"

/* What leaves goes, then the other comes. */
static int move_memory(u64 *last, struct mts_switch_parts *parts)
{
	mts_bring_note_use();
	mts_evict_for_running();
	parts->evict_ns = mts_freeze_lap(last);
	if (!mts_rotor_should_run())
		return -ECANCELED;
	mts_bring_running();
	parts->bring_back_ns = mts_freeze_lap(last);
	return 0;
}

static int exchange(u32 from, struct mts_switch_parts *parts)
{
	u64 last = ktime_get_ns();
	int err;

	/*
	 * When turns begin, freeze the first bin, too: it is in memory only in part, and comes back
	 * like any other.
	 */
	err = from == MTS_BIN_NONE ? mts_freeze_stop(U64_MAX) : mts_freeze_others(U64_MAX);
	parts->freeze_ns = mts_freeze_lap(&last);
	if (err)
		return err;
	/*
	 * Work of the jobs', not of the host's: a shell that runs beside it gets its share. Where
	 * bins overlap, many jobs run meanwhile. With an equal share beside them it would take as
	 * many times as long, and leaves the other processors to the shell.
	 */
	if (!mts_rotor.round.plan.overlaps || num_online_cpus() < 2)
		set_user_nice(current, 0);
	err = move_memory(&last, parts);
	set_user_nice(current, MIN_NICE);
	if (!err)
		mts_freeze_thaw_running();
	return err;
}

/* Demand of the frozen jobs that are to run after the switch, and have not run before it; bytes. */
static u64 incoming(void)
{
	const struct mts_round *round = &mts_rotor.round;
	u64 sum = 0;
	u32 i;

	lockdep_assert_held(&mts_lock);
	for (i = 0; i < mts_rotor.roster.n; i++) {
		const struct mts_job *job = mts_rotor.roster.jobs[i];

		if (job->bin < round->nbins && round->bins[job->bin].next &&
		    !round->bins[job->bin].runs && READ_ONCE(job->frozen))
			sum = mts_add_sat(sum, mts_roster_bin_bytes(job));
	}
	return min(sum, round->plan.capacity);
}

int mts_switch_to(u32 to)
{
	u64 began = ktime_get_ns(), lent = mts_rotor.bring.urgent_ns, took, bytes;
	struct mts_switch_parts parts = { 0 };
	u32 from = mts_rotor.phase.running;
	int err;

	mutex_lock(&mts_lock);
	mts_state_begin_switch(to);
	bytes = incoming();
	mts_round_switch();
	mutex_unlock(&mts_lock);
	trace_mts_switch_begin(mts_rotor.phase.round, from, to);
	mts_stats_inc(switches);
	if (mts_rotor.round.plan.overlaps)
		mts_stats_inc(passes);
	err = exchange(from, &parts);
	took = ktime_get_ns() - began;
	trace_mts_switch_end(mts_rotor.phase.round, from, to, took, &parts, err);
	if (!err)
		mts_costs_note(took - (mts_rotor.bring.urgent_ns - lent), bytes);
	return err;
}

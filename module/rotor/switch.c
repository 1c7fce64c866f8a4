// SPDX-License-Identifier: GPL-2.0
#include "rotor/switch.h"

#include "context.h"
#include "events/stats.h"
#include "events/trace.h"
#include "events/words.h"
#include "memory/workers.h"
#include "policy/evict.h"
#include "policy/switches.h"
#include "rotor/bring.h"
#include "rotor/evict.h"
#include "rotor/freeze.h"
#include "rotor/onset.h"
#include "rotor/overlap.h"
#include "rotor/state.h"

/* A switch that moves less tells nothing of the disk. */
#define TELLING_BYTES (1024ull << 10)

/* To MTS_BIN_NONE: turns are over. */
void mts_switch_begin(u32 to)
{
	mutex_lock(&mts_lock);
	mts_rotor.state = MTS_STATE_SWITCHING;
	mts_rotor.running = to;
	mts_jobs_changed();
	mutex_unlock(&mts_lock);
}

/* One bin goes, then the other comes. */
static int exchange(u32 to, u64 *last, struct mts_switch_parts *parts)
{
	u64 least = 0;

	mts_bring_note_use();
	/* In the first round of an onset: the jobs are near the end of the memory, and grow on. */
	if (mts_rotor.in_onset)
		least = mts_sub_floor(mts_rotor.plan.capacity / 8, mts_onset_planned());
	mts_evict_for(to, least);
	parts->evict_ns = mts_freeze_lap(last);
	if (!mts_rotor_should_run())
		return -ECANCELED;
	mts_bring_bin(to, 0, mts_rotor.roster_size);
	parts->bring_back_ns = mts_freeze_lap(last);
	return 0;
}

static int switch_to_bin(u32 from, u32 to, struct mts_switch_parts *parts)
{
	u64 last = ktime_get_ns();
	int err;

	/* When turns begin the first bin is in memory in part: it comes back like any other. */
	err = mts_freeze_others(from == MTS_BIN_NONE ? MTS_BIN_NONE : to, U64_MAX);
	parts->freeze_ns = mts_freeze_lap(&last);
	if (err)
		return err;
	/* Work of the jobs', not of the host's: a shell that runs beside it gets its share. */
	set_user_nice(current, 0);
	err = exchange(to, &last, parts);
	set_user_nice(current, MIN_NICE);
	if (!err)
		mts_freeze_thaw_bin(to);
	return err;
}

/* Evicted and brought back since load. */
static u64 moved(void)
{
	return mts_stats_read(evict_got) + (mts_stats_read(brought_back) << PAGE_SHIFT);
}

static void note_switch(u64 took, u64 busy, u64 bytes, bool passed)
{
	/* Who passes stands still for one switch of the two around its pause, but for one bin. */
	u64 adds = passed ? took - div_u64(took, mts_rotor.nbins) : took;

	mts_switches_note(&mts_rotor.switches, took, adds);
	mts_rotor.switches_wait = busy < took / 2;
	if (bytes >= TELLING_BYTES)
		mts_rotor.slow_swap =
			mts_rotor.switches_wait && bytes < MTS_SLOW_BYTES_PER_US * (took / 1000);
	mts_rotor.passed = passed;
}

int mts_switch_to(u32 to)
{
	u64 began = ktime_get_ns(), busy = mts_workers_busy(), bytes = moved(), took;
	u64 lent = mts_rotor.urgent_ns;
	struct mts_switch_parts parts = { 0 };
	u32 from = mts_rotor.running;
	bool passes = from != MTS_BIN_NONE && mts_overlap_is_for(to);
	int err;

	mts_switch_begin(to);
	trace_mts_switch_begin(mts_rotor.round, from, to);
	mts_stats_inc(switches);
	err = passes ? mts_overlap_switch(to, &parts) : switch_to_bin(from, to, &parts);
	took = ktime_get_ns() - began;
	trace_mts_switch_end(mts_rotor.round, from, to, took, &parts, err);
	if (!err)
		note_switch(took - (mts_rotor.urgent_ns - lent), mts_workers_busy() - busy,
			    moved() - bytes, passes);
	return err;
}

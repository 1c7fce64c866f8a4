// SPDX-License-Identifier: GPL-2.0
#include "rotor/slice.h"

#include "context.h"
#include "events/promise.h"
#include "events/stats.h"
#include "events/trace.h"
#include "events/wake.h"
#include "events/words.h"
#include "jobs/enrol.h"
#include "jobs/freezer.h"
#include "jobs/ops.h"
#include "jobs/tasks.h"
#include "jobs/waits.h"
#include "memory/memory.h"
#include "policy/bins.h"
#include "rotor/bring.h"
#include "rotor/cut.h"
#include "rotor/fit.h"
#include "rotor/freeze.h"
#include "rotor/lend.h"
#include "rotor/newcomers.h"
#include "rotor/plan.h"
#include "rotor/protection.h"
#include "rotor/roster.h"
#include "rotor/round.h"
#include "rotor/state.h"
#include "sched_hooks/hooks.h"

/* While a slice runs the rotor looks this often whether anything can run. */
#define TICK_NS (50 * NSEC_PER_MSEC)
/* And this often whether the bin still fits, and the protected jobs are protected. */
#define GROWTH_NS (1 * (u64)NSEC_PER_SEC)
/* And which tasks wait for a frozen job: first after this time in a slice, then this often. */
#define WAITS_FIRST_NS (100 * NSEC_PER_MSEC)
#define WAITS_NS (1 * (u64)NSEC_PER_SEC)

static unsigned int debug_stall_ms;
module_param(debug_stall_ms, uint, 0600);
MODULE_PARM_DESC(debug_stall_ms,
		 "for tests of the watchdog: the rotor hangs this long in its next slice");

static void stall_for_test(void)
{
	unsigned int ms = xchg(&debug_stall_ms, 0);

	if (ms)
		msleep(ms);
}

void mts_slice_look_at_waits(void)
{
	mts_promise_step("tasks are looked at");
	mts_waits_look(mts_rotor.planning.planned);
}

/*
 * No job is frozen, and no other bin has any. A job that the watchdog has thawed is not frozen, but
 * keeps its bin: its turn is still to come.
 */
static bool is_alone(void)
{
	u32 i;

	if (mts_freezer_count())
		return false;
	for (i = 0; i < mts_rotor.roster.n; i++)
		if (mts_rotor.roster.jobs[i]->bin < mts_rotor.round.nbins &&
		    !mts_rotor.roster.jobs[i]->runs)
			return false;
	return true;
}

static bool can_run(void)
{
	u32 i;

	for (i = 0; i < mts_rotor.roster.n; i++) {
		int awake;

		if (!mts_rotor.roster.jobs[i]->runs)
			continue;
		awake = mts_ops->awake(mts_rotor.roster.jobs[i]);
		if (awake < 0)
			return mts_tasks_running_can_run();
		if (awake)
			return true;
	}
	return false;
}

/* Jobs came or went: give newcomers a bin. Is there still something to rotate? */
static enum mts_slice_end jobs_changed(void)
{
	mts_job_reap(mts_promise_step);
	mts_roster_muster();
	mts_newcomers_place();
	if (mts_freeze_apply_bins(mts_rotor.phase.slice_ends))
		return MTS_SLICE_STOP;
	if (!mts_newcomers_take_in())
		return MTS_SLICE_OUTGROWN;
	mts_protection_update(true);
	if (is_alone())
		return MTS_SLICE_ALONE;
	if (mts_fit_all())
		return MTS_SLICE_FITS;
	return mts_round_running().jobs ? MTS_SLICE_GOES_ON : MTS_SLICE_EMPTY;
}

void mts_slice_close(u32 bin, enum mts_slice_end why)
{
	u64 ran = ktime_get_ns() - mts_rotor.phase.slice_began;
	/* Reclaim clears the processor's marks, and keeps jobs waiting. */
	bool reclaimed = mts_hooks_last_reclaim() > mts_rotor.phase.slice_began;
	/*
	 * A slice that ended early, or took less than half a switch, tells little, too: a job
	 * touches only part of its working set in it, and bins that are packed by that would not
	 * hold their jobs.
	 */
	u64 least = max(mts_rotor.round.bins[bin].slice_ns, mts_rotor.costs.switches.mean_ns / 2);
	struct mts_job *job;
	u32 i;

	mutex_lock(&mts_lock);
	for (i = 0; i < mts_rotor.roster.n; i++) {
		job = mts_rotor.roster.jobs[i];
		if (!job->runs)
			continue;
		job->run_ns += ran;
		job->slices++;
		mts_roster_count_threads(job);
		job->turn_ns += ran;
		job->turn_was_short |= reclaimed;
		job->slice_tells_little = job->turn_was_short || job->turn_ns < least;
		WRITE_ONCE(job->overdue, false);
	}
	mts_state_end_slice();
	mutex_unlock(&mts_lock);
	trace_mts_slice_end(mts_rotor.phase.round, bin, why, mts_rotor.round.bins[bin].slice_ns,
			    ran);
	mts_stats_add(slice_ns, ran);
}

static void open_slice(u32 bin)
{
	u64 now = ktime_get_ns(), longest, least;
	const struct mts_plan_bin *plan = &mts_rotor.round.bins[bin];

	mutex_lock(&mts_lock);
	least = mts_rotor_config()->min_slice_ns;
	mutex_unlock(&mts_lock);
	longest = mts_cut_longest(now, mts_rotor.planning.max_pause_ns);
	if (longest < plan->slice_ns && mts_rotor_plan_slices())
		longest = mts_cut_longest(now, mts_rotor.planning.max_pause_ns);
	mutex_lock(&mts_lock);
	mts_round_set_slice(bin, min(plan->slice_ns, max(longest, least)));
	mts_state_begin_slice(now, plan->slice_ns);
	mutex_unlock(&mts_lock);
	trace_mts_slice_begin(mts_rotor.phase.round, bin, &mts_rotor.round.bins[bin]);
}

/*
 * A bin that sleeps gives up its slice (Reuven & Wiseman section 4.1), but not
 * before it has had a fair start, which grows while bin after bin sleeps: a
 * host where all is quiet must not be kept busy with switches.
 */
static u64 patience(u32 early_in_a_row)
{
	u64 least;

	mutex_lock(&mts_lock);
	least = mts_rotor_config()->min_slice_ns;
	mutex_unlock(&mts_lock);
	return least << min(early_in_a_row, 16U);
}

/*
 * Another process may have reset what protects a job (protect.c). A slice may be as long as a
 * pause: do not wait for the next one while the host reclaims.
 */
static void look_at_protection(u64 now)
{
	if (mts_hooks_last_reclaim() + GROWTH_NS >= now)
		mts_protection_update(true);
}

enum mts_slice_end mts_slice_run(u32 bin)
{
	static u32 early_in_a_row;
	u64 now, next_growth, next_waits, fair_start;
	enum mts_slice_end end;
	u32 asleep = 0;

	open_slice(bin);
	mts_fit_begin_slice();
	next_growth = mts_rotor.phase.slice_began + GROWTH_NS;
	next_waits = mts_rotor.phase.slice_began + WAITS_FIRST_NS;
	fair_start = mts_rotor.phase.slice_began + patience(early_in_a_row);

	for (;;) {
		unsigned long events;

		now = ktime_get_ns();
		if (now >= mts_rotor.phase.slice_ends) {
			/* A bin that slept to the end does not count as one that ran. */
			if (!asleep)
				early_in_a_row = 0;
			return MTS_SLICE_OVER;
		}
		mts_promise(3 * (u64)NSEC_PER_SEC, "a bin runs");
		stall_for_test();
		/* Jobs come and go in storms: they are looked at once a tick. */
		events = mts_rotor_wait(BIT(MTS_ROTOR_EV_CONFIG) | BIT(MTS_ROTOR_EV_WANTED),
					min(mts_rotor.phase.slice_ends - now, (u64)TICK_NS));
		events |= mts_rotor_take_events(BIT(MTS_ROTOR_EV_JOBS));
		if (!mts_rotor_should_run())
			return MTS_SLICE_STOP;
		if (events & BIT(MTS_ROTOR_EV_WANTED))
			mts_bring_wanted();
		if (events & BIT(MTS_ROTOR_EV_CONFIG))
			return MTS_SLICE_CONFIG;
		if (events & BIT(MTS_ROTOR_EV_JOBS)) {
			end = jobs_changed();
			if (end != MTS_SLICE_GOES_ON)
				return end;
		}
		if (mts_lend_look() && mts_freeze_apply_bins(mts_rotor.phase.slice_ends))
			return MTS_SLICE_STOP;
		if (mts_fit_swaps()) {
			mts_stats_inc(regroups);
			return MTS_SLICE_SWAPS;
		}
		now = ktime_get_ns();
		if (now >= next_growth && now < mts_rotor.phase.slice_ends) {
			next_growth = now + GROWTH_NS;
			look_at_protection(now);
			if (mts_fit_outgrown()) {
				mts_stats_inc(regroups);
				return MTS_SLICE_OUTGROWN;
			}
		}
		if (now >= next_waits && now < mts_rotor.phase.slice_ends) {
			next_waits = now + WAITS_NS;
			mts_slice_look_at_waits();
		}
		/* Twice in a row: one look may fall between two sleeps of a busy task. */
		asleep = can_run() ? 0 : asleep + 1;
		if (asleep >= 2 && now >= fair_start && now < mts_rotor.phase.slice_ends) {
			mts_stats_inc(early_switches);
			early_in_a_row++;
			return MTS_SLICE_ASLEEP;
		}
	}
}

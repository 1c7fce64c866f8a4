// SPDX-License-Identifier: GPL-2.0
#include "rotor/state.h"

#include "context.h"
#include "events/stats.h"
#include "events/wake.h"
#include "jobs/freezer.h"

struct mts_rotor mts_rotor = { .choosing.choice.policy = MTS_POLICY_NONE };

/* The events of @mask that have come, without waiting. */
unsigned long mts_rotor_take_events(unsigned long mask)
{
	return mts_wake_take(MTS_THREAD_ROTOR, mask);
}

static bool has_event(unsigned long mask)
{
	return mts_wake_events(MTS_THREAD_ROTOR, mask);
}

bool mts_rotor_should_run(void)
{
	return !mts_gate_reason() && !kthread_should_stop();
}

bool mts_rotor_should_abort(void)
{
	return !mts_rotor_should_run() || has_event(BIT(MTS_ROTOR_EV_CONFIG));
}

bool mts_rotor_is_wanted(void)
{
	return has_event(BIT(MTS_ROTOR_EV_WANTED)) && mts_rotor_disk_is_slow();
}

void mts_rotor_note_wanted(void)
{
	mts_rotor_take_events(BIT(MTS_ROTOR_EV_WANTED));
	/* Pairs with lift(): a job that is thawed after this look sets the bit anew. */
	smp_mb();
}

unsigned long mts_rotor_wait(unsigned long mask, u64 ns)
{
	if (ns == U64_MAX)
		wait_event_idle(mts_wait_of[MTS_THREAD_ROTOR],
				has_event(mask) || kthread_should_stop());
	else
		wait_event_idle_timeout(mts_wait_of[MTS_THREAD_ROTOR],
					has_event(mask) || !mts_rotor_should_run(),
					max(nsecs_to_jiffies(ns), 1UL));
	return mts_rotor_take_events(mask);
}

/* ---- transitions ------------------------------------------------------------- */

/*
 * Every transition. A slice begins when its switch has ended; any other state may follow any state:
 * a switch begins out of each, as the gate may open and the next plan have turns, and each of the
 * others is what a closed gate, a configuration, or jobs that go can lead to.
 */
static void enter(u32 state)
{
	lockdep_assert_held(&mts_lock);
	WARN_ON_ONCE(state == MTS_STATE_RUNNING && mts_rotor.phase.state != MTS_STATE_SWITCHING);
	mts_rotor.phase.state = state;
	mts_jobs_changed();
}

/* Turns, or a policy without turns. */
static void note_acting(bool acts)
{
	lockdep_assert_held(&mts_lock);
	if (acts && !mts_rotor.phase.acts)
		mts_stats_inc(begins);
	mts_rotor.phase.acts = acts;
}

void mts_state_rest(u32 state, u32 reason)
{
	mutex_lock(&mts_lock);
	enter(state);
	note_acting(state == MTS_STATE_SHARING);
	mts_rotor.phase.reason = reason;
	mutex_unlock(&mts_lock);
}

void mts_state_begin_switch(u32 to)
{
	enter(MTS_STATE_SWITCHING);
	/* Without a bin turns are over, and the frozen jobs come back. */
	note_acting(to != MTS_BIN_NONE);
	mts_rotor.phase.running = to;
}

void mts_state_begin_slice(u64 now, u64 slice_ns)
{
	enter(MTS_STATE_RUNNING);
	mts_rotor.phase.slice_began = now;
	mts_rotor.phase.slice_ends = now + slice_ns;
}

/* ---- what else the state knows -------------------------------------------------- */

void mts_state_end_slice(void)
{
	lockdep_assert_held(&mts_lock);
	mts_rotor.phase.slice_ends = 0;
}

void mts_state_end_turns(void)
{
	lockdep_assert_held(&mts_lock);
	mts_rotor.phase.running = MTS_BIN_NONE;
	mts_rotor.phase.slice_ends = 0;
}

void mts_state_begin_round(void)
{
	mutex_lock(&mts_lock);
	mts_rotor.phase.round++;
	mutex_unlock(&mts_lock);
}

void mts_state_set_reason(u32 reason)
{
	lockdep_assert_held(&mts_lock);
	mts_rotor.phase.reason = reason;
}

void mts_state_init(void)
{
	mts_rotor.phase.running = MTS_BIN_NONE;
}

void mts_rotor_configure(const struct mts_config *config)
{
	lockdep_assert_held(&mts_lock);
	mts_rotor.order.config = *config;
	mts_rotor.order.is_new = true;
}

bool mts_state_take_order(void)
{
	bool is_new = mts_rotor.order.is_new;

	lockdep_assert_held(&mts_lock);
	mts_rotor.order.is_new = false;
	return is_new;
}

// SPDX-License-Identifier: GPL-2.0
#include "rotor/state.h"

#include "context.h"
#include "events/wake.h"
#include "jobs/freezer.h"

struct mts_rotor mts_rotor;

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
	return !mts_freezer_gate() && !kthread_should_stop();
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

void mts_rotor_set_state(u32 state, u32 reason)
{
	mutex_lock(&mts_lock);
	mts_rotor.state = state;
	mts_rotor.reason = reason;
	mts_jobs_changed();
	mutex_unlock(&mts_lock);
}

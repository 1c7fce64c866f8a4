// SPDX-License-Identifier: GPL-2.0
#include "rotor/idle.h"

#include "context.h"
#include "events/promise.h"
#include "events/wake.h"
#include "jobs/enrol.h"
#include "jobs/failsafe.h"
#include "jobs/freezer.h"
#include "jobs/interactive.h"
#include "rotor/admission.h"
#include "rotor/bring.h"
#include "rotor/drain.h"
#include "rotor/evict.h"
#include "rotor/fit.h"
#include "rotor/freeze.h"
#include "rotor/onset.h"
#include "rotor/plan.h"
#include "rotor/protection.h"
#include "rotor/queue.h"
#include "rotor/roster.h"
#include "rotor/round.h"
#include "rotor/sharing.h"
#include "rotor/spent.h"
#include "rotor/state.h"
#include "rotor/status.h"
#include "sched_hooks/hooks.h"

/* How often it measures while idle, if nothing else tells it of growth. */
#define POLL_NS (1 * (u64)NSEC_PER_SEC)
/* How often the jobs' share of the processors is looked at, while the host reclaims. */
#define LOOK_NS (100 * NSEC_PER_MSEC)
/* The host has reclaimed within this time: expect growth, and poll. */
#define RECLAIM_ECHO_NS (5 * (u64)NSEC_PER_SEC)
/*
 * The idle rotor looks no more often than QUIET_NS. Measuring takes 2 % of the time, or 1 % while
 * the rotor watches whether turns would pay. Where measuring takes above 20 ms, the pause after it
 * is a second, or five times as long as it took: memory may run out meanwhile. It is processor time
 * that counts (spent.h).
 */
#define QUIET_NS (100 * NSEC_PER_MSEC)
#define QUIET_FACTOR 50
#define WATCH_FACTOR 5
#define MEASURE_FACTOR 100

static u64 measured_at; /* ktime, ns; 0: never */

/* There are no turns, or none any more: every job runs. */
static void enter_idle(u32 state, u32 reason)
{
	if (!mts_reason_is_sharing(reason))
		mts_sharing_end();
	mts_freeze_thaw_all();
	mutex_lock(&mts_lock);
	mts_round_end();
	mts_freezer_set_turns(false);
	mts_state_end_turns();
	mts_fit_forget();
	mts_evict_forget_full();
	mutex_unlock(&mts_lock);
	/* Protect before memory is short: later the memory is gone. */
	mts_protection_update(!mts_admit_starves() && mts_gate_may_freeze());
	mts_state_rest(state, reason);
}

static bool is_polling(void)
{
	const struct mts_config *config;
	bool polling;

	mutex_lock(&mts_lock);
	config = mts_rotor_config();
	/* A bin size of the user's own: the host's reclaim does not tell when it is exceeded. */
	polling = config->mode == MTS_MODE_ALWAYS ||
		  (config->mode != MTS_MODE_OFF && config->bin_bytes);
	mutex_unlock(&mts_lock);
	return polling;
}

/* The demand exceeds the capacity: do the jobs lose time by it? */
static bool is_watching(u32 reason)
{
	return reason == MTS_REASON_COPES || reason == MTS_REASON_SHADOW;
}

/*
 * Measuring takes up to 0.2 ms a job: while it only watches, and its figures are
 * young against what they cost, a look at the tasks does.
 */
void mts_idle_measure(u32 reason)
{
	static u64 took;
	struct mts_spent spent = mts_spent_begin();

	if (is_watching(reason) && !mts_status_is_wanted() &&
	    spent.began - measured_at < MEASURE_FACTOR * took)
		return;
	mts_roster_measure();
	measured_at = ktime_get_ns();
	took = mts_spent_since(&spent);
}

/* How long it looks away after measuring. @measuring_ns: what that took, as of spent.h. */
static u64 quiet_time(u32 reason, u64 measuring_ns)
{
	u64 watch = WATCH_FACTOR * measuring_ns, quiet = QUIET_FACTOR * measuring_ns;

	if (!is_watching(reason))
		watch = min(quiet, max_t(u64, watch, NSEC_PER_SEC));
	return max_t(u64, watch, QUIET_NS);
}

/* How long the idle rotor may sleep. U64_MAX while memory suffices; onset.c may look before. */
static u64 idle_time(u32 reason)
{
	u64 last = mts_hooks_last_reclaim();
	u32 i;

	if (mts_queue_waits())
		return POLL_NS;
	/* Not: jobs that can be frozen. A real-time job may become one, and no event tells. */
	if (reason == MTS_REASON_NONE || mts_rotor.roster.n < 2)
		return U64_MAX;
	if (is_watching(reason))
		return LOOK_NS;
	if (is_polling() || (last && ktime_get_ns() - last < RECLAIM_ECHO_NS))
		return POLL_NS;
	/*
	 * A job that was left out is tried again. An interactive job ceases to be one, which
	 * changes nothing where all jobs fit.
	 */
	for (i = 0; i < mts_rotor.roster.n; i++)
		if (mts_job_left_out(mts_rotor.roster.jobs[i]) ||
		    (reason != MTS_REASON_FITS && mts_job_is_interactive(mts_rotor.roster.jobs[i])))
			return POLL_NS;
	return U64_MAX;
}

/*
 * As mts_rotor_wait(), but no longer than until the jobs are about to have all memory. Return:
 * are they?
 */
static bool idle_sleep(unsigned long mask, u64 ns, unsigned long *got)
{
	u64 now = ktime_get_ns(), until = mts_add_sat(now, ns), most, look;
	unsigned long events;

	mts_onset_sample();
	do {
		most = until == U64_MAX ? U64_MAX : until - now;
		look = mts_onset_watches() ? mts_onset_interval() : U64_MAX;
		/* The watchdog listens while jobs are in the queue. */
		mts_promise_sleep(min(most, look));
		events = mts_rotor_wait(mask | BIT(MTS_ROTOR_EV_RECLAIM), min(most, look));
		*got = events & mask;
		if (mts_onset_is_due())
			return true;
		now = ktime_get_ns();
	} while (!*got && now < until && mts_rotor_should_run());
	return false;
}

/*
 * The pause after @events, before it measures again. While jobs wait in the queue it is over when
 * another one has ended. Return: as idle_sleep().
 */
static bool quiet_sleep(u64 ns, unsigned long events)
{
	const unsigned long readers = BIT(MTS_ROTOR_EV_GATE) | BIT(MTS_ROTOR_EV_MEASURE);
	const unsigned long jobs = BIT(MTS_ROTOR_EV_JOBS);
	u64 now = ktime_get_ns(), until = now + ns;

	do {
		if (events & jobs && mts_queue_waits() && mts_job_reap(mts_promise_step))
			return false;
		if (idle_sleep(mts_queue_waits() ? readers | jobs : readers,
			       mts_sub_floor(until, now), &events))
			return true;
		now = ktime_get_ns();
	} while (events & jobs && !(events & readers) && now < until && mts_rotor_should_run());
	return false;
}

/* Return: are the jobs about to have all memory? */
bool mts_idle(u64 measuring_ns)
{
	const unsigned long all = BIT(MTS_ROTOR_EV_GATE) | BIT(MTS_ROTOR_EV_MEASURE) |
				  BIT(MTS_ROTOR_EV_JOBS) | BIT(MTS_ROTOR_EV_CONFIG) |
				  BIT(MTS_ROTOR_EV_RECLAIM);
	u32 reason = mts_rotor.phase.reason;
	unsigned long events;

	/*
	 * Bring the jobs' memory back in order before they run: faults are single requests, and a
	 * slow disk needs a minute for them. The same for a job that is left alone.
	 */
	if ((reason == MTS_REASON_FITS || reason == MTS_REASON_NO_JOBS) && mts_drain()) {
		mts_status_answer();
		return false;
	}
	mts_rotor_forget_use();
	if (mts_reason_is_sharing(reason)) {
		enter_idle(MTS_STATE_SHARING, reason);
		mts_status_answer();
		mts_sharing_run(reason);
		return false;
	}
	enter_idle(reason == MTS_REASON_NONE ? MTS_STATE_OFF : MTS_STATE_IDLE, reason);
	if (mts_rotor_is_wanted())
		mts_bring_wanted();
	mts_status_answer();
	return idle_sleep(all, idle_time(reason), &events) ||
	       quiet_sleep(quiet_time(reason, measuring_ns), events);
}

void mts_idle_wait_for_gate(u32 reason)
{
	enter_idle(reason == MTS_REASON_SUSPEND ? MTS_STATE_PAUSED : MTS_STATE_STOPPED, reason);
	mts_status_answer();
	mts_failsafe_set_parked(true);
	mts_rotor_wait(BIT(MTS_ROTOR_EV_GATE) | BIT(MTS_ROTOR_EV_JOBS), U64_MAX);
	mts_failsafe_set_parked(false);
}

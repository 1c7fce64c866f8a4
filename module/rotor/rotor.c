// SPDX-License-Identifier: GPL-2.0
#include "rotor/rotor.h"

#include "context.h"
#include "jobs/enrol.h"
#include "jobs/freezer.h"
#include "jobs/interactive.h"
#include "memory/memory.h"
#include "jobs/ops.h"
#include "rotor/rotor_private.h"
#include "sched_hooks/hooks.h"
#include "events/stats.h"
#include "jobs/tasks.h"
#include "events/promise.h"
#include "events/trace.h"
#include "jobs/failsafe.h"
#include "events/wake.h"

/* While a slice runs the rotor looks this often whether anything can run. */
#define TICK_NS (50 * NSEC_PER_MSEC)
/*
 * Where the disk is what switches wait for, memory that a bin takes must last so long: its jobs
 * reclaim for themselves otherwise, page by page, and do not freeze.
 */
#define SPILL_NS (400 * (u64)NSEC_PER_MSEC)
/* And this often whether the bin still fits. */
#define GROWTH_NS (1 * (u64)NSEC_PER_SEC)
/* And whether somebody waits for a frozen job: so early in a slice, and this often. */
#define WAITS_FIRST_NS (100 * NSEC_PER_MSEC)
#define WAITS_NS (1 * (u64)NSEC_PER_SEC)
/* How often it measures while idle, if nothing else tells it of growth. */
#define POLL_NS (1 * (u64)NSEC_PER_SEC)
/* How often the jobs' share of the processors is looked at, while the host reclaims. */
#define LOOK_NS (100 * NSEC_PER_MSEC)
/* So long after the host has reclaimed, growth is still to be expected. */
#define RECLAIM_ECHO_NS (5 * (u64)NSEC_PER_SEC)
/*
 * Idle, it looks no more often than this, and measures for 2 % of the time; 1 % while
 * it watches whether turns would pay. It never looks away for more than a second where
 * memory runs out, as measuring itself has to wait then.
 */
#define QUIET_NS (100 * NSEC_PER_MSEC)
#define QUIET_FACTOR 50
#define WATCH_FACTOR 5
#define MEASURE_FACTOR 100

#define FOREVER U64_MAX

static unsigned int debug_stall_ms;
module_param(debug_stall_ms, uint, 0600);
MODULE_PARM_DESC(debug_stall_ms,
		 "for tests of the watchdog: the rotor hangs this long in its next slice");

struct mts_rotor mts_rotor;
static struct task_struct *rotor_thread;
static bool measure_wanted; /* a reader of the status wants fresh figures */
static DECLARE_WAIT_QUEUE_HEAD(measured);

/* The events of @mask that have come, without waiting. */
static unsigned long take_events(unsigned long mask)
{
	return mts_wake_take(MTS_THREAD_ROTOR, mask);
}

static bool has_event(unsigned long mask)
{
	return mts_wake_events(MTS_THREAD_ROTOR, mask);
}

bool mts_rotor_may_go_on(void)
{
	return !mts_freezer_gate() && !kthread_should_stop();
}

bool mts_rotor_is_hurried(void)
{
	return !mts_rotor_may_go_on() || has_event(BIT(MTS_ROTOR_EV_CONFIG));
}

bool mts_rotor_is_wanted(void)
{
	return has_event(BIT(MTS_ROTOR_EV_WANTED)) && mts_rotor_disk_is_slow();
}

void mts_rotor_note_wanted(void)
{
	take_events(BIT(MTS_ROTOR_EV_WANTED));
	/* Pairs with lift(): a job that is thawed after this look sets the bit anew. */
	smp_mb();
}

unsigned long mts_rotor_wait(unsigned long mask, u64 ns)
{
	if (ns == FOREVER)
		wait_event_idle(mts_wait_of[MTS_THREAD_ROTOR],
				has_event(mask) || kthread_should_stop());
	else
		wait_event_idle_timeout(mts_wait_of[MTS_THREAD_ROTOR],
					has_event(mask) || !mts_rotor_may_go_on(),
					max(nsecs_to_jiffies(ns), 1UL));
	return take_events(mask);
}

static void set_state(u32 state, u32 reason)
{
	mutex_lock(&mts_lock);
	mts_rotor.state = state;
	mts_rotor.reason = reason;
	mts_jobs_changed();
	mutex_unlock(&mts_lock);
}

/* ---- a slice --------------------------------------------------------------- */

static u32 jobs_in_bin(u32 bin)
{
	u32 i, n = 0;

	for (i = 0; i < mts_rotor.roster_size; i++)
		n += mts_rotor.roster[i]->bin == bin;
	return n;
}

static bool bin_can_run(u32 bin)
{
	u32 i;

	for (i = 0; i < mts_rotor.roster_size; i++) {
		int awake;

		if (mts_rotor.roster[i]->bin != bin)
			continue;
		awake = mts_ops->awake(mts_rotor.roster[i]);
		if (awake < 0)
			return mts_tasks_bin_can_run(bin);
		if (awake)
			return true;
	}
	return false;
}

/* Jobs came or went: place who came; is there still something to rotate? */
static enum mts_slice_end jobs_changed(u32 bin)
{
	mts_job_reap(mts_promise_step);
	mts_round_muster();
	mts_round_place_newcomers();
	if (mts_switch_settle(mts_rotor.slice_ends))
		return MTS_SLICE_STOP;
	if (!mts_round_take_in())
		return MTS_SLICE_OUTGROWN;
	mts_round_protect(true);
	/* Everything that is left runs already: let the round's end say so. */
	if (!mts_freezer_count())
		return MTS_SLICE_ALONE;
	if (mts_round_fits())
		return MTS_SLICE_FITS;
	return jobs_in_bin(bin) ? MTS_SLICE_GOES_ON : MTS_SLICE_EMPTY;
}

static void close_slice(u32 bin, enum mts_slice_end why)
{
	u64 ran = ktime_get_ns() - mts_rotor.slice_began;
	/* Reclaim clears the processor's marks, and keeps jobs waiting. */
	bool reclaimed = mts_hooks_last_reclaim() > mts_rotor.slice_began;
	/*
	 * Nor does it show what a job uses if it was cut to a moment: ten jobs of 128 MiB, whose
	 * switches took 7 s, seemed to use half of it, then a quarter, and were put into two bins
	 * that did not hold them.
	 */
	u64 least = max(mts_rotor.bins[bin].slice_ns, mts_rotor.switches.adds_ns / 2);
	struct mts_job *job;
	u32 i;

	mutex_lock(&mts_lock);
	for (i = 0; i < mts_rotor.roster_size; i++) {
		job = mts_rotor.roster[i];
		if (job->bin != bin)
			continue;
		job->run_ns += ran;
		job->slices++;
		mts_round_count_threads(job);
		job->slice_tells_little = reclaimed || ran < least;
		WRITE_ONCE(job->overdue, false);
	}
	mts_rotor.slice_ends = 0;
	mutex_unlock(&mts_lock);
	trace_mts_slice_end(mts_rotor.round, bin, why, mts_rotor.bins[bin].slice_ns, ran);
	mts_stats_add(slice_ns, ran);
}

static void open_slice(u32 bin)
{
	u64 now = ktime_get_ns(), longest, least;
	struct mts_plan_bin *plan = &mts_rotor.bins[bin];

	mutex_lock(&mts_lock);
	least = mts_rotor_config()->min_slice_ns;
	mutex_unlock(&mts_lock);
	longest = mts_switch_longest_slice(now, mts_rotor.max_pause_ns);
	if (longest < plan->slice_ns && mts_round_plan_slices())
		longest = mts_switch_longest_slice(now, mts_rotor.max_pause_ns);
	mutex_lock(&mts_lock);
	plan->slice_ns = min(plan->slice_ns, max(longest, least));
	mts_rotor.state = MTS_STATE_RUNNING;
	mts_rotor.slice_began = now;
	mts_rotor.slice_ends = now + plan->slice_ns;
	mts_jobs_changed();
	mutex_unlock(&mts_lock);
	trace_mts_slice_begin(mts_rotor.round, bin, &mts_rotor.bins[bin]);
}

static void stall_for_test(void)
{
	unsigned int ms = xchg(&debug_stall_ms, 0);

	if (ms)
		msleep(ms);
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

static enum mts_slice_end run_slice(u32 bin)
{
	static u32 early_in_a_row;
	const unsigned long spilling = mts_rotor_waits_for_disk() ? BIT(MTS_ROTOR_EV_RECLAIM) : 0;
	u64 now, next_growth, next_waits, fair_start;
	enum mts_slice_end end;
	u32 asleep = 0;

	open_slice(bin);
	mts_rotor.swapins = mts_memory_swapins();
	if (spilling)
		mts_early_sample();
	next_growth = mts_rotor.slice_began + GROWTH_NS;
	next_waits = mts_rotor.slice_began + WAITS_FIRST_NS;
	fair_start = mts_rotor.slice_began + patience(early_in_a_row);

	for (;;) {
		unsigned long events;

		now = ktime_get_ns();
		if (now >= mts_rotor.slice_ends) {
			/* A bin that slept to the end does not count as one that ran. */
			if (!asleep)
				early_in_a_row = 0;
			return MTS_SLICE_OVER;
		}
		mts_promise(3 * (u64)NSEC_PER_SEC, "a bin runs");
		stall_for_test();
		/* Jobs come and go in storms: they are looked at once a tick. */
		events = mts_rotor_wait(BIT(MTS_ROTOR_EV_CONFIG) | BIT(MTS_ROTOR_EV_WANTED) |
						spilling,
					min(mts_rotor.slice_ends - now, (u64)TICK_NS));
		events |= take_events(BIT(MTS_ROTOR_EV_JOBS));
		if (!mts_rotor_may_go_on())
			return MTS_SLICE_STOP;
		if (events & BIT(MTS_ROTOR_EV_WANTED)) {
			mts_switch_bring_wanted();
			/* It is not the running bin that grows. */
			if (spilling)
				mts_early_sample();
		}
		if (events & BIT(MTS_ROTOR_EV_CONFIG))
			return MTS_SLICE_CONFIG;
		if (spilling && mts_early_bin_fills(SPILL_NS) && mts_passing_spill())
			return MTS_SLICE_STOP;
		if (events & BIT(MTS_ROTOR_EV_JOBS)) {
			end = jobs_changed(bin);
			if (end != MTS_SLICE_GOES_ON)
				return end;
		}
		if (mts_switch_calls_over() && mts_switch_settle(mts_rotor.slice_ends))
			return MTS_SLICE_STOP;
		if (mts_rotor.early && mts_early_all_fit()) {
			mts_rotor.all_fit = true;
			return MTS_SLICE_FITS;
		}
		if (mts_round_swaps()) {
			mts_stats_inc(regroups);
			return MTS_SLICE_SWAPS;
		}
		now = ktime_get_ns();
		if (now >= next_growth && now < mts_rotor.slice_ends) {
			next_growth = now + GROWTH_NS;
			if (mts_round_outgrown()) {
				mts_stats_inc(regroups);
				return MTS_SLICE_OUTGROWN;
			}
		}
		if (now >= next_waits && now < mts_rotor.slice_ends) {
			next_waits = now + WAITS_NS;
			mts_round_look_at_waits();
		}
		/* Twice in a row: one look may fall between two sleeps of a busy task. */
		asleep = bin_can_run(bin) ? 0 : asleep + 1;
		if (asleep >= 2 && now >= fair_start && now < mts_rotor.slice_ends) {
			mts_stats_inc(early_switches);
			early_in_a_row++;
			return MTS_SLICE_ASLEEP;
		}
	}
}

/* ---- a round --------------------------------------------------------------- */

/*
 * Whoever has waited longest, so that a bin that is always cut short starves nobody. When
 * turns begin it is the bin that keeps the others waiting least.
 */
static u32 first_bin(void)
{
	u64 since = U64_MAX;
	u32 first = 0, i;

	for (i = 1; i < mts_rotor.nbins; i++)
		if (mts_rotor.bins[i].slice_ns < mts_rotor.bins[first].slice_ns)
			first = i;
	for (i = 0; i < mts_rotor.roster_size; i++) {
		struct mts_job *job = mts_rotor.roster[i];

		if (job->frozen && job->bin < mts_rotor.nbins && job->frozen_since < since) {
			since = job->frozen_since;
			first = job->bin;
		}
	}
	return first;
}

static bool is_to_go_round(enum mts_slice_end end)
{
	return end <= MTS_SLICE_EMPTY;
}

static void run_round(void)
{
	u32 first = first_bin(), i;
	u64 began = ktime_get_ns();
	enum mts_slice_end end = MTS_SLICE_GOES_ON;

	mutex_lock(&mts_lock);
	mts_rotor.round++;
	mutex_unlock(&mts_lock);
	mts_stats_inc(rounds);
	trace_mts_round(mts_rotor.round, &mts_rotor.plan, mts_rotor.roster_size);

	for (i = 0; i < mts_rotor.nbins && is_to_go_round(end); i++) {
		u32 bin = (first + i) % mts_rotor.nbins;

		if (!jobs_in_bin(bin))
			continue;
		if (mts_switch_to(bin))
			return;
		end = run_slice(bin);
		if (is_to_go_round(end))
			mts_round_look_at_waits();
		close_slice(bin, end);
	}
	if (is_to_go_round(end))
		mts_round_judge(began);
	else
		mts_round_judge(ktime_get_ns()); /* too short to say anything */
}

/* Nothing to rotate (any more): everything runs. */
static void rest(u32 state, u32 reason)
{
	mts_switch_thaw_all();
	mutex_lock(&mts_lock);
	mts_rotor.nbins = 0;
	mts_freezer_set_turns(false);
	mts_rotor.running = MTS_BIN_NONE;
	mts_rotor.slice_ends = 0;
	mts_rotor.plan.round_ns = 0;
	mts_rotor.plan.longest_pause_ns = 0;
	mts_rotor.lesson = (struct mts_lesson){ 0 };
	mts_rotor.swap_full_in = 0;
	mts_rotor.all_fit = false;
	mutex_unlock(&mts_lock);
	/* It is too late when memory is found to be short: it has been taken then. */
	mts_round_protect(!mts_round_starves() && mts_freezer_may_freeze());
	set_state(state, reason);
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
static void measure_for(u32 reason)
{
	static u64 measured_at, took;
	u64 began = ktime_get_ns();

	if (is_watching(reason) && !READ_ONCE(measure_wanted) &&
	    began - measured_at < MEASURE_FACTOR * took)
		return;
	mts_round_measure();
	measured_at = ktime_get_ns();
	took = measured_at - began;
}

/* How long it looks away after measuring. */
static u64 quiet_time(u32 reason, u64 measuring_ns)
{
	u64 watch = WATCH_FACTOR * measuring_ns, quiet = QUIET_FACTOR * measuring_ns;

	if (!is_watching(reason))
		watch = min(quiet, max_t(u64, watch, NSEC_PER_SEC));
	return max_t(u64, watch, QUIET_NS);
}

/* How long the idle rotor may sleep. FOREVER while memory suffices; onset.c may look before. */
static u64 idle_time(u32 reason)
{
	u64 last = mts_hooks_last_reclaim();
	u32 i;

	/* A real-time job may turn into one that can be frozen without a word. */
	if (reason == MTS_REASON_NONE || mts_rotor.roster_size < 2)
		return FOREVER;
	if (is_watching(reason))
		return LOOK_NS;
	if (is_polling() || (last && ktime_get_ns() - last < RECLAIM_ECHO_NS))
		return POLL_NS;
	/*
	 * Who has been left out is to be tried again, who is interactive ceases to be.
	 * If everything fits it still does so then.
	 */
	for (i = 0; i < mts_rotor.roster_size; i++)
		if (mts_job_left_out(mts_rotor.roster[i]) ||
		    (reason != MTS_REASON_FITS && mts_job_is_interactive(mts_rotor.roster[i])))
			return POLL_NS;
	return FOREVER;
}

static void answer_readers(void)
{
	WRITE_ONCE(measure_wanted, false);
	wake_up(&measured);
}

/*
 * As mts_rotor_wait(), but no longer than until the jobs are about to have all memory. Return:
 * are they?
 */
static bool doze(unsigned long mask, u64 ns)
{
	u64 now = ktime_get_ns(), until = mts_add_sat(now, ns), most, look;
	unsigned long events;

	mts_early_sample();
	do {
		most = until == FOREVER ? FOREVER : until - now;
		look = mts_early_watches() ? mts_early_interval() : FOREVER;
		events = mts_rotor_wait(mask | BIT(MTS_ROTOR_EV_RECLAIM), min(most, look));
		if (mts_early_is_due())
			return true;
		now = ktime_get_ns();
	} while (!(events & mask) && now < until && mts_rotor_may_go_on());
	return false;
}

/* Return: are the jobs about to have all memory? */
static bool idle(u64 measuring_ns)
{
	const unsigned long readers = BIT(MTS_ROTOR_EV_GATE) | BIT(MTS_ROTOR_EV_MEASURE);
	const unsigned long all = readers | BIT(MTS_ROTOR_EV_JOBS) | BIT(MTS_ROTOR_EV_CONFIG) |
				  BIT(MTS_ROTOR_EV_RECLAIM);
	u32 reason = mts_rotor.reason;

	/*
	 * By faults, which are requests of their own, it takes a slow disk a minute. Who is
	 * left alone has as much to come as who fits beside others.
	 */
	if ((reason == MTS_REASON_FITS || reason == MTS_REASON_NO_JOBS) && mts_switch_bring_all()) {
		answer_readers();
		return false;
	}
	mts_round_forget_use();
	rest(reason == MTS_REASON_NONE ? MTS_STATE_OFF : MTS_STATE_IDLE, reason);
	if (mts_rotor_is_wanted())
		mts_switch_bring_wanted();
	answer_readers();
	return doze(all, idle_time(reason)) || doze(readers, quiet_time(reason, measuring_ns));
}

static void wait_for_gate(u32 reason)
{
	rest(reason == MTS_REASON_SUSPEND ? MTS_STATE_PAUSED : MTS_STATE_STOPPED, reason);
	answer_readers();
	mts_failsafe_set_parked(true);
	mts_rotor_wait(BIT(MTS_ROTOR_EV_GATE) | BIT(MTS_ROTOR_EV_JOBS), FOREVER);
	mts_failsafe_set_parked(false);
}

static int rotor_main(void *unused)
{
	bool filling = false;

	/* It steers everybody else: it must not wait in line with them. */
	set_user_nice(current, MIN_NICE);

	while (!kthread_should_stop()) {
		u32 gate = mts_freezer_gate(), nbins;
		u64 began;

		mts_job_reap(mts_promise_step);
		mts_round_muster();
		if (gate) {
			wait_for_gate(gate);
			continue;
		}
		began = ktime_get_ns();
		mts_rotor.early = filling && mts_early_look();
		filling = false;
		measure_for(mts_rotor.reason);
		/* The plan is made with the configuration of now. */
		take_events(BIT(MTS_ROTOR_EV_CONFIG));
		nbins = mts_round_plan();
		mts_rotor.all_fit = false;
		if (nbins >= 2) {
			answer_readers();
			mts_round_protect(true);
			run_round();
		} else {
			filling = idle(ktime_get_ns() - began);
		}
	}
	mts_switch_thaw_all();
	mts_round_dismiss();
	return 0;
}

void mts_rotor_configure(const struct mts_config *config)
{
	lockdep_assert_held(&mts_lock);
	mts_rotor.config = *config;
	mts_rotor.is_configured = true;
}

/* ---- for others -------------------------------------------------------------- */

static const char *const reasons[] = {
	[MTS_REASON_NONE] = "mode is off",
	[MTS_REASON_NO_JOBS] = "fewer than two jobs that could take turns",
	[MTS_REASON_FITS] = "the jobs' demand fits in the capacity",
	[MTS_REASON_NO_PRESSURE] =
		"demand exceeds the capacity, but the host does not reclaim memory",
	[MTS_REASON_NO_SWAP] =
		"demand exceeds the capacity, but there is no swap: add some (swapon)",
	[MTS_REASON_OVERCOMMIT] = "the jobs' demand exceeds the capacity",
	[MTS_REASON_COPES] = "demand exceeds the capacity, but turns would gain the jobs nothing",
	[MTS_REASON_NO_GAIN] =
		"demand exceeds the capacity, but taking turns cost more time: tried again later",
	[MTS_REASON_SLOW_SWAP] =
		"switches take so long that turns would give the jobs less than they have without, or exceed max_pause: tried again later",
	[MTS_REASON_SHADOW] = "mode=shadow: with mode=auto the jobs would take turns now",
};

const char *mts_rotor_explain(u32 reason)
{
	return reason < ARRAY_SIZE(reasons) && reasons[reason] ? reasons[reason] : "";
}

static const char swap_full[] =
	"the jobs' demand exceeds the capacity, and swap is full (or a zram is): add some (swapon)";

static const char *explain(u32 reason)
{
	lockdep_assert_held(&mts_lock);
	if (reason == MTS_REASON_OVERCOMMIT && mts_rotor_is_swap_full())
		return swap_full;
	/* "": the gate has been opened, and the rotor has not seen it. */
	return mts_rotor_explain(reason);
}

/*
 * While idle nobody measures: a reader has it done. A rotation measures itself;
 * a stopped rotor is left in peace.
 */
static void refresh(void)
{
	u32 state = READ_ONCE(mts_rotor.state);

	if (mts_freezer_gate() || state == MTS_STATE_RUNNING || state == MTS_STATE_SWITCHING)
		return;
	WRITE_ONCE(measure_wanted, true);
	mts_wake_rotor(MTS_ROTOR_EV_MEASURE);
	wait_event_interruptible_timeout(measured, !READ_ONCE(measure_wanted), HZ / 2);
}

static void count_residents(struct mts_status *status)
{
	struct mts_job *job;

	lockdep_assert_held(&mts_lock);
	mts_job_for_each(job) {
		status->interactive += mts_job_is_interactive(job);
		status->crowded_out += mts_job_is_crowded_out(job);
		status->limited += job->limited;
	}
}

void mts_rotor_status(struct mts_status *status)
{
	u32 gate;

	refresh();
	memset(status, 0, sizeof(*status));
	mutex_lock(&mts_lock);
	status->abi = MTS_ABI_VERSION;
	status->state = mts_rotor.state;
	status->reason = mts_rotor.reason;
	status->each_how = mts_hooks_each_how();
	status->jobs = mts_job_count();
	status->bins = mts_rotor.nbins;
	status->current_bin = mts_rotor.running;
	status->frozen = mts_freezer_count();
	status->generation = mts_jobs_generation();
	status->now_ns = ktime_get_ns();
	status->capacity = mts_rotor.plan.capacity;
	status->demand = mts_rotor.plan.demand;
	status->resident_demand = mts_rotor.plan.resident_demand;
	status->round = mts_rotor.round;
	status->slice_ends_ns = mts_rotor.slice_ends;
	status->round_ns = mts_rotor.plan.round_ns;
	status->longest_pause_ns = mts_rotor.plan.longest_pause_ns;
	if (mts_rotor.nbins) {
		status->evict = mts_rotor.switches.evict;
		status->max_pause_ns = mts_rotor.max_pause_ns;
		status->limited_by = mts_rotor.limited_by;
	}
	status->sees = mts_hooks_see();
	count_residents(status);
	strscpy(status->detail, explain(mts_rotor.reason), sizeof(status->detail));
	mutex_unlock(&mts_lock);

	/* The gate may be closed before the rotor has noticed. */
	gate = mts_freezer_gate();
	if (gate) {
		status->state = gate == MTS_REASON_SUSPEND ? MTS_STATE_PAUSED : MTS_STATE_STOPPED;
		status->reason = gate;
		mts_freezer_detail(status->detail, sizeof(status->detail));
	}
}

u32 mts_rotor_bins(struct mts_bin_info *bins, u32 n)
{
	u32 i;

	lockdep_assert_held(&mts_lock);
	for (i = 0; i < min(n, mts_rotor.nbins); i++) {
		bins[i].jobs = mts_rotor.bins[i].jobs;
		bins[i].pad = 0;
		bins[i].demand = mts_rotor.bins[i].demand;
		bins[i].slice_ns = mts_rotor.bins[i].slice_ns;
	}
	return mts_rotor.nbins;
}

static void free_memory(void)
{
	kvfree(mts_rotor.bins);
	kvfree(mts_rotor.roster);
	kvfree(mts_rotor.moved);
	kvfree(mts_rotor.outgoing);
	kvfree(mts_rotor.end_of_bin);
	kvfree(mts_rotor.plan_jobs);
	kvfree(mts_rotor.claims);
	kvfree(mts_rotor.claimants);
	kvfree(mts_rotor.ties);
	kvfree(mts_rotor.scratch);
}

int mts_rotor_init(void)
{
	mts_rotor.running = MTS_BIN_NONE;
	mts_rotor.bins = kvcalloc(MTS_MAX_JOBS, sizeof(*mts_rotor.bins), GFP_KERNEL);
	mts_rotor.roster = kvcalloc(MTS_MAX_JOBS, sizeof(*mts_rotor.roster), GFP_KERNEL);
	mts_rotor.moved = kvcalloc(MTS_MAX_JOBS, sizeof(*mts_rotor.moved), GFP_KERNEL);
	mts_rotor.outgoing = kvcalloc(MTS_MAX_JOBS, sizeof(*mts_rotor.outgoing), GFP_KERNEL);
	mts_rotor.end_of_bin =
		kvcalloc(MTS_MAX_JOBS + 1, sizeof(*mts_rotor.end_of_bin), GFP_KERNEL);
	mts_rotor.plan_jobs = kvcalloc(MTS_MAX_JOBS, sizeof(*mts_rotor.plan_jobs), GFP_KERNEL);
	mts_rotor.claims = kvcalloc(MTS_MAX_JOBS, sizeof(*mts_rotor.claims), GFP_KERNEL);
	mts_rotor.claimants = kvcalloc(MTS_MAX_JOBS, sizeof(*mts_rotor.claimants), GFP_KERNEL);
	mts_rotor.ties = kvcalloc(MTS_MAX_JOBS, sizeof(*mts_rotor.ties), GFP_KERNEL);
	mts_rotor.scratch = kvzalloc(mts_plan_scratch(MTS_MAX_JOBS), GFP_KERNEL);
	if (!mts_rotor.bins || !mts_rotor.roster || !mts_rotor.moved || !mts_rotor.outgoing ||
	    !mts_rotor.end_of_bin || !mts_rotor.plan_jobs || !mts_rotor.claims ||
	    !mts_rotor.claimants || !mts_rotor.ties || !mts_rotor.scratch)
		goto out_free;
	rotor_thread = kthread_create(rotor_main, NULL, "mts_rotor");
	if (!IS_ERR(rotor_thread)) {
		/* Held, so that kthread_stop() is safe even if an oops has ended it. */
		get_task_struct(rotor_thread);
		wake_up_process(rotor_thread);
		return 0;
	}

out_free:
	free_memory();
	return -ENOMEM;
}

void mts_rotor_exit(void)
{
	kthread_stop(rotor_thread);
	put_task_struct(rotor_thread);
	free_memory();
}

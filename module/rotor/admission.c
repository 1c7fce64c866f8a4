// SPDX-License-Identifier: GPL-2.0
#include "rotor/admission.h"

#include "context.h"
#include "events/promise.h"
#include "jobs/ran.h"
#include "jobs/tasks.h"
#include "memory/memory.h"
#include "policy/admission.h"
#include "policy/bins.h"
#include "policy/forecast.h"
#include "policy/plan.h"
#include "policy/slices.h"
#include "policy/verdict.h"
#include "rotor/choice.h"
#include "rotor/confined.h"
#include "rotor/costs.h"
#include "rotor/onset.h"
#include "rotor/roster.h"
#include "rotor/state.h"
#include "rotor/status.h"
#include "sched_hooks/hooks.h"

/* The host pays for its shortage if it has reclaimed within this time. */
#define PRESSURE_NS (10 * (u64)NSEC_PER_SEC)

static bool has_swap(void)
{
	u32 i;

	if (get_nr_swap_pages() > 0)
		return true;
	for (i = 0; i < mts_rotor.roster.n; i++)
		if (mts_rotor.roster.jobs[i]->usage.swap)
			return true;
	return false;
}

bool mts_admit_reclaims(void)
{
	u64 last = mts_hooks_last_reclaim();

	return last && ktime_get_ns() - last < PRESSURE_NS;
}

static bool is_unsure(void)
{
	u32 i;

	for (i = 0; i < mts_rotor.roster.n; i++)
		if (!mts_rotor.roster.jobs[i]->confined &&
		    mts_admission_unsure(&mts_rotor.roster.jobs[i]->look))
			return true;
	return false;
}

/* The kernel's lowest watermark is less than that from 16 MiB on (calculate_min_free_kbytes()). */
static bool is_full(void)
{
	return mts_memory_free() < ((u64)totalram_pages() << PAGE_SHIFT) / 32;
}

/* A job that gets more than 1/RUNS_PART of a processor does not sleep most of the time. */
#define RUNS_PART 20u

/* Pages that the host has swapped in since boot, without those of confined jobs. */
static u64 swapins(void)
{
	u64 now;

	mts_rotor.admission.excused += mts_confined_swapins();
	now = mts_sub_floor(mts_memory_swapins(), mts_rotor.admission.excused);
	/* It never falls, as differences are taken of it. */
	mts_rotor.admission.swapins = max(mts_rotor.admission.swapins, now);
	return mts_rotor.admission.swapins;
}

/*
 * What each job ran in user mode since the last call, ns, in its @look. Return: the sum over all
 * jobs that are not confined.
 */
static u64 read_times(void)
{
	u64 ran, sum;
	u32 i;

	mts_promise_step("times are read");
	sum = mts_ran_take_ended();
	for (i = 0; i < mts_rotor.roster.n; i++) {
		struct mts_job *job = mts_rotor.roster.jobs[i];

		ran = mts_ran_since(job);
		job->look.user_ns = mts_add_sat(job->look.user_ns, ran);
		if (!job->confined)
			sum = mts_add_sat(sum, ran);
	}
	return sum;
}

static u64 forecast(const struct mts_wants *wants)
{
	return mts_forecast_turns(wants, num_online_cpus(), mts_rotor.round.bins,
				  &mts_rotor.round.plan);
}

/*
 * While jobs thrash on a slow disk, a job that sleeps is never seen asleep: its next page takes
 * longer than its sleep. So a job that slept when the thrashing began counts as sleeping. Turns
 * cost jobs that mostly sleep more than they gain.
 */
static bool turns_may_begin(u64 now)
{
	return !mts_verdict_holds(&mts_rotor.admission.verdict, now) && !mts_onset_most_sleep();
}

/* What confined jobs get and lose is their limits' doing: the host cannot give them more. */
static void close_window(u64 now)
{
	u64 elapsed = now - mts_rotor.admission.past.began;
	struct mts_pool residents = { 0 }, others = { 0 };
	struct mts_window window = { .user_ns = read_times(),
				     .swapins = swapins(),
				     .reclaimed = mts_memory_reclaimed(),
				     .full = is_full() };
	struct mts_choice_window choice = { .now = now, .elapsed_ns = elapsed };
	bool is_auto = mts_auto_is_on();
	u64 awake = 0;
	u32 i;

	for (i = 0; i < mts_rotor.roster.n; i++) {
		struct mts_job *job = mts_rotor.roster.jobs[i];

		/*
		 * While all jobs thrash, a job that waits looks asleep; a job that runs is awake.
		 */
		if (job->look.user_ns > div_u64(elapsed, RUNS_PART))
			job->slept = false;
		if (!job->confined) {
			window.stalled_ns = mts_add_sat(window.stalled_ns, job->look.stalled_ns);
			awake += mts_admission_awake(&job->look);
			mts_admission_add(mts_roster_is_resident(job) ? &residents : &others,
					  &job->look, elapsed);
		}
	}
	window.could_run = mts_admission_could_run(awake, num_online_cpus());
	window.wants.exempt = mts_admission_potential(&residents);
	window.wants.others = mts_admission_potential(&others);
	window.expected = forecast(&window.wants);
	if (is_auto)
		mts_auto_foretell(&choice, window.could_run,
				  window.swapins - mts_rotor.admission.past.swapins);
	for (i = 0; i < mts_rotor.roster.n; i++)
		mts_admission_forget(&mts_rotor.roster.jobs[i]->look);
	if (!mts_admission_close(&mts_rotor.admission.past, now, &window) || !is_auto)
		return;
	choice.user_ns = window.user_ns;
	choice.loses = mts_rotor.admission.past.loses;
	choice.forecast[MTS_POLICY_TURNS] = window.expected;
	mts_auto_choose(&choice, turns_may_begin(now));
}

/*
 * What the jobs get of the processors without turns, while it may be asked for.
 * Return: is there more to decide by than before?
 */
bool mts_admit_look(void)
{
	u64 now;

	if (mts_rotor.round.nbins >= 2 || !mts_admit_reclaims())
		return false;
	mts_promise_step("tasks are looked at");
	mts_tasks_look();
	now = ktime_get_ns();
	if (!mts_admission_look(&mts_rotor.admission.past, now, is_unsure()))
		return false;
	close_window(now);
	return true;
}

/*
 * A round that is cut short says too little, and so does a very short one. But if round after round
 * is, turns must not go on unjudged: what they cost together is judged as soon as a round's time
 * has passed.
 */
void mts_admit_judge(u64 began, bool whole)
{
	struct mts_admitting *admission = &mts_rotor.admission;
	struct mts_choice_window round = { .loses = true };
	u64 user, took, now = ktime_get_ns();

	/* Turns that were not taken for the jobs' sake are not given up for it. */
	if (!admission->past.began)
		return;
	if (!admission->unjudged_since)
		admission->unjudged_since = began;
	took = now - admission->unjudged_since;
	if (took < MTS_JUDGED_NS || (!whole && took < mts_rotor.round.plan.round_ns))
		return;
	user = read_times();
	if (!mts_admission_round(&admission->past, user, took))
		mts_verdict_give(&admission->verdict, MTS_REASON_NO_GAIN, now);
	else if (mts_admission_is_proven(&admission->past))
		mts_verdict_forget(&admission->verdict);
	admission->unjudged_since = 0;
	round.now = now;
	round.elapsed_ns = took;
	round.user_ns = user;
	if (mts_auto_is_on())
		mts_auto_choose(&round, true);
}

/* By the user's word: whatever the host pays, and whatever turns cost. */
bool mts_admit_by_demand(const struct mts_config *config)
{
	return config->mode == MTS_MODE_ALWAYS || config->bin_bytes;
}

/*
 * By what switches took so far: no turns would be better, as they were before. Turns that began at
 * an onset are not judged by a forecast: there was no window before them to compare with.
 */
static bool switches_take_too_long(void)
{
	const struct mts_plan *plan = &mts_rotor.round.plan;

	/* They are about to be others. */
	if (mts_rotor.round.nbins >= 2 && mts_rotor.costs.switches.are_new)
		return false;
	if (mts_plan_slices_too_long(mts_rotor.round.bins, plan))
		return true;
	/* What a page took in another kind of switch is no reason to give up what was not tried. */
	if (mts_costs_are_guessed(plan->overlaps))
		return false;
	if (plan->breaks_limit)
		return true;
	/* A round in which the jobs got more counts for more than the forecast. */
	return mts_rotor.round.nbins >= 2 && mts_rotor.admission.past.began &&
	       !mts_rotor.admission.past.rounds &&
	       mts_forecast_is_better(mts_rotor.admission.past.before,
				      forecast(&mts_rotor.admission.past.wants));
}

bool mts_admit_turns_pay(u64 now)
{
	return mts_admission_pays(&mts_rotor.admission.past) && turns_may_begin(now);
}

/* Of the exempt jobs: these may want turns at any time, so they are no other jobs when they do. */
static u64 sleepers_demand(void)
{
	u64 sum = 0;
	u32 i;

	for (i = 0; i < mts_rotor.roster.n; i++)
		if (mts_rotor.roster.jobs[i]->sleeps)
			sum = mts_add_sat(sum, mts_roster_bin_bytes(mts_rotor.roster.jobs[i]));
	return sum;
}

/* Other jobs, or another host: what was found before does not hold for them. */
static void review(u32 freezable)
{
	const struct mts_plan *plan = &mts_rotor.round.plan;
	const struct mts_grounds grounds = {
		.demand = mts_add_sat(plan->demand, plan->resident_demand),
		.exempt = mts_sub_floor(plan->resident_demand, sleepers_demand()),
		.capacity = mts_add_sat(plan->capacity, plan->resident_demand),
		.jobs = freezable,
		.processors = num_online_cpus(),
	};

	if (mts_rotor.round.nbins < 2)
		mts_verdict_review(&mts_rotor.admission.verdict, &grounds);
	if (mts_rotor.round.nbins < 2 || mts_rotor.choosing.choice.policy == MTS_POLICY_TURNS)
		mts_auto_review(&grounds);
}

/* Does the host pay for its shortage, and would turns be cheaper? */
static u32 weigh(const struct mts_config *config)
{
	struct mts_verdict *verdict = &mts_rotor.admission.verdict;
	u64 now = ktime_get_ns();
	bool exempt;

	if (mts_admit_by_demand(config) || mts_rotor.onset.is_on)
		return MTS_REASON_OVERCOMMIT;
	if (mts_verdict_holds(verdict, now))
		return verdict->reason;
	if (switches_take_too_long()) {
		/* So many bins, and so much to swap, as each job has a bin of its own. */
		exempt = mts_plan_exempt_take_all(mts_rotor.round.bins, &mts_rotor.round.plan);
		mts_verdict_give(verdict, exempt ? MTS_REASON_EXEMPT : MTS_REASON_SLOW_SWAP, now);
		mts_costs_forget();
		return verdict->reason;
	}
	/* Once it rotates the rotation itself keeps reclaim away. */
	if (mts_rotor.round.nbins >= 2)
		return MTS_REASON_OVERCOMMIT;
	if (!mts_admit_reclaims())
		return MTS_REASON_NO_PRESSURE;
	return mts_admit_turns_pay(now) ? MTS_REASON_OVERCOMMIT : MTS_REASON_COPES;
}

/* The policies without turns find out themselves which job to help, and whether that pays. */
static u32 weigh_policy(const struct mts_config *config)
{
	const struct mts_verdict *verdict = &mts_rotor.admission.verdict;
	bool by_demand = mts_admit_by_demand(config);

	if (config->policy == MTS_POLICY_NONE)
		return MTS_REASON_POLICY;
	if (!by_demand && !mts_admit_reclaims())
		return MTS_REASON_NO_PRESSURE;
	if (config->policy == MTS_POLICY_FAIR)
		return MTS_REASON_FAIR;
	if (!by_demand && mts_verdict_holds(verdict, ktime_get_ns()))
		return verdict->reason;
	return MTS_REASON_TOKEN;
}

/* The policy in force; turns, if they are not about to begin or to go on, leave it to none. */
static u32 weigh_auto(const struct mts_config *config)
{
	u32 reason;

	if (mts_admit_by_demand(config) || mts_rotor.onset.is_on) {
		mts_auto_take(MTS_POLICY_TURNS);
	} else if (mts_rotor.choosing.choice.policy != MTS_POLICY_TURNS && !mts_admit_reclaims()) {
		mts_auto_take(MTS_POLICY_NONE);
		return MTS_REASON_NO_PRESSURE;
	}
	switch (mts_rotor.choosing.choice.policy) {
	case MTS_POLICY_FAIR:
		return MTS_REASON_FAIR;
	case MTS_POLICY_TOKEN:
		return MTS_REASON_TOKEN;
	case MTS_POLICY_NONE:
		return MTS_REASON_COPES;
	}
	reason = weigh(config);
	if (reason != MTS_REASON_OVERCOMMIT)
		mts_auto_take(MTS_POLICY_NONE);
	return reason;
}

static u32 decide_policy(const struct mts_config *config)
{
	if (config->policy == MTS_POLICY_AUTO)
		return weigh_auto(config);
	return config->policy == MTS_POLICY_TURNS ? weigh(config) : weigh_policy(config);
}

/* Why no policy acts, whichever it is; MTS_REASON_OVERCOMMIT: nothing is in the way. */
static u32 find_obstacle(const struct mts_config *config, u32 freezable)
{
	if (config->mode == MTS_MODE_OFF)
		return MTS_REASON_NONE;
	if (freezable < 2)
		return MTS_REASON_NO_JOBS;
	if (mts_rotor.round.plan.nbins < 2)
		return MTS_REASON_FITS;
	if (!has_swap())
		return MTS_REASON_NO_SWAP;
	return MTS_REASON_OVERCOMMIT;
}

static u32 decide(const struct mts_config *config, u32 freezable)
{
	u32 reason = find_obstacle(config, freezable);

	if (reason == MTS_REASON_OVERCOMMIT)
		return decide_policy(config);
	mts_auto_take(MTS_POLICY_NONE);
	return reason;
}

static bool is_action(u32 reason)
{
	return reason == MTS_REASON_OVERCOMMIT || mts_reason_is_sharing(reason);
}

/* A new configuration is tried at once, whatever verdict there is. */
void mts_admit_retry(void)
{
	if (!mts_state_take_order())
		return;
	mts_verdict_forget(&mts_rotor.admission.verdict);
	mts_auto_forget();
}

u32 mts_admit(const struct mts_config *config, u32 freezable)
{
	u32 reason;
	bool would;

	review(freezable);
	reason = decide(config, freezable);
	would = config->mode == MTS_MODE_SHADOW && is_action(reason);

	if (would != mts_rotor.admission.would_rotate) {
		mts_rotor.admission.would_rotate = would;
		if (would && mts_reason_is_sharing(reason))
			pr_info("shadow: would act now: %s\n", mts_status_explain(reason));
		else if (would)
			pr_info("shadow: would rotate now: %u bins, longest pause %llu ms\n",
				mts_rotor.round.plan.nbins,
				div_u64(mts_rotor.round.plan.longest_pause_ns, NSEC_PER_MSEC));
		else
			pr_info("shadow: would not rotate any more: %s\n",
				mts_status_explain(reason));
	}
	return would ? MTS_REASON_SHADOW : reason;
}

void mts_admit_note_turn(u32 before, bool on_demand)
{
	/* Turns may end without a plan, where the gate closes: so when they begin, too. */
	if (before < 2 || mts_rotor.round.nbins < 2)
		mts_rotor.admission.unjudged_since = 0;
	/* The host may have reclaimed, and the jobs been looked at, all the same. */
	if (on_demand || !mts_rotor.admission.past.began)
		return;
	if (before < 2 && mts_rotor.round.nbins >= 2) {
		mts_admission_begin(&mts_rotor.admission.past, ktime_get_ns());
		read_times();
	} else if (before >= 2 && mts_rotor.round.nbins < 2) {
		mts_admission_end(&mts_rotor.admission.past);
	}
}

struct mts_verdict *mts_admit_verdict(void)
{
	bool unjudged;

	mutex_lock(&mts_lock);
	unjudged = mts_admit_by_demand(mts_rotor_config()) ||
		   mts_rotor_config()->policy == MTS_POLICY_AUTO;
	mutex_unlock(&mts_lock);
	return unjudged ? NULL : &mts_rotor.admission.verdict;
}

bool mts_admit_starves(void)
{
	bool starves = mts_admit_reclaims() &&
		       mts_admission_starves(&mts_rotor.admission.past, ktime_get_ns());

	if (starves && !mts_rotor.admission.starves)
		pr_notice_ratelimited("out of memory: nothing can be reclaimed, no job runs\n");
	mts_rotor.admission.starves = starves;
	return starves;
}

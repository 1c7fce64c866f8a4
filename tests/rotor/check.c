// SPDX-License-Identifier: GPL-2.0
#include "check.h"

#include "events/stats.h"
#include "events/trace.h"
#include "events/wake.h"
#include "jobs/freezer.h"
#include "context/virtual/machine.h"
#include "policy/bins.h"
#include "policy/choice.h"
#include "rotor/roster.h"
#include "rotor/state.h"

/* Invariant 1: after jobs must not be frozen any more, all are thawed within this time, ns. */
#define THAW_NS (1 * (u64)NSEC_PER_SEC)
/*
 * Added to limits during mishaps, ns: a mishap may keep a lock for half a second, and several may
 * coincide.
 */
#define FOUL_SLACK_NS (2 * (u64)NSEC_PER_SEC)
/* Interval between two checks of all jobs, ns. A shorter one slows the run down. */
#define LOOK_NS (5 * (u64)NSEC_PER_MSEC)
/*
 * A new job must be seen within this time, ns. In a slice the rotor looks once per tick of 50 ms,
 * unless it is busy. Without turns it looks at once, but measures for at most 2 % of the time.
 */
#define TICKS_NS (3 * (u64)NSEC_PER_SEC)
/* A plan's figures are no older, ns: the idle rotor does not measure for each plan. */
#define MEASURED_NS (10 * (u64)NSEC_PER_SEC)
/* Each look at the clock, the tasks and what an operation takes comes on top. */
#define TICK_NS (50 * (u64)NSEC_PER_MSEC)
#define LISTEN_NS (60 * (u64)NSEC_PER_SEC)
/* A mishap and its effects are over after this time, ns. */
#define FOUL_NS (40 * (u64)NSEC_PER_SEC)

struct coverage coverage;

static struct check {
	bool gentle;
	u64 next_look;
	struct limit { /* of attended jobs, and of others */
		u64 recent; /* the longest one */
		u64 now;
		u64 since;
	} limits[2];
	u64 forbidden_since; /* 0: jobs may be frozen */
	u32 state;
	u64 moved; /* when a plan last moved a frozen job to another bin */
	u64 capacity; /* of the plan of this round */
	u64 switches;
	u64 began;
	const char *did;
	u64 judged_at; /* turns were judged; 0: there are none */
	u64 judged_in; /* in that round */
	u64 longest_round; /* ns, of those planned since */
	u64 switching; /* ns in switches of this round, or of the last one if that took longer */
	u64 switched; /* in those of this round */
	u32 good, poor;
	u64 moving_ns; /* counted before the switch */
	u64 tried_since; /* no policy was on trial */
	u64 queue_since; /* nothing has begun, and jobs are in the queue; 0: it is not so */
} check;

#define BREACH(...) mts_user_bug(__FILE__, __LINE__, __VA_ARGS__)

static bool is_foul(void)
{
	return host.last_foul && machine_now() - host.last_foul < FOUL_NS;
}

/* Is no thread in a freezer operation on the job that hangs? */
static bool is_in_reach(const struct model *model)
{
	return !model->in_op;
}

static void check_pause(const struct model *model)
{
	const struct mts_job *job = model->job;
	const struct limit *of = &check.limits[model->unattended];
	u64 limit = max(of->recent, of->now), age;

	if (!job->frozen)
		return;
	if (job->held)
		limit = job->max_wait_ns;
	else if (job->max_pause_ns && model->limited < job->frozen_since)
		limit = min(limit, job->max_pause_ns);
	/* The watchdog thaws before the limit, but a mishap may delay it. */
	age = machine_now() - job->frozen_since;
	if (age > limit + (is_foul() ? FOUL_SLACK_NS : 0) && is_in_reach(model))
		BREACH("%s: frozen for %llu ms, limit %llu ms (last: %s)", job->name,
		       age / NSEC_PER_MSEC, limit / NSEC_PER_MSEC, check.did);
}

/* Of a job in a gentle run. */
static u64 longest_limit(void)
{
	return host.unattended ? MTS_PAUSE_UNATTENDED_NS : MTS_PAUSE_STRETCHED_NS;
}

/* Without turns a job is delayed for a moment, and delayed is what it says then. */
static void check_delay(const struct model *model)
{
	const struct mts_job *job = model->job;

	if (mts_rotor.phase.state != MTS_STATE_SHARING || !job->frozen || job->held || is_foul() ||
	    !is_in_reach(model))
		return;
	if (machine_now() - job->frozen_since > NSEC_PER_SEC)
		BREACH("%s: delayed for %llu ms (last: %s)", job->name,
		       (machine_now() - job->frozen_since) / NSEC_PER_MSEC, check.did);
	if (!job->delayed)
		BREACH("%s: frozen without turns, and not delayed (last: %s)", job->name,
		       check.did);
}

static void check_forbidden_freeze(const struct model *model)
{
	if (check.forbidden_since && model->job->frozen && is_in_reach(model) &&
	    machine_now() > check.forbidden_since + THAW_NS + (is_foul() ? FOUL_SLACK_NS : 0))
		BREACH("%s: frozen, %llu ms after that was forbidden (last: %s)", model->job->name,
		       (machine_now() - check.forbidden_since) / NSEC_PER_MSEC, check.did);
}

/* The job's cgroup.freeze must agree with mts' own state. */
static void check_file(const struct model *model)
{
	if (model->cgrp.online && model->frozen_by_file && !model->job->frozen && !model->foreign &&
	    is_in_reach(model) && !model->job->freeze_lock.owner)
		BREACH("%s: its file says 1, and neither mts nor others want that (last: %s)",
		       model->job->name, check.did);
}

/*
 * The rotor must not sleep without a limit while it has events. All threads sleep, so none is about
 * to wake it.
 */
static void check_lost_wakeup(void)
{
	if (mts_wake_events(MTS_THREAD_ROTOR, BIT(MTS_ROTOR_EV_JOBS) | BIT(MTS_ROTOR_EV_GATE)) &&
	    machine_sleeps_for_ever("mts_rotor"))
		BREACH("the rotor sleeps on, with events %lx (last: %s)",
		       mts_wake_events(MTS_THREAD_ROTOR, ~0ul), check.did);
}

static bool is_in_roster(const struct mts_job *job)
{
	u32 i;

	for (i = 0; i < mts_rotor.roster.n; i++)
		if (mts_rotor.roster.jobs[i] == job)
			return true;
	return false;
}

/* The rotor was told of a new job and must look at it in time. */
static void check_newcomer(struct model *model)
{
	u64 limit = mts_rotor.phase.state == MTS_STATE_RUNNING ? TICKS_NS : LISTEN_NS;

	/* A switch has no time limit. */
	if (model->job->held || mts_rotor.phase.state == MTS_STATE_SWITCHING || model->ended ||
	    is_foul() || mts_gate_reason() || is_in_roster(model->job))
		model->seen = machine_now();
	else if (machine_now() - model->seen > limit)
		BREACH("%s: the rotor has not seen it for %llu ms (last: %s)", model->job->name,
		       limit / NSEC_PER_MSEC, check.did);
}

/* A job of the queue has not begun: it is in no bin, and has nothing that could be evicted. */
static void check_held(const struct model *model)
{
	const struct mts_job *job = model->job;

	if (!job->held)
		return;
	if (is_in_roster(job) || job->bin != MTS_BIN_NONE)
		BREACH("%s: it is in the queue, and in the roster (last: %s)", job->name,
		       check.did);
	if (job->evicted || model->resident || model->swap)
		BREACH("%s: in the queue, with %llu KiB in memory, %llu in swap (last: %s)",
		       job->name, model->resident >> 10, model->swap >> 10, check.did);
}

/* If nothing has begun, the oldest job of the queue begins, whatever it needs. */
static void check_idle_queue(void)
{
	u32 i, held = 0;
	bool begun = false;

	for (i = 0; i < nmodels; i++) {
		if (!models[i] || models[i]->buried)
			continue;
		held += models[i]->job->held && models[i]->job->frozen && !models[i]->ended;
		begun |= !models[i]->job->held;
	}
	/* From the first look at which it is so: between two looks it may have slept for long. */
	if (!held || begun || is_foul() || mts_rotor.phase.state != MTS_STATE_IDLE)
		check.queue_since = 0;
	else if (!check.queue_since)
		check.queue_since = machine_now();
	else if (machine_now() - check.queue_since > TICKS_NS)
		BREACH("%u jobs are in the queue, and nothing runs (last: %s)", held, check.did);
}

/* Is the job's memory protected for another reason than that it is the holder? */
static bool is_exempt(const struct mts_job *job)
{
	return mts_roster_is_resident(job) || job->limited || job->kept_bytes ||
	       job->bin == MTS_BIN_EVERY;
}

/* One job holds at a time, under that policy; what protected it goes when it holds no more. */
static void check_holder(struct model *model, u32 *holders)
{
	const struct mts_job *job = model->job;

	*holders += job->holder;
	if (job->holder != model->told_to_hold)
		BREACH("%s: it holds: %d; told: %d", job->name, job->holder, model->told_to_hold);
	if (job->holder && mts_rotor.phase.state != MTS_STATE_SHARING)
		BREACH("%s: it holds, in state %u (last: %s)", job->name, mts_rotor.phase.state,
		       check.did);
	if (*holders > 1)
		BREACH("%s: it holds, and so does another one (last: %s)", job->name, check.did);
	model->held |= job->holder;
	if (job->holder || model->low == model->own_low || is_exempt(job))
		model->held_until = machine_now();
	if (model->low == model->own_low)
		model->held = job->holder;
	/* A write of the setting may fail: then it is tried again when the rotor wakes. */
	if (is_foul() || mts_wake_events(MTS_THREAD_ROTOR, ~0ul))
		model->held_until = machine_now();
	if (model->held && machine_now() > model->held_until + TICKS_NS)
		BREACH("%s: memory.low is %llu KiB, and it holds no more (last: %s)", job->name,
		       model->low >> 10, check.did);
}

/* A policy is in force only while memory is short, and on trial only for a bounded time. */
static void check_choice(void)
{
	const struct mts_choice *choice = &mts_rotor.choosing.choice;
	const struct mts_phase *phase = &mts_rotor.phase;
	u64 longest = max(choice->of[choice->policy].takes_ns, MTS_CHOICE_TRIAL_NS);

	if (phase->state == MTS_STATE_IDLE && phase->reason == MTS_REASON_FITS &&
	    choice->policy != MTS_POLICY_NONE)
		BREACH("all jobs fit, and policy %u is in force (last: %s)", choice->policy,
		       check.did);
	if (phase->state != MTS_STATE_SHARING || !choice->on_trial || is_foul())
		check.tried_since = machine_now();
	else if (machine_now() - check.tried_since > MTS_CHOICE_TRIAL_NS + longest)
		BREACH("policy %u is on trial for %llu s (last: %s)", choice->policy,
		       (machine_now() - check.tried_since) / NSEC_PER_SEC, check.did);
}

static void look(void)
{
	u32 i, holders = 0;

	check_idle_queue();
	check_choice();

	for (i = 0; i < nmodels; i++) {
		if (!models[i] || models[i]->buried)
			continue;
		check_pause(models[i]);
		check_delay(models[i]);
		check_forbidden_freeze(models[i]);
		check_file(models[i]);
		check_newcomer(models[i]);
		check_held(models[i]);
		check_holder(models[i], &holders);
	}
}

static void note_state(void)
{
	u32 state = mts_rotor.phase.state & 7;

	coverage.transitions[check.state][state] += state != check.state;
	coverage.states[state] += state != check.state;
	coverage.reasons[mts_rotor.phase.reason % ARRAY_SIZE(coverage.reasons)] +=
		state != check.state;
	if (state != MTS_STATE_RUNNING && state != MTS_STATE_SWITCHING)
		check.judged_at = 0;
	check.state = state;
}

static void forget_limit(struct limit *limit)
{
	if (machine_now() > limit->since + limit->recent)
		limit->recent = limit->now;
}

static void after_turn(void)
{
	note_state();
	if (host.suspended && !mts_gate_reason())
		BREACH("the gate is open, though the host suspends (last: %s)", check.did);
	if (mts_gate_may_freeze())
		check.forbidden_since = 0;
	else if (!check.forbidden_since)
		check.forbidden_since = machine_now();
	if (machine_now() < check.next_look)
		return;
	check.next_look = machine_now() + LOOK_NS;
	forget_limit(&check.limits[false]);
	forget_limit(&check.limits[true]);
	look();
}

/* ---- at each event ---------------------------------------------------------------------- */

static u32 count_in_bin(u32 bin, u64 *demand)
{
	u32 i, n = 0;

	*demand = 0;
	for (i = 0; i < mts_rotor.roster.n; i++) {
		if (mts_rotor.roster.jobs[i]->bin != bin)
			continue;
		n++;
		*demand = mts_add_sat(*demand, mts_rotor.roster.jobs[i]->planned_bytes);
	}
	return n;
}

/* A bin is as full as its jobs make it: a job that ended or left takes no room in it. */
static void check_bins(void)
{
	u64 demand;
	u32 bin, n;

	for (bin = 0; bin < mts_rotor.round.nbins; bin++) {
		n = count_in_bin(bin, &demand);
		if (n != mts_rotor.round.bins[bin].jobs)
			BREACH("bin %u has %u jobs, and says %u (last: %s)", bin, n,
			       mts_rotor.round.bins[bin].jobs, check.did);
		if (demand != mts_rotor.round.bins[bin].demand)
			BREACH("bin %u holds %llu KiB, and says %llu (last: %s)", bin, demand >> 10,
			       mts_rotor.round.bins[bin].demand >> 10, check.did);
	}
}

/* When a slice begins, the jobs of its bin and the exempt jobs are thawed. */
static void check_turn(u32 bin)
{
	u32 i;

	for (i = 0; i < mts_rotor.roster.n; i++) {
		const struct mts_job *job = mts_rotor.roster.jobs[i];
		const struct model *model = model_of(job);

		if (job->flags & MTS_JOB_PIN && job->bin < mts_rotor.round.nbins &&
		    !mts_wake_events(MTS_THREAD_ROTOR, BIT(MTS_ROTOR_EV_CONFIG)))
			BREACH("%s: it is pinned, and takes turns (last: %s)", job->name,
			       check.did);
		if ((job->runs || job->bin == MTS_BIN_EVERY) && job->frozen &&
		    !job->freeze_lock.owner && !model->buried)
			BREACH("%s: its slice begins, and it is frozen (last: %s)", job->name,
			       check.did);
	}
}

/*
 * All memory of a pinned job is protected and counted: it has no slices, in which its use could be
 * measured. The round in which it is pinned may have been measured before.
 */
static void check_pinned(void)
{
	u32 i;

	for (i = 0; i < mts_rotor.roster.n; i++) {
		const struct mts_job *job = mts_rotor.roster.jobs[i];
		struct model *model = model_of(job);

		if (!(job->flags & MTS_JOB_PIN))
			model->pinned = 0;
		else if (!model->pinned)
			model->pinned = mts_rotor.phase.round;
		else if (mts_rotor.phase.round > model->pinned && job->unused && !is_foul())
			BREACH("%s: it is pinned, and %llu KiB of it count as unused (last: %s)",
			       job->name, job->unused >> 10, check.did);
	}
}

/* A planned bin of several jobs keeps the capacity; new or growing jobs may exceed it. */
static void check_capacity(u32 bin, const struct mts_plan_bin *plan)
{
	u64 most = mts_add_sat(mts_rotor.round.plan.capacity, mts_rotor.round.plan.capacity / 8);

	if (mts_rotor.round.newcomers || plan->jobs < 2 || plan->flags & MTS_PLAN_OVERFULL)
		return;
	if (plan->demand > most && mts_rotor.round.plan.capacity == check.capacity)
		BREACH("bin %u: %u jobs, %llu MiB in %llu MiB, flags %u (last: %s)", bin,
		       plan->jobs, plan->demand >> 20, mts_rotor.round.plan.capacity >> 20,
		       plan->flags, check.did);
}

/* Turns for the jobs' sake are compared with the time before, however short rounds are cut. */
static void check_judged(void)
{
	const struct mts_admission *past = &mts_rotor.admission.past;
	u64 now = machine_now(), round_ns = mts_rotor.round.plan.round_ns;

	if (!past->began || past->rounds != check.good || past->poor != check.poor ||
	    !check.judged_at) {
		check.judged_at = now;
		check.judged_in = mts_rotor.phase.round;
		check.longest_round = 0;
		check.switching = 0;
		check.good = past->rounds;
		check.poor = past->poor;
	}
	check.longest_round = max(check.longest_round, max(round_ns, NSEC_PER_SEC));
	if (is_foul())
		check.judged_at = now;
	else if (mts_rotor.phase.round > check.judged_in + 4 &&
		 now - check.judged_at >
			 4 * check.longest_round + check.switching + 4 * NSEC_PER_SEC)
		BREACH("turns have not been judged for %llu ms; the longest round: %llu ms",
		       (now - check.judged_at) / NSEC_PER_MSEC,
		       check.longest_round / NSEC_PER_MSEC);
}

/* A freeze of a job without swap frees nothing: a plan that knows of it gives it no bin. */
static void check_swap(void)
{
	u32 i;

	for (i = 0; i < mts_rotor.roster.n; i++) {
		const struct mts_job *job = mts_rotor.roster.jobs[i];
		const struct model *model = model_of(job);

		if (job->bin < mts_rotor.round.nbins && !model->swap_limit &&
		    model->limits_changed + MEASURED_NS < mts_rotor.planning.planned)
			BREACH("%s: may have no swap, but is in bin %u", job->name, job->bin);
	}
}

void trace_mts_slice_begin(u64 round, u32 bin, const struct mts_plan_bin *plan)
{
	check_bins();
	if (!is_foul())
		check_swap();
	check_capacity(bin, plan);
	check_judged();
	check_pinned();
	if (!is_foul() && mts_gate_may_freeze())
		check_turn(bin);
	mts_user_log("slice of bin %u, %llu ms", bin, plan->slice_ns / NSEC_PER_MSEC);
}

/*
 * A round that ends as nothing else is left: no other bin has a job. A watchdog's thaw does not end
 * it, as the thawed job keeps its bin and its turn.
 */
static void check_alone(enum mts_slice_end why)
{
	u32 i;

	if (why != MTS_SLICE_ALONE)
		return;
	for (i = 0; i < mts_rotor.roster.n; i++) {
		const struct mts_job *job = mts_rotor.roster.jobs[i];

		if (job->bin < mts_rotor.round.nbins && !job->runs)
			BREACH("the slice of bin %u ends as if it were alone, but %s is in bin %u",
			       mts_rotor.phase.running, job->name, job->bin);
	}
}

/*
 * A bin that needs more than was planned ends its round, so that the others have no slice in it:
 * slices are compared from there on.
 */
static void restart_shares(void)
{
	u32 i;

	for (i = 0; i < nmodels; i++)
		if (models[i])
			models[i]->slices_before = models[i]->job->slices;
}

void trace_mts_slice_end(u64 round, u32 bin, enum mts_slice_end why, u64 planned, u64 ran)
{
	coverage.slice_ends[why]++;
	check_alone(why);
	if (why == MTS_SLICE_OUTGROWN || why == MTS_SLICE_SWAPS)
		restart_shares();
	mts_user_log("slice ends: %u after %llu ms", why, ran / NSEC_PER_MSEC);
	/*
	 * What a user waits for may take a second beyond its end (mts_bring_wanted()), and the
	 * pages that are on their way then are waited for.
	 */
	if (ran > planned + NSEC_PER_SEC + 2 * TICK_NS && !is_foul())
		BREACH("a slice of %llu ms took %llu ms", planned / NSEC_PER_MSEC,
		       ran / NSEC_PER_MSEC);
}

void trace_mts_freeze(struct mts_job *job)
{
	struct model *model = model_of(job);

	if (model->buried)
		BREACH("%s: frozen, though it is no job any more", job->name);
	if (job->flags & MTS_JOB_PIN && READ_ONCE(job->bin) == MTS_BIN_EVERY)
		BREACH("%s: frozen, though it is pinned", job->name);
	mts_user_log("%s: freeze%s", job->name, model->foreign ? ", beside others" : "");
}

void trace_mts_hold(struct mts_job *job)
{
	struct model *model = model_of(job);

	if (model->told_to_hold)
		BREACH("%s: told twice that it holds", job->name);
	model->told_to_hold = true;
}

void trace_mts_release(struct mts_job *job)
{
	struct model *model = model_of(job);

	if (!model->told_to_hold)
		BREACH("%s: told that it holds no more, and not that it did", job->name);
	model->told_to_hold = false;
}

void trace_mts_policy(u32 before, const struct mts_choice *choice)
{
	coverage.choices[before % MTS_POLICIES][choice->policy % MTS_POLICIES]++;
	mts_user_log("policy %u, before %u%s; turns %llu, none %llu, fair %llu, token %llu",
		     choice->policy, before, choice->on_trial ? ", on trial" : "",
		     choice->of[MTS_POLICY_TURNS].share, choice->of[MTS_POLICY_NONE].share,
		     choice->of[MTS_POLICY_FAIR].share, choice->of[MTS_POLICY_TOKEN].share);
	if (mts_rotor.order.config.policy != MTS_POLICY_AUTO && !mts_rotor.order.is_new)
		BREACH("policy %u is chosen, though another one is configured", choice->policy);
}

void trace_mts_job(struct mts_job *job, enum mts_job_what what)
{
	if (what == MTS_JOB_PLACED && job->frozen)
		check.moved = machine_now();
}

void trace_mts_thaw(struct mts_job *job, enum mts_thaw_why why)
{
	coverage.thaws[why]++;
	mts_user_log("%s: thaw, why %u", job->name, why);
	/*
	 * Exempt from the check are three cases without a remedy:
	 *
	 * - A plan moves a job that has waited for nearly all of its pause to another bin. Slices
	 *   of disjoint bins leave no time to run it early.
	 * - A switch takes longer than all switches before it.
	 * - A new job that fits into no bin waits for the next round, however long this round
	 *   lasts.
	 */
	if (why == MTS_THAW_OVERDUE && check.gentle && mts_rotor.phase.state == MTS_STATE_RUNNING &&
	    job->bin != MTS_BIN_NONE && machine_now() > check.moved + longest_limit())
		BREACH("%s: the watchdog has to thaw it in fair weather", job->name);
}

void trace_mts_stop(u32 reason, u32 frozen, const char *detail)
{
	mts_user_log("stop: %s", detail);
	if (reason == MTS_REASON_STALL && !is_foul())
		BREACH("stopped in fair weather: %s", detail);
}

/* What the statistics count of freezing, eviction and bring-back. */
static u64 moving_ns(void)
{
	return mts_stats_read(freeze_ns) + mts_stats_read(evict_ns) + mts_stats_read(bring_back_ns);
}

void trace_mts_switch_begin(u64 round, u32 from, u32 to)
{
	check.switches++;
	coverage.switches++;
	check.moving_ns = moving_ns();
	mts_user_log("switch from %d to %d", (int)from, (int)to);
}

void trace_mts_switch_end(u64 round, u32 from, u32 to, u64 took,
			  const struct mts_switch_parts *parts, int err)
{
	u64 counted = moving_ns() - check.moving_ns;

	mts_user_log("switch took %llu ms, error %d", took / NSEC_PER_MSEC, err);
	/* A round is judged when it is over, whatever its switches take, each of them. */
	check.switched += took;
	check.switching = max(check.switching, check.switched);
	if (counted > took)
		BREACH("the parts of a switch of %llu us are counted as %llu us",
		       took / NSEC_PER_USEC, counted / NSEC_PER_USEC);
}

/* A job that runs in every bin of a round has more of it than a slice. */
static void count_exempt(void)
{
	u32 i;

	for (i = 0; i < mts_rotor.roster.n; i++)
		if (mts_rotor.roster.jobs[i]->bin == MTS_BIN_EVERY)
			model_of(mts_rotor.roster.jobs[i])->slices_before--;
}

void trace_mts_round(u64 round, const struct mts_plan *plan, u32 jobs)
{
	count_exempt();
	check.switched = 0;
	coverage.rounds++;
	check.capacity = plan->capacity;
	mts_user_log("round %llu: %u jobs, %u bins, capacity %llu MiB, demand %llu MiB", round,
		     jobs, plan->nbins, plan->capacity >> 20, plan->demand >> 20);
}

/* ---- a run ------------------------------------------------------------------------------ */

void check_note(const char *what)
{
	check.did = what;
	mts_user_log("%s", what);
}

static void set_limit(struct limit *limit, u64 ns)
{
	/* Jobs that are frozen already may have been frozen under the longer limit. */
	if (ns < limit->now) {
		limit->recent = max(limit->recent, limit->now);
		limit->since = machine_now();
	}
	limit->now = ns;
}

void check_limit(u64 ns)
{
	set_limit(&check.limits[false], ns ?: MTS_PAUSE_STRETCHED_NS);
	set_limit(&check.limits[true], ns ?: MTS_PAUSE_UNATTENDED_NS);
}

u64 check_switches(void)
{
	return check.switches;
}

void check_begin(bool gentle)
{
	check = (struct check){
		.gentle = gentle,
		.limits = { { .now = MTS_PAUSE_STRETCHED_NS }, { .now = MTS_PAUSE_UNATTENDED_NS } },
		.began = machine_now(),
		.did = "nothing",
		.tried_since = machine_now(),
	};
	machine_after_turn = after_turn;
	machine_all_sleep = check_lost_wakeup;
}

/* Of disjoint bins each job had as many slices; of overlapping ones, as much time. */
static u64 had(const struct model *model)
{
	return mts_rotor.round.plan.overlaps ? model->job->run_ns / NSEC_PER_SEC :
					       model->job->slices - model->slices_before;
}

/* Two slices, or the longest pause: when turns began, what the jobs need was not known. */
static u64 at_most_apart(void)
{
	return mts_rotor.round.plan.overlaps ? longest_limit() / NSEC_PER_SEC : 2;
}

void check_shares(void)
{
	u64 least = U64_MAX, most = 0, sum = 0, one;
	u32 i, n = 0;

	/* Groups that overlapped before the bins: their slices differ in length. */
	if (!mts_rotor.round.plan.overlaps && mts_stats_read(passes))
		return;
	/* Shares by weight: weight_cases.c */
	if (mts_rotor.round.plan.overlaps && mts_rotor.round.plan.entitled)
		return;
	for (i = 0; i < nmodels; i++) {
		if (!models[i] || models[i]->job->bin >= mts_rotor.round.nbins)
			continue;
		one = had(models[i]);
		least = min(least, one);
		most = max(most, one);
		sum += one;
		n++;
	}
	/*
	 * A small group also fills what memory the others leave, in which no other one has room: no
	 * job loses by that. So none may have less than the mean.
	 */
	if (mts_rotor.round.plan.overlaps && n)
		most = sum / n;
	/* An eighth, because new plans move jobs to other bins. */
	if (most > least + least / 8 + at_most_apart())
		BREACH("jobs that never changed had %llu to %llu %s", least, most,
		       mts_rotor.round.plan.overlaps ? "s" : "slices");
}

void check_end(void)
{
	u32 i, op, state;

	machine_after_turn = NULL;
	machine_all_sleep = NULL;
	for (i = 0; i < nmodels; i++)
		if (models[i])
			BREACH("a job is left");
	/* Where a write failed as the job ended, the value stays, and that is said. */
	for (i = 0; i < SLICES && !host.last_foul; i++)
		if (host.slice_low[i] != host.slice_own[i])
			BREACH("slice %u: memory.low is %llu KiB", i, host.slice_low[i] >> 10);
	coverage.runs++;
	coverage.turns += machine_turns();
	coverage.ns += machine_now() - check.began;
	for (op = 0; op < OPS; op++)
		for (state = 0; state < 8; state++)
			for (i = 0; i < MISHAPS; i++)
				coverage.mishaps[op][state][i] += host_mishaps[op][state][i];
}

/* ---- coverage --------------------------------------------------------------------------- */

static const char *const state_names[8] = {
	[MTS_STATE_OFF] = "off",	 [MTS_STATE_IDLE] = "idle",
	[MTS_STATE_RUNNING] = "running", [MTS_STATE_SWITCHING] = "switching",
	[MTS_STATE_STOPPED] = "stopped", [MTS_STATE_PAUSED] = "paused",
	[MTS_STATE_SHARING] = "sharing",
};

static const char *const op_names[OPS] = { "freeze", "thaw", "stops", "usage", "evict",
					   "bring",  "use",  "get",   "set" };

static void print_counts(FILE *to, const char *name, const u64 *counts, u32 n)
{
	u32 i;

	fprintf(to, "%-12s", name);
	for (i = 0; i < n; i++)
		if (counts[i])
			fprintf(to, " %u:%llu", i, (unsigned long long)counts[i]);
	fprintf(to, "\n");
}

void check_print(FILE *to)
{
	u32 i, j;

	for (i = 0; i < 8; i++)
		for (j = 0; j < 8; j++)
			if (coverage.transitions[i][j])
				fprintf(to, "%s -> %s: %llu\n", state_names[i], state_names[j],
					(unsigned long long)coverage.transitions[i][j]);
	print_counts(to, "reasons", coverage.reasons, ARRAY_SIZE(coverage.reasons));
	for (i = 0; i < MTS_POLICIES; i++)
		print_counts(to, "choices", coverage.choices[i], MTS_POLICIES);
	print_counts(to, "slice ends", coverage.slice_ends, ARRAY_SIZE(coverage.slice_ends));
	print_counts(to, "thaws", coverage.thaws, ARRAY_SIZE(coverage.thaws));
	for (i = 0; i < OPS; i++)
		for (j = 0; j < 8; j++)
			if (state_names[j])
				fprintf(to,
					"%s while %s: %llu, fails %llu, late %llu, hangs %llu\n",
					op_names[i], state_names[j],
					(unsigned long long)coverage.mishaps[i][j][MISHAP_NONE],
					(unsigned long long)coverage.mishaps[i][j][MISHAP_FAILS],
					(unsigned long long)coverage.mishaps[i][j][MISHAP_LATE],
					(unsigned long long)coverage.mishaps[i][j][MISHAP_HANGS]);
}

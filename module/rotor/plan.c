// SPDX-License-Identifier: GPL-2.0
#include "rotor/plan.h"

#include "context.h"
#include "events/stats.h"
#include "events/trace.h"
#include "jobs/budget.h"
#include "jobs/calls.h"
#include "jobs/failsafe.h"
#include "jobs/freezer.h"
#include "jobs/interactive.h"
#include "jobs/ops.h"
#include "jobs/tasks.h"
#include "memory/memory.h"
#include "policy/bins.h"
#include "policy/demand.h"
#include "policy/plan.h"
#include "policy/slices.h"
#include "policy/ties.h"
#include "policy/window.h"
#include "rotor/admission.h"
#include "rotor/confined.h"
#include "rotor/costs.h"
#include "rotor/fit.h"
#include "rotor/roster.h"
#include "rotor/round.h"
#include "rotor/state.h"
#include "rotor/turn.h"
#include "rotor/users.h"

/*
 * Where the demand alone decides about turns (mode=always), the unused memory of jobs is remembered
 * for this time after the last turn. What they use may fit: without it turns would begin anew at
 * once.
 */
#define FORGET_NS (60 * (u64)NSEC_PER_SEC)

static u64 capacity_now(const struct mts_config *config)
{
	u64 capacity, managed = 0;
	u32 i;

	if (config->bin_bytes)
		return config->bin_bytes;
	for (i = 0; i < mts_rotor.roster.n; i++)
		managed = mts_add_sat(managed, mts_rotor.roster.jobs[i]->rss);
	capacity = mts_policy_capacity(mts_memory_available(), managed,
				       (u64)totalram_pages() << PAGE_SHIFT);
	/* They are about to need more: half of them may double; a 16th, as no packing is exact. */
	if (mts_rotor.onset.is_on)
		return min(capacity, managed / 2 + managed / 16);
	return mts_fit_learned(capacity);
}

static bool is_used(const struct mts_job *job)
{
	return (mts_job_is_interactive(job) || mts_job_is_crowded_out(job)) &&
	       !mts_budget_is_spent(job);
}

static bool is_left(const struct mts_job *job)
{
	return !is_used(job) && mts_job_was_used(job) && !mts_budget_is_spent(job) &&
	       !mts_roster_is_resident(job);
}

/* What it counts as in every bin, where what its slices use is not known. */
static u64 whole_demand(const struct mts_job *job)
{
	return min(mts_add_sat(job->demand, job->unused), job->limits.most);
}

/* As of the last two looks it wants no turn. In an onset the last look may be old. */
static bool is_asleep(const struct mts_job *job)
{
	return !job->threads && !job->kept_bytes && !mts_job_was_used(job) &&
	       !mts_roster_is_resident(job) && !mts_rotor.onset.is_on;
}

/*
 * Judge the claims of jobs of one kind that need no more than @most bytes. Return: how many claim;
 * *@left: bytes for other jobs.
 */
static u32 grant(bool (*claims)(const struct mts_job *job), u64 most, u64 *left)
{
	u32 i, n = 0;

	for (i = 0; i < mts_rotor.roster.n; i++) {
		struct mts_job *job = mts_rotor.roster.jobs[i];

		if (!claims(job) || whole_demand(job) > most)
			continue;
		mts_rotor.planning.claimants[n] = job;
		mts_rotor.planning.claims[n++] = (struct mts_claim){
			.last_input_ns = atomic64_read(&job->last_input),
			.demand = whole_demand(job),
		};
	}
	*left = mts_interactive_grant(mts_rotor.planning.claims, n, *left, mts_rotor.scratch);
	return n;
}

/* The budget as of this plan: interactive jobs hold of it what they have in every bin. */
static void lend_anew(void)
{
	u32 i;

	for (i = 0; i < mts_rotor.roster.n; i++)
		if (!mts_job_is_interactive(mts_rotor.roster.jobs[i]) &&
		    !mts_job_has_call(mts_rotor.roster.jobs[i]))
			mts_budget_return(mts_rotor.roster.jobs[i]);
	for (i = 0; i < mts_rotor.roster.n; i++)
		if (mts_job_is_interactive(mts_rotor.roster.jobs[i]))
			mts_budget_hold(mts_rotor.roster.jobs[i]);
}

/*
 * Jobs that sleep and are so small that a turn would cost more than their memory gives the others:
 * a step of the window. They have half of what is left, as jobs with short pause limits come after
 * them. Return: bytes that are left.
 */
static u64 grant_sleepers(u64 capacity, u64 left)
{
	u64 half = left / 2, rest = half;
	u32 i, n;

	mts_rotor.planning.small = capacity / MTS_WINDOW_STEPS;
	n = grant(is_asleep, mts_rotor.planning.small, &rest);
	for (i = 0; i < n; i++)
		mts_rotor.planning.claimants[i]->sleeps = mts_rotor.planning.claims[i].granted;
	return left - half + rest;
}

/*
 * A share of the capacity is for interactive jobs. Decide which of them are exempt. What is left of
 * the share keeps the memory of jobs that were interactive of late. Input that comes meanwhile is
 * judged next time. Return: bytes of the share that are left.
 */
static u64 grant_claims(const struct mts_config *config, u64 capacity)
{
	u64 left = mul_u64_u64_div_u64(capacity, config->interactive, 1000);
	u32 i, n;

	mts_budget_set_limit(left);
	n = grant(is_used, U64_MAX, &left);
	for (i = 0; i < n; i++) {
		struct mts_claim *claim = &mts_rotor.planning.claims[i];

		mts_interactive_judge(mts_rotor.planning.claimants[i], claim->last_input_ns,
				      claim->granted);
	}
	lend_anew();
	for (i = 0; i < mts_rotor.roster.n; i++) {
		mts_rotor.roster.jobs[i]->kept_bytes = 0;
		mts_rotor.roster.jobs[i]->sleeps = false;
	}
	n = grant(is_left, U64_MAX, &left);
	for (i = 0; i < n; i++)
		if (mts_rotor.planning.claims[i].granted)
			mts_rotor.planning.claimants[i]->kept_bytes =
				mts_rotor.planning.claims[i].demand;
	for (i = 0; i < mts_rotor.roster.n; i++)
		mts_roster_note_interactive(mts_rotor.roster.jobs[i]);
	return mts_policy_may_turn(config->policy) ? grant_sleepers(capacity, left) : left;
}

/* Return: the number of jobs that can be frozen: one that sleeps will be when it wakes. */
static u32 fill_plan_jobs(const struct mts_plan_conf *conf)
{
	u32 i, n = 0;

	for (i = 0; i < mts_rotor.roster.n; i++) {
		struct mts_job *job = mts_rotor.roster.jobs[i];
		struct mts_plan_job *plan_job = &mts_rotor.planning.plan_jobs[i];

		/* It is asked anew in every round. */
		job->foreign = mts_freezer_is_foreign(job);
		plan_job->flags = mts_roster_is_resident(job) ? MTS_PLAN_RESIDENT : 0;
		/* It may have become so since. */
		if (plan_job->flags)
			job->kept_bytes = 0;
		plan_job->demand = job->foreign ? job->rss : mts_roster_bin_bytes(job);
		plan_job->kept_bytes = job->foreign ? 0 : mts_roster_kept_bytes(job);
		plan_job->max_pause_ns =
			conf->longest_pause_ns ? mts_job_own_limit(job) : job->max_pause_ns;
		plan_job->threads = job->threads;
		plan_job->runs = !READ_ONCE(job->frozen);
		plan_job->prev_bin = job->bin < MTS_MAX_JOBS ? job->bin : MTS_BIN_NONE;
		n += !plan_job->flags || job->sleeps;
		/* An exempt job runs, whatever was evicted of it. */
		job->ran_since_evict |= plan_job->flags & MTS_PLAN_RESIDENT;
	}
	mts_users_entitle(NULL);
	for (i = 0; i < mts_rotor.roster.n; i++)
		mts_rotor.planning.plan_jobs[i].entitled = mts_rotor.roster.jobs[i]->entitled;
	return n;
}

/* Jobs that were seen to wait for each other. Return: how many ties. */
static u32 fill_ties(void)
{
	u64 now = ktime_get_ns();
	u32 i, j, other, n = 0;

	for (i = 0; i < mts_rotor.roster.n; i++) {
		for (j = 0; j < MTS_TIES && n < MTS_MAX_JOBS; j++) {
			u32 id = mts_ties_id(&mts_rotor.roster.jobs[i]->ties, j, now);

			other = mts_roster_index(id);
			if (other < mts_rotor.roster.n)
				mts_rotor.planning.ties[n++] =
					(struct mts_plan_tie){ .a = i, .b = other };
		}
	}
	return n;
}

/* Pairs that had two bins, and have one now. */
static u32 count_joins(u32 nties)
{
	u32 i, n = 0;

	for (i = 0; i < nties; i++) {
		const struct mts_plan_job *a =
			&mts_rotor.planning.plan_jobs[mts_rotor.planning.ties[i].a];
		const struct mts_plan_job *b =
			&mts_rotor.planning.plan_jobs[mts_rotor.planning.ties[i].b];

		n += a->prev_bin != MTS_BIN_NONE && b->prev_bin != MTS_BIN_NONE &&
		     a->prev_bin != b->prev_bin && a->bin == b->bin && a->bin != MTS_BIN_EVERY;
	}
	return n;
}

/* Turns have begun, or ended. */
static void note_use(u32 before, bool on_demand)
{
	u64 now = ktime_get_ns();

	if (mts_rotor.round.nbins >= 2)
		mts_rotor.planning.forget_at = 0;
	else if (before >= 2)
		mts_rotor.planning.forget_at = on_demand ? now + FORGET_NS : now;
}

void mts_rotor_forget_use(void)
{
	u32 i;

	if (!mts_rotor.planning.forget_at || ktime_get_ns() < mts_rotor.planning.forget_at)
		return;
	for (i = 0; i < mts_rotor.roster.n; i++)
		mts_ops->use_outdated(mts_rotor.roster.jobs[i]);
	mts_rotor.planning.forget_at = 0;
}

/* Plan plan_jobs[]. @room: bytes for jobs that are exempt as the plan breaks their own limit. */
static void plan_bins(const struct mts_plan_conf *conf, u64 room)
{
	struct mts_limits *limits = &mts_rotor.planning.limits;
	u32 n = mts_rotor.roster.n, i;

	limits->room = room;
	mts_plan_round(conf, mts_rotor.planning.plan_jobs, n, mts_rotor.round.bins,
		       &mts_rotor.round.plan, mts_rotor.scratch);
	mts_plan_limits(conf, mts_rotor.planning.plan_jobs, n, mts_rotor.round.bins,
			&mts_rotor.round.plan, limits, mts_rotor.scratch);
	mts_rotor.planning.limited_by = limits->by < n ? mts_rotor.roster.jobs[limits->by]->id : 0;
	for (i = 0; i < n; i++)
		/* An exempt job runs, whatever was evicted of it. */
		mts_rotor.roster.jobs[i]->ran_since_evict |=
			mts_rotor.planning.plan_jobs[i].flags & MTS_PLAN_LIMITED;
}

/*
 * Limits above several jobs keep the jobs together from having all that each of them may have. If
 * the rest fits, all fit. If not, each bin has room for what its jobs may have alone. A capacity
 * that is configured is not the host's: there each job counts in full. Return: all fit.
 */
static bool plan_one_bin(const struct mts_plan_conf *conf, u64 room)
{
	struct mts_plan *plan = &mts_rotor.round.plan;
	struct mts_plan_conf more = *conf;
	u64 excess = mts_confined_excess();

	if (!excess)
		return false;
	more.capacity = mts_add_sat(conf->capacity, excess);
	plan_bins(&more, room);
	if (plan->nbins > 1)
		return false;
	plan->capacity = mts_sub_floor(plan->capacity, excess);
	plan->demand = mts_sub_floor(plan->demand, excess);
	return true;
}

/* With the capacity of now. Return: the number of jobs that can be frozen. */
static u32 pack(const struct mts_config *config, struct mts_plan_conf *conf)
{
	u32 freezable;
	u64 room;

	conf->capacity = capacity_now(config);
	/* Of an early round neither what the jobs need is known nor what a page costs. */
	conf->step = mts_rotor.onset.is_on ? 0 : mts_window_step(config->step, conf->capacity);
	conf->chooses = mts_window_chooses(config->step);
	mts_confined_update();
	room = grant_claims(config, conf->capacity);
	freezable = fill_plan_jobs(conf);
	if (config->bin_bytes || !plan_one_bin(conf, room))
		plan_bins(conf, room);
	return freezable - mts_rotor.planning.limits.residents;
}

/*
 * By the available memory all jobs fit, and yet they lose time by memory. At this edge they would
 * thrash without end: no job gets the memory to exceed the capacity.
 */
static bool is_tight(const struct mts_config *config, u64 capacity)
{
	if (config->bin_bytes || mts_rotor.round.nbins >= 2 || mts_rotor.round.plan.nbins != 1 ||
	    !mts_admit_reclaims() || !mts_admit_turns_pay(mts_rotor.planning.planned))
		return false;
	return mts_fit_is_tight(capacity, mts_add_sat(mts_rotor.round.plan.demand,
						      mts_rotor.round.plan.resident_demand));
}

/*
 * The longest pause from now on. It does not become shorter while jobs are frozen: the watchdog
 * would thaw them beside the running bin, or before their memory is back.
 */
static u64 pause_limit(const struct mts_config *config, u32 nbins_before)
{
	u64 most = mts_rotor.round.plan.max_pause_ns + MTS_PAUSE_MARGIN_NS;

	if (config->max_pause_ns)
		return config->max_pause_ns;
	/* The plan has that of one job: the others may be frozen for longer. */
	if (mts_rotor.planning.limited_by)
		most = max_t(u64, most, MTS_PAUSE_AUTO_NS);
	if (nbins_before >= 2 || mts_freezer_count())
		return max(most, mts_rotor.planning.max_pause_ns);
	return most;
}

static void forget_attended(void)
{
	struct mts_job *job;

	mts_job_for_each(job)
		WRITE_ONCE(job->attended, false);
}

/* Is there a job in a bin that may be frozen for long? */
static bool any_unattended(void)
{
	u32 i;

	for (i = 0; i < mts_rotor.roster.n; i++)
		if (!mts_rotor.roster.jobs[i]->attended &&
		    mts_rotor.planning.plan_jobs[i].bin != MTS_BIN_EVERY)
			return true;
	return false;
}

/* The plan with the longest pauses that pay. Return: as pack(). */
static u32 pack_longer(const struct mts_config *config, struct mts_plan_conf *conf, u32 freezable)
{
	struct mts_plan *plan = &mts_rotor.round.plan, best = *plan;
	u64 limit = 0, kept = 0;

	while (limit < MTS_PAUSE_UNATTENDED_NS && mts_plan_wants_long_pauses(plan)) {
		limit = mts_plan_longer_pause(limit);
		mts_plan_allow_pause(conf, limit);
		freezable = pack(config, conf);
		/* The round has to be as short as one job needs it, or cannot be. */
		if (mts_rotor.planning.limited_by || mts_rotor.planning.limits.beyond)
			break;
		if (mts_plan_long_pauses_pay(plan, &best)) {
			best = *plan;
			kept = limit;
		} else if (!mts_plan_pauses_too_long(plan)) {
			break;
		}
	}
	mts_rotor.planning.long_pause_ns = kept;
	if (kept == limit)
		return freezable;
	mts_plan_allow_pause(conf, kept);
	return pack(config, conf);
}

/*
 * Where no user and no program waits for a job it may be frozen for longer, as far as that pays. An
 * attended job keeps its limit as if that were its own: it is in every bin if there is room, else
 * no pause is long.
 */
static u32 lengthen_pauses(const struct mts_config *config, struct mts_plan_conf *conf,
			   u32 freezable)
{
	bool is_auto = !config->max_pause_ns;
	bool wants = is_auto && mts_plan_wants_long_pauses(&mts_rotor.round.plan);
	/* The limit of an earlier round may still be in force: pause_limit(). */
	bool is_long = is_auto && mts_rotor.planning.max_pause_ns > MTS_PAUSE_STRETCHED_NS;

	mts_rotor.planning.long_pause_ns = 0;
	if (wants || is_long)
		mts_tasks_scan_attended();
	if (wants && any_unattended())
		return pack_longer(config, conf, freezable);
	/* No pause is longer: the next plan has no job with a limit for that. */
	if (!is_long)
		forget_attended();
	return freezable;
}

/* What is automatic, for a plan that there was none or @nbins_before bins before. */
static void settle(const struct mts_config *config, u32 nbins_before)
{
	bool blind = mts_rotor.planning.blind;
	u64 limit;

	mts_rotor.planning.max_pause_ns = pause_limit(config, nbins_before);
	limit = mts_rotor.planning.max_pause_ns;
	/* What a switch takes is not known yet: do not cut the first one short. */
	if (blind && !config->max_pause_ns)
		limit = max_t(u64, limit, MTS_PAUSE_STRETCHED_NS);
	mts_failsafe_set_limit(limit, mts_plan_pauses_too_long(&mts_rotor.round.plan));
	/* Turns begin with what other jobs' switches took, if with anything. */
	mts_costs_plan(config->evict, blind ? NULL : &mts_rotor.round.plan, nbins_before >= 2);
}

bool mts_rotor_plan_take_room(u64 bytes)
{
	lockdep_assert_held(&mts_lock);
	if (bytes > mts_rotor.planning.limits.room)
		return false;
	mts_rotor.planning.limits.room -= bytes;
	return true;
}

static bool breaks_limit_of(const struct mts_job *job)
{
	return job->attended && job->bin < mts_rotor.round.nbins &&
	       !mts_limit_allows(mts_job_own_limit(job), mts_rotor.round.bins[job->bin].pause_ns);
}

bool mts_rotor_plan_breaks_limit(void)
{
	bool breaks = false;
	u32 i;

	if (!mts_rotor.planning.long_pause_ns)
		return false;
	mutex_lock(&mts_lock);
	mts_tasks_scan_attended();
	for (i = 0; i < mts_rotor.roster.n; i++)
		breaks |= breaks_limit_of(mts_rotor.roster.jobs[i]);
	mutex_unlock(&mts_lock);
	return breaks;
}

bool mts_rotor_plan_slices(void)
{
	u32 by = mts_rotor.planning.limits.by;
	struct mts_plan_conf conf;

	if (!mts_rotor.planning.blind)
		return false;
	mutex_lock(&mts_lock);
	conf = mts_plan_conf_of(mts_rotor_config());
	mts_costs_fill(&conf);
	conf.processors = num_online_cpus();
	mts_plan_allow_pause(&conf, mts_rotor.planning.long_pause_ns);
	/* As switches are, shorter slices may not help that job: this round the watchdog does. */
	if (by == MTS_BIN_NONE || !mts_plan_shorten(&conf, &mts_rotor.planning.plan_jobs[by],
						    mts_rotor.round.bins, &mts_rotor.round.plan))
		mts_plan_slices(&conf, mts_rotor.round.bins, &mts_rotor.round.plan);
	mts_rotor.planning.blind = false;
	settle(mts_rotor_config(), mts_rotor.round.nbins);
	mutex_unlock(&mts_lock);
	return true;
}

/* Without turns none is exempt for that. */
static void wake(struct mts_job *job, u64 demand)
{
	struct mts_plan *plan = &mts_rotor.round.plan;

	if (!job->sleeps)
		return;
	job->sleeps = false;
	plan->capacity = mts_add_sat(plan->capacity, demand);
	plan->resident_demand = mts_sub_floor(plan->resident_demand, demand);
	plan->demand = mts_add_sat(plan->demand, demand);
}

static void give_bin(struct mts_job *job, const struct mts_plan_job *planned)
{
	bool has_turns = mts_rotor.round.nbins;

	if (!has_turns)
		wake(job, planned->demand);
	job->limited = has_turns && planned->flags & MTS_PLAN_LIMITED;
	/* What is left of the same share is lent to others. */
	if (job->limited)
		mts_budget_hold(job);
	mts_round_give_bin(job, has_turns ? planned->bin : MTS_BIN_NONE,
			   has_turns ? planned->demand : 0);
}

u32 mts_rotor_plan_round(bool looked)
{
	const struct mts_config *config;
	struct mts_plan_conf conf;
	u32 i, freezable, before = mts_rotor.round.nbins, reason;
	bool on_demand;

	mutex_lock(&mts_lock);
	config = mts_rotor_config();
	on_demand = mts_admit_by_demand(config);
	conf = mts_plan_conf_of(config);
	mts_costs_fill(&conf);
	conf.processors = num_online_cpus();
	mts_rotor.planning.capacity_is_set = config->bin_bytes;
	mts_rotor.planning.by_use = config->demand == MTS_DEMAND_USED;
	mts_admit_retry();
	conf.ties = mts_rotor.planning.ties;
	conf.nties = fill_ties();
	mts_rotor.planning.planned = ktime_get_ns();
	freezable = pack(config, &conf);
	if (is_tight(config, conf.capacity))
		freezable = pack(config, &conf);
	freezable = lengthen_pauses(config, &conf, freezable);
	mts_rotor.planning.blind = !conf.switch_ns || before < 2;
	settle(config, before);
	reason = mts_admit(config, freezable);
	if (looked || reason != mts_rotor.phase.reason)
		trace_mts_admission(mts_rotor.phase.reason, reason, &mts_rotor.admission.past,
				    &mts_rotor.round.plan);
	mts_state_set_reason(reason);
	mts_round_begin(reason == MTS_REASON_OVERCOMMIT ? mts_rotor.round.plan.nbins : 0);
	mts_freezer_set_turns(mts_rotor.round.nbins >= 2);
	if (mts_rotor.round.nbins)
		mts_stats_add(wait_joins, count_joins(conf.nties));
	for (i = 0; i < mts_rotor.roster.n; i++)
		give_bin(mts_rotor.roster.jobs[i], &mts_rotor.planning.plan_jobs[i]);
	mts_round_count_bins();
	mts_turn_note_plan(before);
	mts_jobs_changed();
	mutex_unlock(&mts_lock);
	mts_admit_note_turn(before, on_demand);
	note_use(before, on_demand);
	return mts_rotor.round.nbins;
}

// SPDX-License-Identifier: GPL-2.0
/* A round's plan: who is there, what each needs, which bins that makes. */
#include "mts.h"

#include "context.h"
#include "jobs/budget.h"
#include "jobs/calls.h"
#include "jobs/failsafe.h"
#include "jobs/freezer.h"
#include "jobs/interactive.h"
#include "memory/memory.h"
#include "jobs/ops.h"
#include "jobs/protect.h"
#include "rotor/rotor.h"
#include "rotor/rotor_private.h"
#include "events/stats.h"
#include "sched_hooks/hooks.h"
#include "jobs/tasks.h"
#include "events/trace.h"
#include "jobs/waits.h"

/* The host pays for its shortage if it has reclaimed within this time. */
#define PRESSURE_NS (10 * (u64)NSEC_PER_SEC)
/* What jobs do not use is believed for so long after the last turn. */
#define FORGET_NS (60 * (u64)NSEC_PER_SEC)

/* What is in each bin is what the roster says: jobs may have gone. */
static void count_bins(void)
{
	struct mts_plan_bin *bin;
	u32 i;

	lockdep_assert_held(&mts_lock);
	for (i = 0; i < mts_rotor.nbins; i++) {
		mts_rotor.bins[i].demand = 0;
		mts_rotor.bins[i].jobs = 0;
	}
	for (i = 0; i < mts_rotor.roster_size; i++) {
		const struct mts_job *job = mts_rotor.roster[i];

		if (job->bin >= mts_rotor.nbins)
			continue;
		bin = &mts_rotor.bins[job->bin];
		bin->demand = mts_add_sat(bin->demand, job->planned_bytes);
		bin->jobs++;
	}
}

void mts_round_dismiss(void)
{
	u32 i;

	for (i = 0; i < mts_rotor.roster_size; i++)
		mts_job_put(mts_rotor.roster[i]);
	mts_rotor.roster_size = 0;
}

void mts_round_muster(void)
{
	struct mts_job *job;

	mts_round_dismiss();
	mutex_lock(&mts_lock);
	mts_job_for_each(job) {
		kref_get(&job->ref);
		mts_rotor.roster[mts_rotor.roster_size++] = job;
	}
	count_bins();
	mutex_unlock(&mts_lock);
}

u64 mts_round_unused(const struct mts_job *job, const struct mts_usage *usage)
{
	/* Who waits for a person uses next to nothing, and all of it when he comes back. */
	if (!mts_rotor.by_use || mts_job_was_used(job))
		return 0;
	return mts_working_set_spare(&job->working_set, mts_policy_demand(usage));
}

void mts_round_count_threads(struct mts_job *job)
{
	int n = mts_ops->awake(job);

	lockdep_assert_held(&mts_lock);
	if (n < 0)
		n = 1;
	job->threads = max_t(u32, n, job->last_threads);
	job->last_threads = n;
}

static int measure(struct mts_job *job)
{
	struct mts_usage usage;
	int err;

	mts_promise_step("memory is measured");
	err = mts_ops->usage(job, &usage);
	if (err)
		return err;
	mutex_lock(&mts_lock);
	job->usage = usage;
	job->unused = mts_round_unused(job, &usage);
	job->demand = mts_policy_demand(&usage) - job->unused;
	job->resident = mts_policy_resident(&usage);
	if (!READ_ONCE(job->frozen))
		mts_round_count_threads(job);
	mutex_unlock(&mts_lock);
	return 0;
}

void mts_round_measure(void)
{
	u32 i;

	for (i = 0; i < mts_rotor.roster_size && mts_rotor_may_go_on(); i++) {
		/* An error leaves the last figures; a cgroup that is gone is reaped. */
		measure(mts_rotor.roster[i]);
	}
	mts_tasks_scan();
}

bool mts_round_is_resident(const struct mts_job *job)
{
	return job->flags & MTS_JOB_PIN || job->realtime || job->untouchable || job->foreign ||
	       mts_job_left_out(job) || mts_job_is_spared(job) || mts_job_is_interactive(job);
}

static u64 capacity_now(const struct mts_config *config)
{
	u64 capacity, managed = 0;
	u32 i;

	if (config->bin_bytes)
		return config->bin_bytes;
	for (i = 0; i < mts_rotor.roster_size; i++)
		managed = mts_add_sat(managed, mts_rotor.roster[i]->resident);
	capacity = mts_policy_capacity(mts_memory_available(), managed,
				       (u64)totalram_pages() << PAGE_SHIFT);
	return mts_policy_learned(&mts_rotor.lesson, capacity);
}

static void note_interactive(struct mts_job *job)
{
	u32 is = mts_job_is_interactive(job) ? MTS_INTERACTIVE_YES :
		 mts_job_is_crowded_out(job) ? MTS_INTERACTIVE_CROWDED_OUT :
		 job->stays		     ? MTS_INTERACTIVE_STAYS :
					       MTS_INTERACTIVE_NO;

	if (job->interactive == is)
		return;
	job->interactive = is;
	trace_mts_interactive(job, is, mts_interactive_age_ms(job));
}

static bool is_used(const struct mts_job *job)
{
	return (mts_job_is_interactive(job) || mts_job_is_crowded_out(job)) &&
	       !mts_budget_is_spent(job);
}

static bool is_left(const struct mts_job *job)
{
	return !is_used(job) && mts_job_was_used(job) && !mts_budget_is_spent(job) &&
	       !mts_round_is_resident(job);
}

/* Of those jobs whose claims can be met. Return: how many claim; *@left: bytes for others. */
static u32 grant(bool (*claims)(const struct mts_job *job), u64 *left)
{
	u32 i, n = 0;

	for (i = 0; i < mts_rotor.roster_size; i++) {
		struct mts_job *job = mts_rotor.roster[i];

		if (!claims(job))
			continue;
		mts_rotor.claimants[n] = job;
		mts_rotor.claims[n++] = (struct mts_claim){
			.last_input_ns = atomic64_read(&job->last_input),
			.demand = job->demand,
		};
	}
	*left = mts_interactive_grant(mts_rotor.claims, n, *left, mts_rotor.scratch);
	return n;
}

/* The budget as of this plan: interactive jobs hold of it what they have in every bin. */
static void lend_anew(void)
{
	u32 i;

	for (i = 0; i < mts_rotor.roster_size; i++)
		if (!mts_job_is_interactive(mts_rotor.roster[i]) &&
		    !mts_job_has_call(mts_rotor.roster[i]))
			mts_budget_return(mts_rotor.roster[i]);
	for (i = 0; i < mts_rotor.roster_size; i++)
		if (mts_job_is_interactive(mts_rotor.roster[i]))
			mts_budget_hold(mts_rotor.roster[i]);
}

/*
 * Which of the interactive jobs stay resident, and then of those that have been so the memory: a
 * share of the capacity is for them. Input that comes while this is decided is judged next time.
 * Return: bytes of that share that are left.
 */
static u64 grant_claims(const struct mts_config *config, u64 capacity)
{
	u64 left = mul_u64_u64_div_u64(capacity, config->interactive, 1000);
	u32 i, n;

	mts_budget_set_limit(left);
	n = grant(is_used, &left);
	for (i = 0; i < n; i++) {
		struct mts_claim *claim = &mts_rotor.claims[i];

		mts_interactive_judge(mts_rotor.claimants[i], claim->last_input_ns, claim->granted);
	}
	lend_anew();
	for (i = 0; i < mts_rotor.roster_size; i++)
		mts_rotor.roster[i]->stays = 0;
	n = grant(is_left, &left);
	for (i = 0; i < n; i++)
		if (mts_rotor.claims[i].granted)
			mts_rotor.claimants[i]->stays = mts_rotor.claims[i].demand;
	for (i = 0; i < mts_rotor.roster_size; i++)
		note_interactive(mts_rotor.roster[i]);
	return left;
}

/* Return: the number of jobs that can be frozen. */
static u32 fill_plan_jobs(void)
{
	u32 i, n = 0;

	for (i = 0; i < mts_rotor.roster_size; i++) {
		struct mts_job *job = mts_rotor.roster[i];
		struct mts_plan_job *plan_job = &mts_rotor.plan_jobs[i];

		/* It is asked anew in every round. */
		job->foreign = mts_freezer_is_foreign(job);
		plan_job->flags = mts_round_is_resident(job) ? MTS_PLAN_RESIDENT : 0;
		/* It may have become so since. */
		if (plan_job->flags)
			job->stays = 0;
		plan_job->demand = job->foreign ? job->resident : mts_round_takes(job);
		plan_job->stays = job->stays;
		plan_job->max_pause_ns = job->max_pause_ns;
		plan_job->threads = job->threads;
		plan_job->prev_bin = job->bin < MTS_MAX_JOBS ? job->bin : MTS_BIN_NONE;
		n += !plan_job->flags;
		/* It runs, whatever was evicted of it. */
		job->warm |= plan_job->flags & MTS_PLAN_RESIDENT;
	}
	return n;
}

/* The index of a job; @roster_size if it has gone. */
static u32 index_of(u32 id)
{
	u32 low = 0, high = mts_rotor.roster_size;

	while (low < high) {
		u32 middle = low + (high - low) / 2;

		if (mts_rotor.roster[middle]->id < id)
			low = middle + 1;
		else
			high = middle;
	}
	return low < mts_rotor.roster_size && mts_rotor.roster[low]->id == id ?
		       low :
		       mts_rotor.roster_size;
}

/* Jobs that were seen to wait for each other. Return: how many ties. */
static u32 fill_ties(void)
{
	u64 now = ktime_get_ns();
	u32 i, j, other, n = 0;

	for (i = 0; i < mts_rotor.roster_size; i++) {
		for (j = 0; j < MTS_TIES && n < MTS_MAX_JOBS; j++) {
			other = index_of(mts_ties_id(&mts_rotor.roster[i]->ties, j, now));
			if (other < mts_rotor.roster_size)
				mts_rotor.ties[n++] = (struct mts_plan_tie){ .a = i, .b = other };
		}
	}
	return n;
}

/* Pairs that had two bins, and have one now. */
static u32 count_joins(u32 nties)
{
	u32 i, n = 0;

	for (i = 0; i < nties; i++) {
		const struct mts_plan_job *a = &mts_rotor.plan_jobs[mts_rotor.ties[i].a];
		const struct mts_plan_job *b = &mts_rotor.plan_jobs[mts_rotor.ties[i].b];

		n += a->prev_bin != MTS_BIN_NONE && b->prev_bin != MTS_BIN_NONE &&
		     a->prev_bin != b->prev_bin && a->bin == b->bin && a->bin != MTS_BIN_EVERY;
	}
	return n;
}

void mts_round_look_at_waits(void)
{
	mts_promise_step("tasks are looked at");
	mts_waits_look(mts_rotor.running, mts_rotor.planned);
}

static bool has_swap(void)
{
	u32 i;

	if (get_nr_swap_pages() > 0)
		return true;
	for (i = 0; i < mts_rotor.roster_size; i++)
		if (mts_rotor.roster[i]->usage.swap)
			return true;
	return false;
}

bool mts_round_reclaims(void)
{
	u64 last = mts_hooks_last_reclaim();

	return last && ktime_get_ns() - last < PRESSURE_NS;
}

static bool is_unsure(void)
{
	u32 i;

	for (i = 0; i < mts_rotor.roster_size; i++)
		if (mts_admission_unsure(&mts_rotor.roster[i]->look))
			return true;
	return false;
}

/* The kernel's lowest watermark is less than that from 16 MiB on (calculate_min_free_kbytes()). */
static bool is_full(void)
{
	return mts_memory_free() < ((u64)totalram_pages() << PAGE_SHIFT) / 32;
}

/* Who runs for more than one part in so many of a processor does not sleep for most of the time. */
#define RUNS_PART 20u

static void close_window(u64 now)
{
	u64 elapsed = now - mts_rotor.admission.began;
	struct mts_pool residents = { 0 }, others = { 0 };
	struct mts_window window = { .swapins = mts_memory_swapins(),
				     .reclaimed = mts_memory_reclaimed(),
				     .full = is_full() };
	u32 i;

	for (i = 0; i < mts_rotor.roster_size; i++) {
		struct mts_job *job = mts_rotor.roster[i];

		window.user_ns = mts_add_sat(window.user_ns, job->look.user_ns);
		window.stalled_ns = mts_add_sat(window.stalled_ns, job->look.stalled_ns);
		/* In a storm it is hard to tell who sleeps, but not who runs. */
		if (job->look.user_ns > div_u64(elapsed, RUNS_PART))
			job->slept = false;
		mts_admission_add(mts_round_is_resident(job) ? &residents : &others, &job->look,
				  elapsed);
		mts_admission_forget(&job->look);
	}
	/* Where all fits now, turns would take two bins. */
	window.expected = mts_admission_expected(mts_admission_potential(&residents),
						 mts_admission_potential(&others),
						 max(mts_rotor.plan.nbins, 2U), num_online_cpus());
	mts_admission_close(&mts_rotor.admission, now, &window);
}

/*
 * What the jobs get of the processors without turns, while it may be asked for.
 * Return: is there more to decide by than before?
 */
static bool look(void)
{
	u64 now;

	if (mts_rotor.nbins >= 2 || !mts_round_reclaims())
		return false;
	mts_promise_step("tasks are looked at");
	mts_tasks_look();
	now = ktime_get_ns();
	if (!mts_admission_look(&mts_rotor.admission, now, is_unsure()))
		return false;
	close_window(now);
	return true;
}

void mts_round_judge(u64 began)
{
	u64 user, now = ktime_get_ns();

	/* Turns that were not taken for the jobs' sake are not given up for it. */
	if (!mts_rotor.admission.began)
		return;
	mts_promise_step("tasks are looked at");
	user = mts_tasks_look();
	mts_admission_round(&mts_rotor.admission, now, user, now - began);
}

/* By the user's word: whatever the host pays, and whatever turns cost. */
static bool hangs_on_demand(const struct mts_config *config)
{
	return config->mode == MTS_MODE_ALWAYS || config->bin_bytes;
}

/*
 * By what switches took so far. Turns that nobody wanted for the jobs' sake, but because memory was
 * about to be short, were not compared with anything.
 */
static bool switches_take_too_long(void)
{
	const struct mts_plan *plan = &mts_rotor.plan;

	/* They are about to be others. */
	if (mts_rotor.nbins >= 2 && mts_rotor.switches.are_new)
		return false;
	if (mts_plan_pauses_too_long(plan))
		return true;
	/* A forecast, which knows nothing of who runs in a switch: a good round counts more. */
	return mts_rotor.nbins >= 2 && mts_rotor.admission.began && !mts_rotor.admission.rounds &&
	       !mts_rotor.passed &&
	       !mts_admission_gains(&mts_rotor.admission, plan->run_ns, plan->round_ns);
}

/*
 * In a storm on a slow disk nobody is ever seen asleep, as its next page takes ten times as long
 * as its sleep: so who slept when the storm began is taken to sleep still. Ten of Maziero's
 * consumers lost up to half of their work to turns.
 */
static bool turns_pay(u64 now)
{
	return mts_admission_pays(&mts_rotor.admission, now) && !mts_early_most_sleep();
}

/* Does the host pay for its shortage, and would turns be cheaper? */
static u32 weigh(const struct mts_config *config)
{
	u64 now = ktime_get_ns();

	if (hangs_on_demand(config) || mts_rotor.early)
		return MTS_REASON_OVERCOMMIT;
	if (mts_admission_holds(&mts_rotor.admission, now))
		return mts_rotor.swap_is_slow ? MTS_REASON_SLOW_SWAP : MTS_REASON_NO_GAIN;
	mts_rotor.swap_is_slow = switches_take_too_long();
	if (mts_rotor.swap_is_slow) {
		mts_admission_give_up(&mts_rotor.admission, now);
		mts_switches_forget(&mts_rotor.switches);
		return MTS_REASON_SLOW_SWAP;
	}
	/* Once it rotates the rotation itself keeps reclaim away. */
	if (mts_rotor.nbins >= 2)
		return MTS_REASON_OVERCOMMIT;
	if (!mts_round_reclaims())
		return MTS_REASON_NO_PRESSURE;
	return turns_pay(now) ? MTS_REASON_OVERCOMMIT : MTS_REASON_COPES;
}

static u32 decide(const struct mts_config *config, u32 freezable)
{
	if (config->mode == MTS_MODE_OFF)
		return MTS_REASON_NONE;
	if (freezable < 2)
		return MTS_REASON_NO_JOBS;
	if (mts_rotor.plan.nbins < 2 || mts_rotor.all_fit)
		return MTS_REASON_FITS;
	if (!has_swap())
		return MTS_REASON_NO_SWAP;
	return weigh(config);
}

/* Whoever turns a knob wants to see what it does, whatever was tried before. */
static void retry_admission(void)
{
	if (mts_rotor.is_configured)
		mts_admission_retry(&mts_rotor.admission);
	mts_rotor.is_configured = false;
}

static u32 admit(const struct mts_config *config, u32 freezable)
{
	u32 reason = decide(config, freezable);
	bool would = config->mode == MTS_MODE_SHADOW && reason == MTS_REASON_OVERCOMMIT;

	if (would != mts_rotor.would_rotate) {
		mts_rotor.would_rotate = would;
		if (would)
			pr_info("shadow: would rotate now: %u bins, longest pause %llu ms\n",
				mts_rotor.plan.nbins,
				div_u64(mts_rotor.plan.longest_pause_ns, NSEC_PER_MSEC));
		else
			pr_info("shadow: would not rotate any more: %s\n",
				mts_rotor_explain(reason));
	}
	return would ? MTS_REASON_SHADOW : reason;
}

void mts_round_forget_use(void)
{
	u32 i;

	if (!mts_rotor.forget_at || ktime_get_ns() < mts_rotor.forget_at)
		return;
	for (i = 0; i < mts_rotor.roster_size; i++)
		mts_ops->use_outdated(mts_rotor.roster[i]);
	mts_rotor.forget_at = 0;
}

static void give_bin(struct mts_job *job, u32 bin, u64 bytes)
{
	lockdep_assert_held(&mts_lock);
	job->planned_bytes = bytes;
	if (job->bin == bin)
		return;
	job->bin = bin;
	trace_mts_job(job, MTS_JOB_PLACED);
}

void mts_round_move(struct mts_job *job, u32 to, u64 bytes)
{
	struct mts_plan_bin *bin;

	lockdep_assert_held(&mts_lock);
	if (job->bin < mts_rotor.nbins) {
		bin = &mts_rotor.bins[job->bin];
		bin->demand = mts_sub_floor(bin->demand, job->planned_bytes);
		bin->jobs--;
	}
	if (to < mts_rotor.nbins) {
		bin = &mts_rotor.bins[to];
		bin->demand = mts_add_sat(bin->demand, bytes);
		bin->jobs++;
	}
	give_bin(job, to, to < mts_rotor.nbins ? bytes : 0);
}

static void note_turn(u32 before, bool on_demand)
{
	u64 now = ktime_get_ns();

	if (mts_rotor.nbins >= 2) {
		mts_rotor.forget_at = 0;
	} else if (before >= 2) {
		/* What they use may fit: turns that hang on the demand alone do not begin anew. */
		mts_rotor.forget_at = on_demand ? now + FORGET_NS : now;
	}
	/* The host may have reclaimed, and the jobs been looked at, all the same. */
	if (on_demand || !mts_rotor.admission.began)
		return;
	if (before < 2 && mts_rotor.nbins >= 2) {
		mts_admission_begin(&mts_rotor.admission);
		mts_tasks_look();
	} else if (before >= 2 && mts_rotor.nbins < 2) {
		mts_admission_end(&mts_rotor.admission);
	}
}

/* The jobs in plan_jobs[], with @room bytes for those whose own pause limit a plan cannot keep. */
static void plan_bins(const struct mts_plan_conf *conf, u64 room)
{
	struct mts_limits *limits = &mts_rotor.limits;
	u32 n = mts_rotor.roster_size, i;

	limits->room = room;
	mts_plan_round(conf, mts_rotor.plan_jobs, n, mts_rotor.bins, &mts_rotor.plan,
		       mts_rotor.scratch);
	mts_plan_limits(conf, mts_rotor.plan_jobs, n, mts_rotor.bins, &mts_rotor.plan, limits,
			mts_rotor.scratch);
	mts_rotor.limited_by = limits->by < n ? mts_rotor.roster[limits->by]->id : 0;
	for (i = 0; i < n; i++)
		/* It runs, whatever was evicted of it. */
		mts_rotor.roster[i]->warm |= mts_rotor.plan_jobs[i].flags & MTS_PLAN_LIMITED;
}

/* With the capacity of now. Return: the number of jobs that can be frozen. */
static u32 pack(const struct mts_config *config, struct mts_plan_conf *conf)
{
	u32 freezable;
	u64 room;

	conf->capacity = capacity_now(config);
	room = grant_claims(config, conf->capacity);
	freezable = fill_plan_jobs();
	plan_bins(conf, room);
	return freezable - mts_rotor.limits.residents;
}

/*
 * They fit by what the host says is available, and lose time by memory all the same. Without
 * this all would thrash at the edge, where nobody gets the memory to grow over it.
 */
static bool is_tight(const struct mts_config *config, u64 capacity)
{
	if (config->bin_bytes || mts_rotor.nbins >= 2 || mts_rotor.plan.nbins != 1 ||
	    !mts_round_reclaims() || !turns_pay(mts_rotor.planned))
		return false;
	return mts_policy_tight(&mts_rotor.lesson, capacity,
				mts_add_sat(mts_rotor.plan.demand, mts_rotor.plan.resident_demand),
				mts_memory_free());
}

/* All of it fits as yet, and is about to need more: turns of two bins. */
static void split(const struct mts_plan_conf *conf)
{
	struct mts_plan_conf less = *conf;

	less.capacity =
		mts_rotor.plan.demand - mts_rotor.plan.demand / 16 + mts_rotor.plan.resident_demand;
	plan_bins(&less, mts_rotor.limits.room);
}

static bool may_be_early_in(u32 modes)
{
	const struct mts_config *config;
	bool may;

	mutex_lock(&mts_lock);
	config = mts_rotor_config();
	may = BIT(config->mode) & modes && !config->bin_bytes &&
	      !mts_admission_holds(&mts_rotor.admission, ktime_get_ns());
	mutex_unlock(&mts_lock);
	return may && mts_rotor.roster_size >= 2 && get_nr_swap_pages() > 0;
}

bool mts_round_may_be_early(void)
{
	return may_be_early_in(BIT(MTS_MODE_AUTO) | BIT(MTS_MODE_SHADOW));
}

bool mts_round_may_stop(void)
{
	return may_be_early_in(BIT(MTS_MODE_AUTO));
}

/*
 * The longest pause from now on. Who has been frozen when it was longer keeps that until all
 * run, or the watchdog would thaw him beside the bin that runs, or before his memory is back.
 */
static u64 pause_limit(const struct mts_config *config, u32 nbins_before)
{
	u64 most = mts_rotor.plan.max_pause_ns + MTS_PAUSE_MARGIN_NS;

	if (config->max_pause_ns)
		return config->max_pause_ns;
	/* The plan has that of one job: the others may be frozen for longer. */
	if (mts_rotor.limited_by)
		most = max_t(u64, most, MTS_PAUSE_AUTO_NS);
	if (nbins_before >= 2 || mts_freezer_count())
		return max(most, mts_rotor.max_pause_ns);
	return most;
}

/* What is automatic, for a plan that there was none or @nbins_before bins before. */
static void settle(const struct mts_config *config, u32 nbins_before)
{
	bool blind = mts_rotor.planned_blindly;

	mts_rotor.max_pause_ns = pause_limit(config, nbins_before);
	/* Nobody knows yet how long a pause must be: no reason to cut the first switch short. */
	mts_failsafe_set_limit(blind && !config->max_pause_ns ? MTS_PAUSE_MAX_NS :
								mts_rotor.max_pause_ns);
	/* Turns begin with what other jobs' switches took, if with anything. */
	mts_switches_plan(&mts_rotor.switches, config->evict, blind ? NULL : &mts_rotor.plan,
			  mts_rotor_disk_is_slow(), nbins_before >= 2);
}

bool mts_round_plan_slices(void)
{
	u32 by = mts_rotor.limits.by;
	struct mts_plan_conf conf;

	if (!mts_rotor.planned_blindly)
		return false;
	mutex_lock(&mts_lock);
	conf = mts_plan_conf_of(mts_rotor_config());
	conf.switch_ns = mts_rotor.switches.adds_ns;
	/* As switches are, shorter slices may not help that job: this round the watchdog does. */
	if (by == MTS_BIN_NONE ||
	    !mts_plan_shorten(&conf, &mts_rotor.plan_jobs[by], mts_rotor.bins, &mts_rotor.plan))
		mts_plan_slices(&conf, mts_rotor.bins, &mts_rotor.plan);
	mts_rotor.planned_blindly = false;
	settle(mts_rotor_config(), mts_rotor.nbins);
	mutex_unlock(&mts_lock);
	return true;
}

u32 mts_round_plan(void)
{
	const struct mts_config *config;
	struct mts_plan_conf conf;
	u32 i, freezable, before = mts_rotor.nbins, reason = mts_rotor.reason;
	bool looked, on_demand;

	looked = look();
	mutex_lock(&mts_lock);
	config = mts_rotor_config();
	on_demand = hangs_on_demand(config);
	conf = mts_plan_conf_of(config);
	conf.switch_ns = mts_rotor.switches.adds_ns;
	conf.processors = num_online_cpus();
	mts_rotor.capacity_is_set = config->bin_bytes;
	mts_rotor.by_use = config->demand == MTS_DEMAND_USED;
	retry_admission();
	conf.ties = mts_rotor.ties;
	conf.nties = fill_ties();
	mts_rotor.planned = ktime_get_ns();
	mts_rotor.newcomers = false;
	freezable = pack(config, &conf);
	if (is_tight(config, conf.capacity))
		freezable = pack(config, &conf);
	if (mts_rotor.early && mts_rotor.plan.nbins == 1)
		split(&conf);
	mts_rotor.planned_blindly = !conf.switch_ns || before < 2;
	settle(config, before);
	mts_rotor.reason = admit(config, freezable);
	if (looked || mts_rotor.reason != reason)
		trace_mts_admission(reason, mts_rotor.reason, &mts_rotor.admission,
				    &mts_rotor.plan);
	mts_rotor.nbins = mts_rotor.reason == MTS_REASON_OVERCOMMIT ? mts_rotor.plan.nbins : 0;
	mts_freezer_set_turns(mts_rotor.nbins >= 2);
	if (mts_rotor.nbins)
		mts_stats_add(wait_joins, count_joins(conf.nties));
	for (i = 0; i < mts_rotor.roster_size; i++) {
		struct mts_job *job = mts_rotor.roster[i];

		job->limited = mts_rotor.nbins && mts_rotor.plan_jobs[i].flags & MTS_PLAN_LIMITED;
		/* What is left of the same share is lent to others. */
		if (job->limited)
			mts_budget_hold(job);
		give_bin(job, mts_rotor.nbins ? mts_rotor.plan_jobs[i].bin : MTS_BIN_NONE,
			 mts_rotor.nbins ? mts_rotor.plan_jobs[i].demand : 0);
	}
	count_bins();
	mts_jobs_changed();
	mutex_unlock(&mts_lock);
	note_turn(before, on_demand);
	return mts_rotor.nbins;
}

/* What a newcomer will need: as its siblings on average, if it has any. */
static u64 expected_demand(const struct mts_job *newcomer)
{
	u64 sum = 0;
	u32 i, n = 0;

	for (i = 0; newcomer->parent && i < mts_rotor.roster_size; i++) {
		const struct mts_job *job = mts_rotor.roster[i];

		if (job->parent == newcomer->parent && job->bin != MTS_BIN_NONE) {
			sum = mts_add_sat(sum, job->demand);
			n++;
		}
	}
	return max(newcomer->demand, n ? div_u64(sum, n) : 0);
}

/* A newcomer whose limit the round does not keep: resident until the next one, if there is room. */
static bool is_let_in_for_its_limit(const struct mts_job *job, u32 bin, u64 demand)
{
	if (bin != MTS_BIN_NONE &&
	    mts_limit_allows(job->max_pause_ns, mts_rotor.bins[bin].pause_ns))
		return false;
	if (!job->max_pause_ns || demand > mts_rotor.limits.room)
		return false;
	mts_rotor.limits.room -= demand;
	return true;
}

static void place(struct mts_job *job)
{
	u64 demand;
	u32 bin;

	mts_rotor.newcomers = true;
	if (mts_round_is_resident(job)) {
		mts_round_move(job, MTS_BIN_EVERY, 0);
		return;
	}
	demand = expected_demand(job);
	bin = mts_plan_newcomer(mts_rotor.bins, mts_rotor.nbins, mts_rotor.plan.capacity,
				mts_rotor.running, demand);
	if (is_let_in_for_its_limit(job, bin, demand)) {
		job->limited = true;
		bin = MTS_BIN_EVERY;
	}
	mts_round_move(job, bin, demand);
}

void mts_round_place_newcomers(void)
{
	u32 i;

	/* An adopted cgroup arrives with all its memory. */
	for (i = 0; i < mts_rotor.roster_size; i++)
		if (mts_rotor.roster[i]->bin == MTS_BIN_NONE)
			measure(mts_rotor.roster[i]);
	mts_tasks_scan();
	mutex_lock(&mts_lock);
	for (i = 0; i < mts_rotor.roster_size; i++)
		if (mts_rotor.roster[i]->bin == MTS_BIN_NONE)
			place(mts_rotor.roster[i]);
	mts_jobs_changed();
	mutex_unlock(&mts_lock);
}

static void take_in(struct mts_job *job)
{
	u64 takes = mts_round_takes(job);

	mts_round_move(job, MTS_BIN_EVERY, 0);
	mts_budget_hold(job);
	note_interactive(job);
	mts_rotor.plan.demand = mts_sub_floor(mts_rotor.plan.demand, takes);
	mts_rotor.plan.resident_demand = mts_add_sat(mts_rotor.plan.resident_demand, takes);
	mts_rotor.plan.capacity = mts_sub_floor(mts_rotor.plan.capacity, takes);
	job->stays = 0;
	/* It runs, whatever was evicted of it. */
	job->warm = true;
}

/* A job that runs for a call alone keeps its bin: it is frozen again when the call is over. */
static bool has_to_be_resident(const struct mts_job *job)
{
	return job->realtime || mts_job_is_spared(job) || mts_job_is_interactive(job);
}

bool mts_round_take_in(void)
{
	const struct mts_plan_bin *running;
	u32 i, n = 0;
	bool fits;

	mutex_lock(&mts_lock);
	for (i = 0; i < mts_rotor.roster_size; i++) {
		struct mts_job *job = mts_rotor.roster[i];

		if (job->bin >= mts_rotor.nbins || !has_to_be_resident(job))
			continue;
		take_in(job);
		n++;
	}
	if (n)
		mts_jobs_changed();
	running = &mts_rotor.bins[mts_rotor.running];
	fits = running->demand <= mts_add_sat(mts_rotor.plan.capacity, mts_rotor.plan.capacity / 8);
	mutex_unlock(&mts_lock);
	/* A key must not make the host switch, if it can be helped. */
	return !n || fits;
}

/* In every bin; without turns, who would be. */
static bool is_kept(const struct mts_job *job)
{
	return mts_rotor.nbins ? job->bin == MTS_BIN_EVERY : mts_round_is_resident(job);
}

void mts_round_protect(bool wanted)
{
	u64 most = mts_add_sat(mts_rotor.plan.capacity, mts_rotor.plan.resident_demand);
	u32 i;

	for (i = 0; i < mts_rotor.roster_size; i++) {
		struct mts_job *job = mts_rotor.roster[i];
		bool kept = wanted && is_kept(job);
		bool used = kept && mts_job_is_interactive(job);
		bool pinned = kept && (job->flags & MTS_JOB_PIN || job->limited);
		bool always = pinned || (wanted && (job->realtime || job->stays));
		u64 low = 0;

		if (used || always)
			low = min(job->demand, most);
		mts_promise_step("memory is protected");
		mts_protect(job, low, used && !always ? mts_rotor.nbins : 1);
	}
}

bool mts_round_starves(void)
{
	bool starves =
		mts_round_reclaims() && mts_admission_starves(&mts_rotor.admission, ktime_get_ns());

	if (starves && !mts_rotor.starves)
		pr_notice_ratelimited("out of memory: nothing can be reclaimed, nobody runs\n");
	mts_rotor.starves = starves;
	return starves;
}

/* What the running bin needs now. Return: of how many jobs. */
static u32 measure_running(u64 *demand)
{
	u32 i, n = 0;

	*demand = 0;
	for (i = 0; i < mts_rotor.roster_size; i++) {
		struct mts_job *job = mts_rotor.roster[i];

		if (job->bin != mts_rotor.running || measure(job))
			continue;
		*demand = mts_add_sat(*demand, mts_round_takes(job));
		n += mts_round_takes(job) > 0;
	}
	return n;
}

bool mts_round_fits(void)
{
	u64 demand = 0;
	u32 i;

	/* Nobody knows yet what newcomers need; onset.c looks whether an early round was needed. */
	if (mts_rotor.newcomers || mts_rotor.early)
		return false;
	for (i = 0; i < mts_rotor.roster_size; i++)
		if (mts_rotor.roster[i]->bin < mts_rotor.nbins)
			demand = mts_add_sat(demand, mts_round_takes(mts_rotor.roster[i]));
	return demand <= mts_rotor.plan.capacity - mts_rotor.plan.capacity / 8;
}

struct mts_job *mts_round_largest(u32 bin, u32 *n)
{
	struct mts_job *largest = NULL;
	u64 bytes, most = 0;
	u32 i;

	*n = 0;
	for (i = 0; i < mts_rotor.roster_size; i++) {
		struct mts_job *job = mts_rotor.roster[i];

		if (job->bin != bin || job->stays || !READ_ONCE(job->frozen) ||
		    mts_ops->resident(job, &bytes))
			continue;
		++*n;
		if (!largest || bytes > most) {
			most = bytes;
			largest = job;
		}
	}
	return largest;
}

bool mts_round_outgrown(void)
{
	u64 demand;

	return measure_running(&demand) > 1 &&
	       mts_policy_outgrown(&mts_rotor.plan, &mts_rotor.bins[mts_rotor.running], demand);
}

bool mts_round_swaps(void)
{
	const struct mts_plan_bin *bin = &mts_rotor.bins[mts_rotor.running];
	u64 pages = mts_memory_swapins() - mts_rotor.swapins, demand;

	/* An eighth of the bin, and while the host reclaims: else something comes back late. */
	if (pages < bin->demand >> (PAGE_SHIFT + 3) ||
	    mts_hooks_last_reclaim() <= mts_rotor.slice_began)
		return false;
	/* Asked again after as much again. */
	mts_rotor.swapins += pages;
	return measure_running(&demand) > 1 &&
	       mts_policy_misfit(&mts_rotor.lesson, &mts_rotor.plan, bin, demand, mts_memory_free(),
				 mts_rotor.capacity_is_set);
}

// SPDX-License-Identifier: GPL-2.0
/* A switch: from one bin to the next. */
#include "mts.h"

#include "context.h"
#include "jobs/budget.h"
#include "jobs/freezer.h"
#include "jobs/interactive.h"
#include "memory/memory.h"
#include "jobs/ops.h"
#include "rotor/rotor.h"
#include "rotor/rotor_private.h"
#include "events/stats.h"
#include "jobs/tasks.h"
#include "events/trace.h"
#include "events/wake.h"
#include "memory/workers.h"

/*
 * A cgroup that has not frozen this long after the last one that did is thawed
 * and left out. Where many wait for a slow disk they freeze one by one.
 */
#define FREEZE_LIMIT_NS (1 * (u64)NSEC_PER_SEC)
#define FREEZE_TOTAL_NS (5 * (u64)NSEC_PER_SEC)
/* When turns end they wait no longer for what is in swap, where faults are about as fast. */
#define BRING_ALL_NS (1 * (u64)NSEC_PER_SEC)
/* What somebody waits for may take so long: the bins wait, too. */
#define URGENT_NS (1 * (u64)NSEC_PER_SEC)
/* A switch that moves less tells nothing of the disk. */
#define TELLING_BYTES (1024ull << 10)
/* So many people type at once at what was frozen, at most. */
#define WANTED_MOST 16u

/* Return: does this job stand still while bin @to runs? */
static bool is_to_freeze(const struct mts_job *job, u32 to)
{
	if (job->bin == to || job->bin == MTS_BIN_EVERY)
		return false;
	/* What has become so since the round was planned. */
	if (READ_ONCE(job->flags) & MTS_JOB_PIN || job->realtime || job->untouchable)
		return false;
	return !job->foreign && !READ_ONCE(job->overdue) && !mts_job_left_out(job) &&
	       !mts_job_is_wanted(job);
}

/* In time, not in rounds: there may be no rounds without it. */
static void leave_out(struct mts_job *job, u64 rounds)
{
	u64 round_ns = max_t(u64, mts_rotor.plan.round_ns, NSEC_PER_SEC);

	mutex_lock(&mts_lock);
	job->left_out_until = ktime_get_ns() + rounds * round_ns;
	mutex_unlock(&mts_lock);
}

int mts_switch_ask(struct mts_job *job, u32 to)
{
	int err;

	mts_promise_step("jobs are frozen");
	if (!is_to_freeze(job, to)) {
		/* It may have become real-time, or pinned, while frozen. */
		if (job->bin != to)
			mts_freezer_thaw(job);
		return 0;
	}
	/* Somebody wants it to run, now: so be it, for this round. */
	if (mts_freezer_lost(job)) {
		leave_out(job, 1);
		return 0;
	}
	err = mts_freezer_freeze(job);
	if (err == -ECANCELED)
		return err;
	if (err == -EBUSY)
		job->foreign = true;
	else if (err == -ETXTBSY)
		leave_out(job, 1);
	else if (err && err != -ENODEV && err != -EAGAIN)
		pr_warn_ratelimited("job %s: cannot be frozen: error %d\n", job->name, err);
	return 0;
}

static bool is_freezing(const struct mts_job *job)
{
	return READ_ONCE(job->frozen) && !mts_ops->is_frozen((struct mts_job *)job);
}

/*
 * A task that waits for memory freezes as soon as it has it, and does nothing until
 * then: that can take long, and evicting is what helps.
 */
static bool is_waited_for(const struct mts_job *job)
{
	return is_freezing(job) && !mts_ops->stalls((struct mts_job *)job);
}

static u32 count_waited_for(void)
{
	u32 i, n = 0;

	for (i = 0; i < mts_rotor.roster_size; i++)
		n += is_waited_for(mts_rotor.roster[i]);
	return n;
}

/**
 * struct freezing - who is to freeze, and has not when last looked at
 * @jobs: in the rotor's scratch memory
 * @stalling: so many, the first of them, waited for memory
 *
 * Each look that does not end the list takes one off it, or to its front: the recount of
 * the whole roster whenever one has frozen would be the square of the jobs.
 */
struct freezing {
	struct mts_job **jobs;
	u32 stalling;
	u32 n;
};

static void list_freezing(struct freezing *f)
{
	u32 i;

	f->stalling = 0;
	f->n = 0;
	for (i = 0; i < mts_rotor.roster_size; i++)
		if (is_freezing(mts_rotor.roster[i]))
			f->jobs[f->n++] = mts_rotor.roster[i];
}

/* The last one of the list. */
static void set_aside(struct freezing *f)
{
	swap(f->jobs[f->n - 1], f->jobs[f->stalling]);
	f->stalling++;
}

static bool is_listed_one_waited_for(struct freezing *f)
{
	while (f->n > f->stalling) {
		const struct mts_job *job = f->jobs[f->n - 1];

		if (is_waited_for(job))
			return true;
		if (is_freezing(job))
			set_aside(f);
		else
			f->n--;
	}
	return false;
}

static bool is_any_waited_for(struct freezing *f)
{
	if (is_listed_one_waited_for(f))
		return true;
	/* Who waited for memory may have it, and a task may have come to who had frozen. */
	list_freezing(f);
	return is_listed_one_waited_for(f);
}

/* Left out for 1, 2, 4 … 64 rounds: each attempt may cost a second. */
static void give_up(struct mts_job *job)
{
	mts_freezer_thaw(job);
	leave_out(job, 1ull << min(job->backoff, 6U));
	job->backoff++;
	job->freeze_failures++;
	mts_stats_inc(freeze_timeouts);
	pr_notice_ratelimited("job %s: did not freeze in 1 s: runs on, is tried again later\n",
			      job->name);
}

int mts_switch_wait_frozen(u64 deadline)
{
	struct freezing f = { .jobs = mts_rotor.scratch };
	u64 began = ktime_get_ns(), now = began, last = began;
	bool expired = false;
	u32 i, left, before = U32_MAX;

	while (!expired && is_any_waited_for(&f)) {
		/* They have been asked; the next switch looks whether each has frozen. */
		if (now >= deadline)
			return 0;
		mts_promise_step("jobs are frozen");
		if (mts_rotor_wait(BIT(MTS_ROTOR_EV_FROZEN) | BIT(MTS_ROTOR_EV_WANTED),
				   min(FREEZE_LIMIT_NS - (now - last), deadline - now)) &
		    BIT(MTS_ROTOR_EV_WANTED))
			mts_switch_bring_wanted();
		if (!mts_rotor_may_go_on())
			return -ECANCELED;
		now = ktime_get_ns();
		expired = now - began >= FREEZE_TOTAL_NS;
		if (now - last < FREEZE_LIMIT_NS)
			continue;
		left = count_waited_for();
		expired |= left >= before;
		before = left;
		last = now;
	}
	for (i = 0; i < mts_rotor.roster_size; i++) {
		struct mts_job *job = mts_rotor.roster[i];

		mts_promise_step("jobs are frozen");
		/* One that waited for memory may have it by now: it has not had its time yet. */
		if (expired && is_waited_for(job))
			give_up(job);
		else if (!is_freezing(job))
			job->backoff = 0;
	}
	return 0;
}

static int freeze_others(u32 to, u64 deadline)
{
	u64 began = ktime_get_ns();
	int err = 0;
	u32 i;

	mts_promise_step("tasks are looked at");
	mts_tasks_scan();
	for (i = 0; i < mts_rotor.roster_size && !err; i++)
		err = mts_switch_ask(mts_rotor.roster[i], to);
	if (!err)
		err = mts_switch_wait_frozen(deadline);
	mts_stats_add(freeze_ns, ktime_get_ns() - began);
	return err;
}

void mts_switch_thaw(u32 bin, u32 first, u32 end)
{
	u32 i;

	for (i = first; i < end; i++) {
		struct mts_job *job = mts_rotor.roster[i];

		if (job->bin != bin)
			continue;
		mts_promise_step("jobs are thawed");
		mts_freezer_thaw(job);
		job->warm = true;
	}
}

static void thaw_bin(u32 bin)
{
	mts_switch_thaw(bin, 0, mts_rotor.roster_size);
}

/* To MTS_BIN_NONE: turns are over. */
static void begin_switch(u32 to)
{
	mutex_lock(&mts_lock);
	mts_rotor.state = MTS_STATE_SWITCHING;
	mts_rotor.running = to;
	mts_jobs_changed();
	mutex_unlock(&mts_lock);
}

/* Of no jobs yet; there is one at a time, but for an urgent one. */
static struct mts_move new_move(void)
{
	return (struct mts_move){
		.jobs = mts_rotor.moved,
		.threads = mts_switch_threads(),
		.should_abort = mts_rotor_is_hurried,
		.should_yield = mts_rotor_is_wanted,
	};
}

static void add_to_move(struct mts_move *move, struct mts_job *job)
{
	move->jobs[move->n++] = (struct mts_moved){
		.job = job,
		.skip_bytes = mts_round_unused(job, &job->usage),
	};
}

/* The frozen jobs of bin @to, of the roster's from @first to before @end. */
static struct mts_move move_of_incoming(u32 to, u32 first, u32 end)
{
	struct mts_move move = new_move();
	u32 i;

	for (i = first; i < end; i++)
		if (mts_rotor.roster[i]->bin == to && READ_ONCE(mts_rotor.roster[i]->frozen))
			add_to_move(&move, mts_rotor.roster[i]);
	return move;
}

/* All frozen jobs. */
static struct mts_move move_of_frozen(void)
{
	struct mts_move move = new_move();
	u32 i;

	for (i = 0; i < mts_rotor.roster_size; i++)
		if (READ_ONCE(mts_rotor.roster[i]->frozen))
			add_to_move(&move, mts_rotor.roster[i]);
	return move;
}

static void bring(u32 to, struct mts_move *move)
{
	u64 began = ktime_get_ns(), lent = mts_rotor.lent_ns, pages = 0, took;
	u32 n = move->n;

	do {
		if (mts_move_should_yield(move))
			mts_switch_bring_wanted();
		pages += mts_ops->bring_back(move);
	} while (move->again);
	took = ktime_get_ns() - began - (mts_rotor.lent_ns - lent);
	trace_mts_bring_back(to, n, pages, took);
	if (move->urgent) {
		mts_rotor.lent_ns += took;
	} else {
		mts_stats_add(brought_back, pages);
		mts_stats_add(bring_back_ns, took);
	}
}

/* Those that came since the last time. Who is one too many has to fault. */
static void add_wanted(struct mts_move *move)
{
	u32 i;

	mts_rotor_note_wanted();
	for (i = 0; i < mts_rotor.roster_size; i++) {
		struct mts_job *job = mts_rotor.roster[i];

		if (!READ_ONCE(job->comes))
			continue;
		WRITE_ONCE(job->comes, false);
		/* It runs, whatever was evicted of it. */
		job->warm = true;
		if (!READ_ONCE(job->frozen) && move->n < WANTED_MOST)
			add_to_move(move, job);
	}
}

void mts_switch_bring_wanted(void)
{
	/* In the middle of another move, whose jobs it must not touch. */
	struct mts_moved jobs[WANTED_MOST];
	struct mts_move move = {
		.jobs = jobs,
		.deadline = ktime_get_ns() + URGENT_NS,
		.urgent = true,
		.should_abort = mts_rotor_is_hurried,
	};
	u64 swapins = mts_memory_swapins();
	int nice = task_nice(current);

	add_wanted(&move);
	if (!move.n || !mts_rotor_disk_is_slow())
		return;
	/* As in a switch: they run, and who answers a person has his share. */
	set_user_nice(current, 0);
	bring(MTS_BIN_EVERY, &move);
	set_user_nice(current, nice);
	/* It is not the running bin that swaps. */
	mts_rotor.swapins += mts_memory_swapins() - swapins;
}

void mts_switch_bring_back(u32 to, u32 first, u32 end)
{
	struct mts_move move = move_of_incoming(to, first, end);

	bring(to, &move);
	if (!mts_rotor.by_use || !mts_rotor_may_go_on())
		return;
	move = move_of_incoming(to, first, end);
	mts_ops->use_begins(&move);
}

/* Turns are over, or not begun: as far as it is back by @end. */
static void bring_until(struct mts_move *move, u64 end)
{
	move->deadline = end;
	move->brief = !mts_rotor_disk_is_slow();
	set_user_nice(current, 0);
	bring(MTS_BIN_NONE, move);
	set_user_nice(current, MIN_NICE);
}

void mts_switch_bring_job(struct mts_job *job, u64 end)
{
	struct mts_move move = new_move();

	add_to_move(&move, job);
	bring_until(&move, end);
}

/* From @now until it will have been frozen for @max_pause, or for its own limit. */
static u64 until(const struct mts_job *job, u64 now, u64 max_pause)
{
	return mts_sub_floor(READ_ONCE(job->frozen_since) + mts_job_pause_limit(job, max_pause),
			     now);
}

/* The one of those that are to stay frozen that must run first; NULL: there is none. */
static struct mts_job *first_to_run(void)
{
	struct mts_job *found = NULL;
	u64 left, least = U64_MAX;
	u32 i;

	for (i = 0; i < mts_rotor.roster_size; i++) {
		struct mts_job *job = mts_rotor.roster[i];

		if (!READ_ONCE(job->frozen))
			continue;
		if (!is_to_freeze(job, MTS_BIN_EVERY)) {
			mts_freezer_thaw(job);
			continue;
		}
		left = until(job, 0, mts_rotor.max_pause_ns);
		if (left < least) {
			least = left;
			found = job;
		}
	}
	return found;
}

/*
 * From a slow disk faults take twenty times as long: each waits for all of its memory, as
 * long as it may stand still, and those before it run. Return: some still wait.
 */
static bool bring_each(void)
{
	u64 now = ktime_get_ns(), pass_ends = now + BRING_ALL_NS, left;
	struct mts_job *job;

	for (job = first_to_run(); job; job = first_to_run()) {
		if (now >= pass_ends)
			return true;
		left = until(job, now + MTS_PAUSE_MARGIN_NS, mts_rotor.max_pause_ns);
		if (left)
			mts_switch_bring_job(job, now + left);
		/* As far as it has come; the rest when it is known what it is about. */
		if (mts_rotor_is_hurried())
			return true;
		mts_promise_step("jobs are thawed");
		mts_freezer_thaw(job);
		/* It resists: it is thawed with the others. */
		if (READ_ONCE(job->frozen))
			return false;
		now = ktime_get_ns();
	}
	return false;
}

bool mts_switch_bring_all(void)
{
	struct mts_move move = move_of_frozen();

	if (!move.n)
		return false;
	begin_switch(MTS_BIN_NONE);
	if (mts_rotor_disk_is_slow())
		return bring_each();
	bring_until(&move, ktime_get_ns() + BRING_ALL_NS);
	return false;
}

void mts_switch_note_use(void)
{
	struct mts_move move = move_of_frozen();

	mts_ops->use_ends(&move);
}

/* ---- the switch ------------------------------------------------------------ */

/* One bin goes, then the other comes. */
static int exchange(u32 to, u64 *last, struct mts_switch_parts *parts)
{
	mts_switch_note_use();
	mts_evict_for(to);
	parts->evict_ns = mts_switch_lap(last);
	if (!mts_rotor_may_go_on())
		return -ECANCELED;
	mts_switch_bring_back(to, 0, mts_rotor.roster_size);
	parts->bring_back_ns = mts_switch_lap(last);
	return 0;
}

static int switch_to_bin(u32 from, u32 to, struct mts_switch_parts *parts)
{
	u64 last = ktime_get_ns();
	int err;

	/* When turns begin the first bin is in memory in part: it comes back like any other. */
	err = freeze_others(from == MTS_BIN_NONE ? MTS_BIN_NONE : to, U64_MAX);
	parts->freeze_ns = mts_switch_lap(&last);
	if (err)
		return err;
	/* Work of the jobs', not of the host's: a shell that runs beside it gets its share. */
	set_user_nice(current, 0);
	err = exchange(to, &last, parts);
	set_user_nice(current, MIN_NICE);
	if (!err)
		thaw_bin(to);
	return err;
}

/* Where the disk takes the time, more of us would only make its heads go back and forth. */
u32 mts_switch_threads(void)
{
	return mts_rotor_waits_for_disk() ? 1 : U32_MAX;
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
	u64 lent = mts_rotor.lent_ns;
	struct mts_switch_parts parts = { 0 };
	u32 from = mts_rotor.running;
	bool passes = from != MTS_BIN_NONE && mts_passing_is_for(to);
	int err;

	begin_switch(to);
	trace_mts_switch_begin(mts_rotor.round, from, to);
	mts_stats_inc(switches);
	err = passes ? mts_passing(to, &parts) : switch_to_bin(from, to, &parts);
	took = ktime_get_ns() - began;
	trace_mts_switch_end(mts_rotor.round, from, to, took, &parts, err);
	if (!err)
		note_switch(took - (mts_rotor.lent_ns - lent), mts_workers_busy() - busy,
			    moved() - bytes, passes);
	return err;
}

/* The bin whose turn is after that of @bin. */
static u32 next_bin(u32 bin)
{
	u32 i, distance, best = mts_rotor.nbins, next = bin;

	for (i = 0; i < mts_rotor.roster_size; i++) {
		if (mts_rotor.roster[i]->bin >= mts_rotor.nbins || mts_rotor.roster[i]->bin == bin)
			continue;
		distance = (mts_rotor.roster[i]->bin + mts_rotor.nbins - bin) % mts_rotor.nbins;
		if (distance < best) {
			best = distance;
			next = mts_rotor.roster[i]->bin;
		}
	}
	return next;
}

/*
 * How long each bin may still wait for its switch to begin, in ns, so that nobody is frozen for
 * @max_pause, nor for a limit of its own; U64_MAX: none of it is frozen.
 *
 * The switch may take half as long again as the slowest of late: bins differ. Bins that pass share
 * the processors with who runs: the first time that they do it may take twice as long. They
 * come back one after the other.
 */
static void find_left(u64 *left, u64 now, u64 max_pause)
{
	u32 i, back, next = next_bin(mts_rotor.running);
	struct mts_move comes;
	bool passes = mts_passing_is_for(next);
	u64 more = mts_rotor.switches.slowest_ns / (passes && !mts_rotor.passed ? 1 : 2);
	u64 takes = mts_rotor.switches.slowest_ns + more + MTS_PAUSE_MARGIN_NS;

	for (i = 0; i < mts_rotor.nbins; i++)
		left[i] = U64_MAX;
	for (i = 0; i < mts_rotor.roster_size; i++) {
		const struct mts_job *job = mts_rotor.roster[i];

		if (job->bin < mts_rotor.nbins && job->bin != next && READ_ONCE(job->frozen))
			left[job->bin] = min(left[job->bin], until(job, now + takes, max_pause));
	}
	comes = move_of_incoming(next, 0, mts_rotor.roster_size);
	for (i = 0; i < comes.n; i++) {
		back = passes ? i + 1 : comes.n;
		left[next] =
			min(left[next], until(comes.jobs[i].job,
					      now + div_u64(takes * back, comes.n), max_pause));
	}
}

u64 mts_switch_longest_slice(u64 now, u64 max_pause)
{
	u64 *left = mts_rotor.scratch;

	find_left(left, now, max_pause);
	return mts_plan_cut(mts_rotor.bins, mts_rotor.nbins, mts_rotor.running, left,
			    mts_rotor.switches.slowest_ns);
}

int mts_switch_stop(u64 deadline)
{
	return freeze_others(MTS_BIN_EVERY, deadline);
}

int mts_switch_settle(u64 deadline)
{
	int err = freeze_others(mts_rotor.running, deadline);

	if (!err)
		thaw_bin(mts_rotor.running);
	return err;
}

/* Does it run out of turn by the budget, and not because it is in every bin anyway? */
static bool is_lent(const struct mts_job *job)
{
	return READ_ONCE(job->lent) && !job->limited && !(READ_ONCE(job->flags) & MTS_JOB_PIN) &&
	       !job->realtime && !job->untouchable && !mts_job_is_spared(job);
}

bool mts_switch_calls_over(void)
{
	struct mts_share share = { .processors = num_online_cpus(), .bins = mts_rotor.nbins };
	bool over = false;
	u32 i;

	for (i = 0; i < mts_rotor.roster_size; i++)
		share.jobs += mts_rotor.roster[i]->bin < mts_rotor.nbins;
	for (i = 0; i < mts_rotor.roster_size; i++) {
		struct mts_job *job = mts_rotor.roster[i];
		bool runs = job->bin != mts_rotor.running && !READ_ONCE(job->frozen);

		mts_budget_look(job, runs && is_lent(job), share);
		over |= runs && READ_ONCE(job->call.honoured) &&
			is_to_freeze(job, mts_rotor.running);
	}
	return over;
}

void mts_switch_thaw_all(void)
{
	u32 i;

	for (i = 0; i < mts_rotor.roster_size; i++) {
		mts_promise_step("jobs are thawed");
		mts_freezer_thaw(mts_rotor.roster[i]);
		mts_rotor.roster[i]->warm = true;
		mts_rotor.roster[i]->overdue = false;
		mts_rotor.roster[i]->limited = false;
	}
}

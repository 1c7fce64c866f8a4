// SPDX-License-Identifier: GPL-2.0
#include "rotor/freeze.h"

#include "context.h"
#include "events/promise.h"
#include "events/stats.h"
#include "events/wake.h"
#include "jobs/freezer.h"
#include "jobs/interactive.h"
#include "jobs/ops.h"
#include "jobs/tasks.h"
#include "rotor/bring.h"
#include "rotor/state.h"

/*
 * A cgroup that has not frozen this long after the last one that did is thawed and left out. Where
 * many wait for a slow disk they freeze one by one.
 */
#define FREEZE_LIMIT_NS (1 * (u64)NSEC_PER_SEC)
#define FREEZE_TOTAL_NS (5 * (u64)NSEC_PER_SEC)

bool mts_freeze_may(const struct mts_job *job)
{
	if (job->bin == MTS_BIN_EVERY)
		return false;
	/* What has become so since the round was planned. */
	if (READ_ONCE(job->flags) & MTS_JOB_PIN || job->realtime || job->untouchable)
		return false;
	return !job->foreign && !READ_ONCE(job->overdue) && !mts_job_left_out(job) &&
	       !mts_job_is_wanted(job);
}

bool mts_freeze_is_for(const struct mts_job *job)
{
	return !job->runs && mts_freeze_may(job);
}

/* In time, not in rounds: there may be no rounds without it. */
static void leave_out(struct mts_job *job, u64 rounds)
{
	u64 round_ns = max_t(u64, mts_rotor.round.plan.round_ns, NSEC_PER_SEC);

	mutex_lock(&mts_lock);
	job->left_out_until = ktime_get_ns() + rounds * round_ns;
	mutex_unlock(&mts_lock);
}

static int ask(struct mts_job *job, bool all)
{
	int err;

	mts_promise_step("jobs are frozen");
	if (job->runs && !all)
		return 0;
	if (!mts_freeze_may(job)) {
		/* It may have become real-time, or pinned, while frozen. */
		mts_freezer_thaw(job);
		return 0;
	}
	/* It has been thawed as wanted, or for a call: let it run this round. */
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

/**
 * struct freezing - jobs that were asked to freeze, and had not at the last look
 * @jobs: in the rotor's scratch memory
 * @stalling: the first @stalling of @jobs waited for memory
 *
 * Each look removes one job from the list or moves it to the front. A recount of the whole roster
 * at each look would cost the square of the number of jobs.
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
	for (i = 0; i < mts_rotor.roster.n; i++)
		if (is_freezing(mts_rotor.roster.jobs[i]))
			f->jobs[f->n++] = mts_rotor.roster.jobs[i];
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
	/*
	 * A job that waited for memory may have it; a task may have come to a job that had frozen.
	 */
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

/*
 * Wait until all jobs that were asked have frozen. A job that does not freeze is left out for a
 * while, unless @deadline (ktime, ns) comes first. Writes the scratch memory. 0 or -ECANCELED.
 */
static int wait_until_frozen(u64 deadline)
{
	struct freezing f = { .jobs = mts_rotor.scratch };
	u64 began = ktime_get_ns(), now = began, last = began;
	unsigned long events;
	bool expired = false;
	u32 i;

	while (!expired && is_any_waited_for(&f)) {
		/* They have been asked; the next switch looks whether each has frozen. */
		if (now >= deadline)
			return 0;
		mts_promise_step("jobs are frozen");
		events = mts_rotor_wait(BIT(MTS_ROTOR_EV_FROZEN) | BIT(MTS_ROTOR_EV_WANTED),
					min(FREEZE_LIMIT_NS - (now - last), deadline - now));
		if (events & BIT(MTS_ROTOR_EV_WANTED)) {
			mts_bring_wanted();
			events |= mts_rotor_take_events(BIT(MTS_ROTOR_EV_FROZEN));
		}
		if (!mts_rotor_should_run())
			return -ECANCELED;
		now = ktime_get_ns();
		if (events & BIT(MTS_ROTOR_EV_FROZEN))
			last = now;
		expired = now - last >= FREEZE_LIMIT_NS || now - began >= FREEZE_TOTAL_NS;
	}
	for (i = 0; i < mts_rotor.roster.n; i++) {
		struct mts_job *job = mts_rotor.roster.jobs[i];

		mts_promise_step("jobs are frozen");
		/* One that waited for memory may have it by now: it has not had its time yet. */
		if (expired && is_waited_for(job))
			give_up(job);
		else if (!is_freezing(job))
			job->backoff = 0;
	}
	return 0;
}

static int freeze(bool all, u64 deadline)
{
	u64 began = ktime_get_ns();
	int err = 0;
	u32 i;

	mts_promise_step("tasks are looked at");
	mts_tasks_scan();
	for (i = 0; i < mts_rotor.roster.n && !err; i++)
		err = ask(mts_rotor.roster.jobs[i], all);
	if (!err)
		err = wait_until_frozen(deadline);
	mts_stats_add(freeze_ns, ktime_get_ns() - began);
	return err;
}

void mts_freeze_thaw_running(void)
{
	u32 i;

	for (i = 0; i < mts_rotor.roster.n; i++) {
		struct mts_job *job = mts_rotor.roster.jobs[i];

		if (!job->runs)
			continue;
		mts_promise_step("jobs are thawed");
		mts_freezer_thaw(job);
		job->ran_since_evict = true;
	}
}

int mts_freeze_others(u64 deadline)
{
	return freeze(false, deadline);
}

int mts_freeze_stop(u64 deadline)
{
	return freeze(true, deadline);
}

int mts_freeze_apply_bins(u64 deadline)
{
	int err = mts_freeze_others(deadline);

	if (!err)
		mts_freeze_thaw_running();
	return err;
}

void mts_freeze_thaw_all(void)
{
	u32 i;

	for (i = 0; i < mts_rotor.roster.n; i++) {
		mts_promise_step("jobs are thawed");
		mts_freezer_thaw(mts_rotor.roster.jobs[i]);
		mts_rotor.roster.jobs[i]->ran_since_evict = true;
		mts_rotor.roster.jobs[i]->overdue = false;
		mts_rotor.roster.jobs[i]->limited = false;
		mts_rotor.roster.jobs[i]->sleeps = false;
	}
}

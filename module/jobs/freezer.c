// SPDX-License-Identifier: GPL-2.0
#include "jobs/freezer.h"

#include "context.h"
#include "jobs/budget.h"
#include "jobs/calls.h"
#include "jobs/interactive.h"
#include "jobs/ops.h"
#include "events/stats.h"
#include "events/trace.h"
#include "events/wake.h"

/*
 * So long a thaw waits for a process that has cgroup.freeze open: from its write to the
 * notification are microseconds of its time, and 20 ms give it a few ticks of a busy processor.
 * The pauses' margin is 12 times that.
 */
#define OPEN_WAIT_NS (20 * (u64)NSEC_PER_MSEC)

static atomic_t frozen_count;
static bool has_turns; /* the rotor has more than one bin */

u32 mts_freezer_count(void)
{
	return atomic_read(&frozen_count);
}

void mts_freezer_set_turns(bool turns)
{
	WRITE_ONCE(has_turns, turns);
}

bool mts_freezer_has_turns(void)
{
	return READ_ONCE(has_turns);
}

/* Goes before the freeze: where nobody is marked, nobody is about to freeze either. */
static void mark_frozen(struct mts_job *job)
{
	lockdep_assert_held(&job->freeze_lock);
	WRITE_ONCE(job->frozen_since, ktime_get_ns());
	WRITE_ONCE(job->needs_bring_back, false);
	/* Pairs with is_due(): the time goes before the mark. */
	smp_store_release(&job->frozen, true);
	if (atomic_inc_return(&frozen_count) == 1) {
		mts_wake_watchdog(MTS_WATCHDOG_EV_LOOK);
		mts_wake(MTS_THREAD_LOOKOUT, MTS_LOOKOUT_EV_LOOK);
	}
}

static void unmark(struct mts_job *job)
{
	lockdep_assert_held(&job->freeze_lock);
	WRITE_ONCE(job->frozen, false);
	atomic_dec(&frozen_count);
}

static void mark_thawed(struct mts_job *job)
{
	u64 frozen_for = ktime_get_ns() - job->frozen_since;

	WRITE_ONCE(job->frozen_total, job->frozen_total + frozen_for);
	WRITE_ONCE(job->frozen_longest, max(job->frozen_longest, frozen_for));
	unmark(job);
	mts_stats_inc(thaws);
	/* The rotor may wait for it to freeze; if it had not, no event of the kernel ends that. */
	mts_wake_rotor(MTS_ROTOR_EV_FROZEN);
}

bool mts_freezer_is_foreign(struct mts_job *job)
{
	return mts_ops->frozen_above(job) ||
	       (!READ_ONCE(job->frozen) && mts_ops->freeze_asked(job));
}

/* It is counted as open already. What the freezer is writing now comes before its own write. */
void mts_freezer_note_open(struct mts_job *job)
{
	if (!mts_ops->freeze_is_open(job))
		return;
	mutex_lock(&job->freeze_lock);
	mutex_unlock(&job->freeze_lock);
}

void mts_freezer_note_write(struct mts_job *job)
{
	mutex_lock(&job->freeze_lock);
	/* Our own 1 is older than the file is open. A 0 is found by mts_freezer_lost(). */
	if (job->frozen && mts_ops->freeze_set(job)) {
		trace_mts_thaw(job, MTS_THAW_KEPT);
		mark_thawed(job);
		mts_stats_inc(foreign_freezes);
	}
	mutex_unlock(&job->freeze_lock);
}

/* May another process have written what mts_freezer_note_write() has not been told of yet? */
static bool is_undecided(struct mts_job *job)
{
	u64 now = ktime_get_ns();

	lockdep_assert_held(&job->freeze_lock);
	/* Our freeze is gone already: there is nothing to write. */
	if (!mts_ops->freeze_set(job))
		return false;
	if (!mts_ops->freeze_is_open(job)) {
		job->open_since = 0;
		return false;
	}
	if (!job->open_since)
		job->open_since = now;
	return now - job->open_since < OPEN_WAIT_NS;
}

/* A thaw must not wait for memory: what is frozen may be all that could free some. */
static int write_thaw(struct mts_job *job)
{
	/* The write needs a few dozen bytes. */
	unsigned int noreclaim = memalloc_noreclaim_save();
	int err = mts_ops->freeze(job, false);

	memalloc_noreclaim_restore(noreclaim);
	/* -ENODEV: the cgroup is gone, and with it all that was frozen. */
	return err == -ENODEV ? 0 : err;
}

/* Return: true if our freeze has been lifted. */
static bool lift(struct mts_job *job, enum mts_thaw_why why)
{
	bool ours = mts_ops->freeze_set(job);
	int err = 0;

	lockdep_assert_held(&job->freeze_lock);
	/* The rotor may come before the watchdog, and before whoever has closed the gate. */
	if (why == MTS_THAW_ROTOR && mts_freezer_gate())
		why = MTS_THAW_ALL;
	else if (why == MTS_THAW_ROTOR && mts_job_is_wanted(job))
		why = MTS_THAW_WANTED;
	if (!ours) {
		why = MTS_THAW_FOREIGN;
		mts_stats_inc(foreign_thaws);
	}
	trace_mts_thaw(job, why);
	if (ours)
		err = write_thaw(job);
	if (err) {
		pr_err_ratelimited("job %s: cannot be thawed: error %d; trying again\n", job->name,
				   err);
		return false;
	}
	mark_thawed(job);
	if (why == MTS_THAW_WANTED) {
		/* A call alone, or something of the job's own. */
		if (mts_job_has_call(job) && !mts_job_is_interactive(job) &&
		    !mts_job_is_spared(job))
			mts_calls_thawed(job);
		else
			mts_interactive_thawed(job);
		WRITE_ONCE(job->needs_bring_back, true);
		/* Pairs with mts_rotor_note_wanted(). */
		smp_mb__before_atomic();
		mts_wake_rotor(MTS_ROTOR_EV_WANTED);
	}
	return true;
}

bool mts_freezer_thaw_locked(struct mts_job *job, enum mts_thaw_why why)
{
	lockdep_assert_held(&job->freeze_lock);
	return job->frozen && !is_undecided(job) && lift(job, why);
}

/* The same, without the lock; comes again itself. */
static void thaw(struct mts_job *job, enum mts_thaw_why why)
{
	bool undecided;

	do {
		mutex_lock(&job->freeze_lock);
		undecided = job->frozen && is_undecided(job);
		if (job->frozen && !undecided)
			lift(job, why);
		mutex_unlock(&job->freeze_lock);
		if (undecided)
			usleep_range(500, 1000);
	} while (undecided);
}

/* Must it not be frozen now? May let it run out of turn, if it has a call. */
static bool must_run(struct mts_job *job)
{
	return mts_calls_admit(job) || mts_job_is_wanted(job);
}

static int freeze_locked(struct mts_job *job)
{
	int err;

	lockdep_assert_held(&job->freeze_lock);
	if (mts_ops->freeze_asked(job))
		return -EBUSY;
	if (mts_ops->freeze_is_open(job))
		return -ETXTBSY;
	if (must_run(job))
		return -EAGAIN;
	atomic64_set(&job->wanted_since, 0);
	mark_frozen(job);
	trace_mts_freeze(job);
	err = mts_ops->freeze(job, true);
	if (err) {
		unmark(job);
		return err;
	}
	mts_stats_inc(freezes);
	/*
	 * Against those in mts_freezer_thaw_all(), interactive.c and calls.c: either who forbids
	 * freezing, or wants this job to run, sees it marked, or we see that.
	 */
	smp_mb();
	if (!mts_freezer_may_freeze())
		err = -ECANCELED;
	else if (must_run(job))
		err = -EAGAIN;
	/* It was not open above, so that nothing is undecided. */
	if (err)
		lift(job, err == -EAGAIN ? MTS_THAW_WANTED : MTS_THAW_ALL);
	else
		mts_calls_frozen(job);
	/* It has run until now. */
	WRITE_ONCE(job->needs_bring_back, false);
	return err;
}

int mts_freezer_freeze(struct mts_job *job)
{
	int err = 0;

	mutex_lock(&job->freeze_lock);
	if (job->retired)
		err = -ENODEV;
	else if (!mts_freezer_may_freeze())
		err = -ECANCELED;
	else if (!job->frozen)
		err = freeze_locked(job);
	mutex_unlock(&job->freeze_lock);
	return err;
}

void mts_freezer_thaw(struct mts_job *job)
{
	thaw(job, MTS_THAW_ROTOR);
}

void mts_freezer_retire(struct mts_job *job)
{
	mutex_lock(&job->freeze_lock);
	job->retired = true;
	mts_budget_return(job);
	mutex_unlock(&job->freeze_lock);
	/* Nobody else will find it, so this is the last chance: do not give up. */
	for (thaw(job, MTS_THAW_FORGOTTEN); READ_ONCE(job->frozen); thaw(job, MTS_THAW_FORGOTTEN))
		msleep(20);
}

bool mts_freezer_lost(struct mts_job *job)
{
	bool lost;

	mutex_lock(&job->freeze_lock);
	lost = job->frozen && !mts_ops->freeze_set(job);
	if (lost) {
		trace_mts_thaw(job, MTS_THAW_FOREIGN);
		mark_thawed(job);
		mts_stats_inc(foreign_thaws);
	}
	mutex_unlock(&job->freeze_lock);
	return lost;
}

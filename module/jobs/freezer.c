// SPDX-License-Identifier: GPL-2.0
#include "jobs/freezer.h"

#include "context.h"
#include "jobs/budget.h"
#include "jobs/calls.h"
#include "jobs/interactive.h"
#include "jobs/ops.h"
#include "events/promise.h"
#include "events/stats.h"
#include "events/trace.h"
#include "events/wake.h"

/*
 * How long a thaw waits for a process that has cgroup.freeze open. From its write to the
 * notification takes microseconds of processor time; 20 ms let it run for a few ticks on a busy
 * processor. It must stay well below half of MTS_PAUSE_MARGIN_NS (failsafe.c), 12 times as long.
 */
#define OPEN_WAIT_NS (20 * (u64)NSEC_PER_MSEC)

static atomic_t frozen_count; /* jobs that have begun */
static atomic_t held_count; /* jobs in the queue */
static bool has_turns; /* the rotor has more than one bin */

u32 mts_freezer_count(void)
{
	return atomic_read(&frozen_count);
}

u32 mts_freezer_held(void)
{
	return atomic_read(&held_count);
}

/* Of the jobs like this one: those that have begun, or those in the queue. */
static atomic_t *count_of(const struct mts_job *job)
{
	return job->held ? &held_count : &frozen_count;
}

void mts_freezer_set_turns(bool turns)
{
	WRITE_ONCE(has_turns, turns);
}

bool mts_freezer_has_turns(void)
{
	return READ_ONCE(has_turns);
}

/* Called before the freeze: a job that is not marked is not about to freeze either. */
static void mark_frozen(struct mts_job *job)
{
	lockdep_assert_held(&job->freeze_lock);
	WRITE_ONCE(job->frozen_since, ktime_get_ns());
	job->open_since = 0;
	WRITE_ONCE(job->needs_bring_back, false);
	/* Pairs with is_old() in thaw.c: frozen_since is set before the mark is seen. */
	smp_store_release(&job->frozen, true);
	if (atomic_inc_return(count_of(job)) == 1) {
		mts_wake_watchdog(MTS_WATCHDOG_EV_LOOK);
		mts_wake(MTS_THREAD_LOOKOUT, MTS_LOOKOUT_EV_LOOK);
	}
}

static void unmark(struct mts_job *job)
{
	lockdep_assert_held(&job->freeze_lock);
	WRITE_ONCE(job->frozen, false);
	atomic_dec(count_of(job));
}

/* A job that was in the queue, or was to be, is a job as any other from now on. */
static void begin(struct mts_job *job)
{
	lockdep_assert_held(&job->freeze_lock);
	job->began = ktime_get_ns();
	/* Pairs with mts_roster_muster(): what is set here and before is seen then. */
	smp_store_release(&job->held, false);
	mts_wake_rotor(MTS_ROTOR_EV_JOBS);
}

static void mark_thawed(struct mts_job *job)
{
	u64 frozen_for = ktime_get_ns() - job->frozen_since;

	unmark(job);
	if (job->held) {
		WRITE_ONCE(job->held_for, frozen_for);
		mts_stats_inc(queue_starts);
		mts_stats_add(queue_ns, frozen_for);
		begin(job);
	} else {
		WRITE_ONCE(job->frozen_total, job->frozen_total + frozen_for);
		WRITE_ONCE(job->frozen_longest, max(job->frozen_longest, frozen_for));
		mts_stats_inc(thaws);
	}
	/* The rotor may wait until the job is frozen. If it was not, no kernel event ends that. */
	mts_wake_rotor(MTS_ROTOR_EV_FROZEN);
}

bool mts_freezer_is_foreign(struct mts_job *job)
{
	return mts_ops->frozen_above(job) ||
	       (!READ_ONCE(job->frozen) && mts_ops->freeze_asked(job));
}

/*
 * The file already counts as open. A write by the freezer that is under way ends before the opening
 * process gets its descriptor, and so before its write.
 */
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
	/*
	 * mts wrote its own 1 before the file was opened, so this 1 is of the other process. A 0
	 * is found by mts_freezer_lost().
	 */
	if (job->frozen && mts_ops->freeze_set(job)) {
		trace_mts_thaw(job, MTS_THAW_KEPT);
		mark_thawed(job);
		mts_stats_inc(foreign_freezes);
	}
	mutex_unlock(&job->freeze_lock);
}

/* May another process have written cgroup.freeze, with the notification still to come? */
static bool is_undecided(struct mts_job *job)
{
	u64 now = ktime_get_ns();

	lockdep_assert_held(&job->freeze_lock);
	/* cgroup.freeze is 0 already: the thaw writes nothing, and can undo nothing. */
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

/* A thaw must not wait for memory: perhaps only the frozen jobs could free some. */
static int write_thaw(struct mts_job *job)
{
	/* The write allocates a few dozen bytes: take them from the reserves. */
	unsigned int noreclaim = memalloc_noreclaim_save();
	int err = mts_ops->freeze(job, false);

	memalloc_noreclaim_restore(noreclaim);
	/* -ENODEV: the cgroup is gone, and its tasks with it. */
	return err == -ENODEV ? 0 : err;
}

/* Return: true if the freeze by mts has been lifted. */
static bool lift(struct mts_job *job, enum mts_thaw_why why)
{
	bool ours = mts_ops->freeze_set(job);
	int err = 0;

	lockdep_assert_held(&job->freeze_lock);
	/*
	 * The rotor may thaw the job before the watchdog does, or the thread that closes the gate.
	 * The trace must have their reason then.
	 */
	if (why == MTS_THAW_ROTOR && mts_gate_reason())
		why = MTS_THAW_ALL;
	else if (why == MTS_THAW_ROTOR && mts_job_is_wanted(job))
		why = MTS_THAW_WANTED;
	if (!ours) {
		why = MTS_THAW_FOREIGN;
		mts_stats_inc(foreign_thaws);
	} else if (job->held && why == MTS_THAW_ROTOR) {
		why = MTS_THAW_BEGINS;
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
		/* Only a call makes it wanted, and not its own input or threads. */
		if (mts_job_has_call(job) && !mts_job_is_interactive(job) &&
		    !mts_job_is_spared(job))
			mts_calls_thawed(job);
		else
			mts_interactive_thawed(job);
		WRITE_ONCE(job->needs_bring_back, true);
		/* Pairs with mts_rotor_note_wanted(): needs_bring_back is set before the event. */
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

/* The same without the lock; tries again while another process has the file open. */
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

/* Must it not be frozen now? If it has a call, this may grant it a run out of turn. */
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
	if (!job->held)
		mts_stats_inc(freezes);
	/*
	 * Pairs with the barriers in mts_thaw_all(), interactive.c and calls.c. Another
	 * thread may just forbid freezing, or want this job to run: either it sees the mark and
	 * has the job thawed, or the checks below see its request.
	 */
	smp_mb();
	if (!mts_gate_may_freeze())
		err = -ECANCELED;
	else if (must_run(job))
		err = -EAGAIN;
	/* No process had the file open above, so the thaw need not wait for one. */
	if (err)
		lift(job, err == -EAGAIN ? MTS_THAW_WANTED : MTS_THAW_ALL);
	else
		mts_calls_frozen(job);
	/* The job has run until now: its memory need not be brought back. */
	WRITE_ONCE(job->needs_bring_back, false);
	return err;
}

int mts_freezer_freeze(struct mts_job *job)
{
	int err = 0;

	mutex_lock(&job->freeze_lock);
	if (job->retired)
		err = -ENODEV;
	else if (!mts_gate_may_freeze())
		err = -ECANCELED;
	else if (!job->frozen)
		err = freeze_locked(job);
	mutex_unlock(&job->freeze_lock);
	return err;
}

int mts_freezer_hold(struct mts_job *job)
{
	int err;

	/* The rotor may have slept since its last promise, as nothing was frozen. */
	if (!mts_freezer_all())
		mts_promise_anew("a job comes into the queue");
	err = mts_freezer_freeze(job);
	if (!err) {
		/* It may have looked between the job's publication and its freeze. */
		mts_wake_rotor(MTS_ROTOR_EV_JOBS);
		return 0;
	}
	mutex_lock(&job->freeze_lock);
	/* If it could not be thawed, it begins when it is. */
	if (job->held && !job->frozen)
		begin(job);
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
	WRITE_ONCE(job->retired, true);
	mts_budget_return(job);
	mutex_unlock(&job->freeze_lock);
	/* No lookup finds the job later, so no other thread would thaw it: do not give up. */
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

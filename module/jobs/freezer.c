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
static bool hands_off; /* the configuration lets no job be frozen */
static bool has_turns; /* the rotor has more than one bin */

static DEFINE_SPINLOCK(gate_lock);
static u32 gate_reason; /* written under gate_lock */
static char gate_detail[MTS_DETAIL_SIZE]; /* under gate_lock */

u32 mts_freezer_count(void)
{
	return atomic_read(&frozen_count);
}

void mts_freezer_set_hands_off(bool off)
{
	WRITE_ONCE(hands_off, off);
}

void mts_freezer_set_turns(bool turns)
{
	WRITE_ONCE(has_turns, turns);
}

bool mts_freezer_has_turns(void)
{
	return READ_ONCE(has_turns);
}

u32 mts_freezer_gate(void)
{
	/* Pairs with the releases below: what was said before the gate closed is seen. */
	return smp_load_acquire(&gate_reason);
}

void mts_freezer_detail(char *text, size_t size)
{
	spin_lock(&gate_lock);
	strscpy(text, gate_reason ? gate_detail : "", size);
	spin_unlock(&gate_lock);
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

/* Return: true if our freeze has been lifted; false also if that is undecided: come again. */
static bool thaw_locked(struct mts_job *job, enum mts_thaw_why why)
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

bool mts_freezer_may_freeze(void)
{
	return !mts_freezer_gate() && !READ_ONCE(hands_off);
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

#define BATCH 64

/**
 * struct due - which jobs are to be thawed
 * @limit_ns: those that have been frozen for so long, or for their own limit if that is shorter,
 * @before_ns: less this; 0 and 0: all that are frozen
 * @wanted: instead: those that are to run now
 * @overdue: the watchdog thaws them for their age
 */
struct due {
	u64 limit_ns;
	u64 before_ns;
	bool wanted;
	bool overdue;
};

static bool is_old(const struct mts_job *job, const struct due *due)
{
	u64 age = mts_job_pause_limit(job, due->limit_ns) - due->before_ns;

	/* Pairs with freeze_locked(). */
	if (!smp_load_acquire(&job->frozen))
		return false;
	/* Signed: it may have been frozen since the clock was read. */
	return (s64)(ktime_get_ns() - READ_ONCE(job->frozen_since)) >= (s64)age;
}

/* Frozen, and wanted, or may be if the budget has something left. */
static bool is_wanted(const struct mts_job *job)
{
	/* Pairs with freeze_locked(). */
	return smp_load_acquire(&job->frozen) && (mts_job_is_wanted(job) || mts_job_has_call(job));
}

/* Is it to run now? Input that the budget has no room for is refused. */
static bool may_run(struct mts_job *job)
{
	if (mts_job_is_spared(job) || mts_calls_admit(job))
		return true;
	if (!mts_job_is_interactive(job))
		return false;
	if (mts_budget_lend(job, true))
		return true;
	mts_interactive_refuse(job);
	return false;
}

static bool is_due(const struct mts_job *job, const struct due *due)
{
	return due->wanted ? is_wanted(job) : is_old(job, due);
}

/* Up to BATCH jobs that are due, from the first id above *after, with references. */
static u32 collect(struct mts_job **jobs, const struct due *due, u32 *after)
{
	struct mts_job *job;
	u32 n = 0;

	rcu_read_lock();
	mts_job_for_each_rcu(job) {
		if (job->id <= *after || !is_due(job, due) || !mts_job_tryget(job))
			continue;
		*after = job->id;
		jobs[n++] = job;
		if (n == BATCH)
			break;
	}
	rcu_read_unlock();
	return n;
}

/*
 * Never waits for a lock: its holder may be stuck, and must not keep the other
 * jobs frozen. Callers come again.
 */
static bool try_thaw(struct mts_job *job, const struct due *due)
{
	bool thawed;

	if (!mutex_trylock(&job->freeze_lock))
		return false;
	thawed = is_old(job, due) &&
		 thaw_locked(job, due->limit_ns ? MTS_THAW_OVERDUE : MTS_THAW_ALL);
	if (thawed && due->overdue)
		WRITE_ONCE(job->overdue, true);
	mutex_unlock(&job->freeze_lock);
	return thawed;
}

static u32 thaw_due(const struct due *due)
{
	struct mts_job *jobs[BATCH];
	u32 total = 0, after = 0, n, i;

	do {
		n = collect(jobs, due, &after);
		for (i = 0; i < n; i++) {
			total += try_thaw(jobs[i], due);
			mts_job_put(jobs[i]);
		}
	} while (n == BATCH);
	return total;
}

u32 mts_freezer_thaw_overdue(u64 limit_ns, u64 before_ns)
{
	const struct due due = { .limit_ns = limit_ns, .before_ns = before_ns, .overdue = true };
	u32 n = thaw_due(&due);

	if (n)
		mts_stats_add(overdue_thaws, n);
	return n;
}

static bool try_thaw_wanted(struct mts_job *job)
{
	bool done;

	if (!mutex_trylock(&job->freeze_lock))
		return false;
	if (is_wanted(job) && may_run(job))
		thaw_locked(job, MTS_THAW_WANTED);
	done = !READ_ONCE(job->frozen) || !mts_job_is_wanted(job);
	mutex_unlock(&job->freeze_lock);
	return done;
}

bool mts_freezer_thaw_wanted(void)
{
	const struct due due = { .wanted = true };
	struct mts_job *jobs[BATCH];
	u32 after = 0, n, i;
	bool all = true;

	do {
		n = collect(jobs, &due, &after);
		for (i = 0; i < n; i++) {
			all &= try_thaw_wanted(jobs[i]);
			mts_job_put(jobs[i]);
		}
	} while (n == BATCH);
	return all;
}

void mts_freezer_thaw_all(void)
{
	const struct due due = { 0 };
	int i;

	/* Pairs with freeze_locked(). */
	smp_mb();
	/* Who holds a job's lock is about to see that it must not freeze: a second for that. */
	for (i = 0; i < 50; i++) {
		thaw_due(&due);
		if (!mts_freezer_count())
			break;
		msleep(20);
	}
}

u32 mts_freezer_stop(u32 reason, const char *fmt, ...)
{
	char detail[MTS_DETAIL_SIZE];
	bool first;
	va_list args;
	u32 n = mts_freezer_count();

	va_start(args, fmt);
	vscnprintf(detail, sizeof(detail), fmt, args);
	va_end(args);

	spin_lock(&gate_lock);
	first = gate_reason == MTS_REASON_NONE || gate_reason == MTS_REASON_SUSPEND;
	if (first) {
		strscpy(gate_detail, detail, sizeof(gate_detail));
		/* Before anybody can see it, and thaw. */
		trace_mts_stop(reason, n, detail);
		/* Pairs with mts_freezer_gate(). */
		smp_store_release(&gate_reason, reason);
	}
	spin_unlock(&gate_lock);

	mts_freezer_thaw_all();
	if (first)
		pr_notice("stopped: %s; %u jobs thawed\n", detail, n);
	if (first && reason != MTS_REASON_USER && reason != MTS_REASON_UNLOAD)
		mts_stats_inc(failsafe_thaws);
	mts_wake_rotor(MTS_ROTOR_EV_GATE);
	return n;
}

void mts_freezer_open(u32 reason)
{
	spin_lock(&gate_lock);
	if (reason == MTS_REASON_NONE ? gate_reason != MTS_REASON_SUSPEND : gate_reason == reason)
		/* Pairs with mts_freezer_gate(). */
		smp_store_release(&gate_reason, MTS_REASON_NONE);
	spin_unlock(&gate_lock);
	mts_wake_rotor(MTS_ROTOR_EV_GATE);
}

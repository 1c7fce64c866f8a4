// SPDX-License-Identifier: GPL-2.0
#include "jobs/thaw.h"

#include "context.h"
#include "jobs/budget.h"
#include "jobs/calls.h"
#include "jobs/freezer.h"
#include "jobs/gate.h"
#include "jobs/interactive.h"
#include "events/stats.h"
#include "events/wake.h"

/* Jobs that are collected under one rcu_read_lock(), on the stack. */
#define BATCH 64

/**
 * struct due - which frozen jobs to thaw
 * @limit_ns: jobs that have been frozen for this long, or for their own limit if that is shorter
 * @before_ns: subtracted from the limit; both 0: all frozen jobs
 * @wanted: instead of that, jobs that must run now, or have a call
 * @overdue: set job->overdue, because they are near their pause limit
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

	/* Pairs with mark_frozen() in freezer.c. */
	if (!smp_load_acquire(&job->frozen))
		return false;
	/* Signed: the job may have been frozen after the clock was read. */
	return (s64)(ktime_get_ns() - READ_ONCE(job->frozen_since)) >= (s64)age;
}

/* Is it frozen, and must run now, or has a call that the budget may grant? */
static bool is_wanted(const struct mts_job *job)
{
	/* Pairs with mark_frozen() in freezer.c. */
	return smp_load_acquire(&job->frozen) && (mts_job_is_wanted(job) || mts_job_has_call(job));
}

/* May it run now? If its budget grants no run for input, note that the input was refused. */
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

/* Take references to up to BATCH due jobs, in order of id, starting after id *after. */
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
 * Does not wait for a job's lock: its holder may be stuck, and the other jobs must be thawed even
 * then. Callers try again later.
 */
static bool try_thaw(struct mts_job *job, const struct due *due)
{
	bool thawed, held;

	if (!mutex_trylock(&job->freeze_lock))
		return false;
	held = job->held;
	thawed = is_old(job, due) &&
		 mts_freezer_thaw_locked(job, due->limit_ns ? MTS_THAW_OVERDUE : MTS_THAW_ALL);
	if (thawed && due->overdue && held)
		mts_stats_inc(queue_expired);
	else if (thawed && due->overdue)
		WRITE_ONCE(job->overdue, true);
	mutex_unlock(&job->freeze_lock);
	/* The end of a wait in the queue is no missed turn. */
	return thawed && !(held && due->overdue);
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

u32 mts_thaw_overdue(u64 limit_ns, u64 before_ns)
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
		mts_freezer_thaw_locked(job, MTS_THAW_WANTED);
	done = !READ_ONCE(job->frozen) || !mts_job_is_wanted(job);
	mutex_unlock(&job->freeze_lock);
	return done;
}

bool mts_thaw_wanted(void)
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

void mts_thaw_all(void)
{
	const struct due due = { 0 };
	int i;

	/* Pairs with freeze_locked() in freezer.c. */
	smp_mb();
	/*
	 * A thread that holds a job's lock will soon see that it must not freeze the job. 50 times
	 * 20 ms are a second, enough for that and for a process that has cgroup.freeze open.
	 */
	for (i = 0; i < 50; i++) {
		thaw_due(&due);
		if (!mts_freezer_all())
			break;
		msleep(20);
	}
}

u32 mts_thaw_and_stop(u32 reason, const char *fmt, ...)
{
	char detail[MTS_DETAIL_SIZE];
	bool first;
	va_list args;
	u32 n = mts_freezer_count();

	va_start(args, fmt);
	vscnprintf(detail, sizeof(detail), fmt, args);
	va_end(args);

	first = mts_gate_close(reason, detail, n);
	mts_thaw_all();
	if (first)
		pr_notice("stopped: %s; %u jobs thawed\n", detail, n);
	if (first && reason != MTS_REASON_SUSPEND && reason != MTS_REASON_UNLOAD)
		mts_stats_inc(stops);
	if (first && reason != MTS_REASON_USER && reason != MTS_REASON_UNLOAD)
		mts_stats_inc(failsafe_thaws);
	mts_wake_rotor(MTS_ROTOR_EV_GATE);
	return n;
}

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
		 mts_freezer_thaw_locked(job, due->limit_ns ? MTS_THAW_OVERDUE : MTS_THAW_ALL);
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
		mts_freezer_thaw_locked(job, MTS_THAW_WANTED);
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

	first = mts_gate_close(reason, detail, n);
	mts_freezer_thaw_all();
	if (first)
		pr_notice("stopped: %s; %u jobs thawed\n", detail, n);
	if (first && reason != MTS_REASON_USER && reason != MTS_REASON_UNLOAD)
		mts_stats_inc(failsafe_thaws);
	mts_wake_rotor(MTS_ROTOR_EV_GATE);
	return n;
}

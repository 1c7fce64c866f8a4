// SPDX-License-Identifier: GPL-2.0
#include "freezer.h"

#include <linux/delay.h>
#include <linux/sched/mm.h>
#include <linux/spinlock.h>

#include "failsafe.h"
#include "ops.h"
#include "rotor.h"
#include "stats.h"

static atomic_t frozen_count;

static DEFINE_SPINLOCK(gate_lock);
static u32 gate_reason; /* written under gate_lock */
static char gate_detail[MTS_DETAIL_SIZE]; /* under gate_lock */

u32 mts_freezer_count(void)
{
	return atomic_read(&frozen_count);
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

int mts_freezer_freeze(struct mts_job *job)
{
	int err = 0;

	mutex_lock(&job->freeze_lock);
	if (job->retired) {
		err = -ENODEV;
	} else if (mts_freezer_gate()) {
		/* Under freeze_lock: who closes the gate thaws us after this, or we see it. */
		err = -ECANCELED;
	} else if (!job->frozen) {
		if (mts_ops->freeze_asked(job))
			err = -EBUSY;
		else
			err = mts_ops->freeze(job, true);
		if (!err) {
			WRITE_ONCE(job->frozen_since, ktime_get_ns());
			WRITE_ONCE(job->frozen, true);
			mts_stats_inc(freezes);
			if (atomic_inc_return(&frozen_count) == 1)
				mts_failsafe_wake();
		}
	}
	mutex_unlock(&job->freeze_lock);
	return err;
}

static void mark_thawed(struct mts_job *job)
{
	u64 frozen_for = ktime_get_ns() - job->frozen_since;

	lockdep_assert_held(&job->freeze_lock);
	WRITE_ONCE(job->frozen_total, job->frozen_total + frozen_for);
	WRITE_ONCE(job->frozen_longest, max(job->frozen_longest, frozen_for));
	WRITE_ONCE(job->frozen, false);
	atomic_dec(&frozen_count);
	mts_stats_inc(thaws);
}

/* Return: true if our freeze has been lifted. */
static bool thaw_locked(struct mts_job *job)
{
	unsigned int noreclaim;
	int err;

	lockdep_assert_held(&job->freeze_lock);
	if (!job->frozen)
		return false;
	/*
	 * A thaw must not wait for memory: what is frozen may be all that could
	 * free some. The write needs a few dozen bytes.
	 */
	noreclaim = memalloc_noreclaim_save();
	err = mts_ops->freeze(job, false);
	memalloc_noreclaim_restore(noreclaim);
	/* -ENODEV: the cgroup is gone, and with it all that was frozen. */
	if (err && err != -ENODEV) {
		pr_err_ratelimited("job %s: cannot be thawed: error %d; trying again\n", job->name,
				   err);
		return false;
	}
	mark_thawed(job);
	return true;
}

void mts_freezer_thaw(struct mts_job *job)
{
	mutex_lock(&job->freeze_lock);
	thaw_locked(job);
	mutex_unlock(&job->freeze_lock);
}

void mts_freezer_retire(struct mts_job *job)
{
	mutex_lock(&job->freeze_lock);
	job->retired = true;
	/* Nobody else will find it, so this is the last chance: do not give up. */
	while (!thaw_locked(job) && job->frozen)
		msleep(20);
	mutex_unlock(&job->freeze_lock);
}

bool mts_freezer_lost(struct mts_job *job)
{
	bool lost;

	mutex_lock(&job->freeze_lock);
	lost = job->frozen && !mts_ops->freeze_asked(job);
	if (lost) {
		mark_thawed(job);
		mts_stats_inc(foreign_thaws);
	}
	mutex_unlock(&job->freeze_lock);
	return lost;
}

#define BATCH 64

/* Up to BATCH jobs that have been frozen for at least @age, with references. */
static u32 collect(struct mts_job **jobs, u64 age)
{
	u64 now = ktime_get_ns();
	struct mts_job *job;
	u32 n = 0;

	rcu_read_lock();
	mts_job_for_each_rcu(job) {
		if (!READ_ONCE(job->frozen) || now - READ_ONCE(job->frozen_since) < age)
			continue;
		if (mts_job_tryget(job))
			jobs[n++] = job;
		if (n == BATCH)
			break;
	}
	rcu_read_unlock();
	return n;
}

static u32 thaw_older_than(u64 age, bool overdue)
{
	struct mts_job *jobs[BATCH];
	u32 total = 0, n, thawed, i;

	do {
		n = collect(jobs, age);
		thawed = 0;
		for (i = 0; i < n; i++) {
			mutex_lock(&jobs[i]->freeze_lock);
			if (thaw_locked(jobs[i])) {
				thawed++;
				if (overdue)
					WRITE_ONCE(jobs[i]->overdue, true);
			}
			mutex_unlock(&jobs[i]->freeze_lock);
			mts_job_put(jobs[i]);
		}
		total += thawed;
		/* No progress: errors, which the watchdog tries again. */
	} while (thawed);
	return total;
}

u32 mts_freezer_thaw_overdue(u64 limit_ns)
{
	u32 n = thaw_older_than(limit_ns, true);

	if (n)
		mts_stats_add(overdue_thaws, n);
	return n;
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
		/* Pairs with mts_freezer_gate(). */
		smp_store_release(&gate_reason, reason);
	}
	spin_unlock(&gate_lock);

	/* The rotor wakes at the first of them and helps. */
	thaw_older_than(0, false);
	if (first)
		pr_notice("stopped: %s; %u jobs thawed\n", detail, n);
	if (first && reason != MTS_REASON_USER && reason != MTS_REASON_UNLOAD)
		mts_stats_inc(failsafe_thaws);
	mts_rotor_wake(MTS_ROTOR_EV_GATE);
	return n;
}

void mts_freezer_open(u32 reason)
{
	spin_lock(&gate_lock);
	if (reason == MTS_REASON_NONE || gate_reason == reason)
		/* Pairs with mts_freezer_gate(). */
		smp_store_release(&gate_reason, MTS_REASON_NONE);
	spin_unlock(&gate_lock);
	mts_rotor_wake(MTS_ROTOR_EV_GATE);
}

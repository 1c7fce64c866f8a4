// SPDX-License-Identifier: GPL-2.0
#include "jobs/failsafe.h"

#include "context.h"
#include "jobs/watched.h"
#include "jobs/freezer.h"
#include "jobs/thaw.h"
#include "mts.h"
#include "events/promise.h"
#include "events/wake.h"
#include "policy/bins.h"

/*
 * How long before its limit the watchdog thaws a job; it looks twice in that
 * time while something is frozen. Plans keep twice that distance.
 */
#define LOOK_NS (MTS_PAUSE_MARGIN_NS / 2)

/* How long a suspend waits until the rotor has ended what it is doing. */
#define PARK_LIMIT_MS 10000

static struct task_struct *watchdog;
static atomic64_t limit = ATOMIC64_INIT(MTS_PAUSE_MAX_NS);
static bool parked; /* the rotor is */

void mts_failsafe_set_limit(u64 ns)
{
	atomic64_set(&limit, ns);
}

void mts_failsafe_set_parked(bool is)
{
	/* Pairs with park_rotor(): what the rotor did before is over. */
	smp_store_release(&parked, is);
}

static bool take(unsigned int event)
{
	return mts_wake_take(MTS_THREAD_WATCHDOG, BIT(event));
}

static bool has_event(unsigned long mask)
{
	return mts_wake_events(MTS_THREAD_WATCHDOG, mask);
}

/*
 * Late for the same thing at two looks in a row. One alone may say that the host stood still, or
 * who emulates it: then both wake up at once, and the rotor is about to tell what it does.
 */
static bool is_rotor_stuck(void)
{
	static s64 missed; /* at the last look; 0: none */
	static s64 since; /* the first look at which it was */
	s64 due = mts_promise_due(), now = ktime_get_ns(), before = missed;

	missed = now - due > (s64)LOOK_NS ? due : 0;
	if (missed != before)
		since = now;
	/* Input wakes the watchdog as well: two looks may come at once. */
	return missed && now - since >= (s64)LOOK_NS / 4;
}

static void look(void)
{
	bool stuck = mts_freezer_count() && is_rotor_stuck();
	u32 n;

	/* Calls that were refused: there may be something left of the budget by now. */
	if (mts_watched_are_any()) {
		mts_watched_look();
		mts_wake_watchdog(MTS_WATCHDOG_EV_WANTED);
	}
	if (take(MTS_WATCHDOG_EV_WANTED) && !mts_freezer_thaw_wanted()) {
		/* Whoever holds a job's lock has it for moments, or is stuck. */
		mts_wake_watchdog(MTS_WATCHDOG_EV_WANTED);
		schedule_timeout_idle(1);
	}
	if (take(MTS_WATCHDOG_EV_OOM))
		mts_freezer_stop(MTS_REASON_OOM, "the kernel was out of memory");
	else if (mts_freezer_gate())
		/* What could not be thawed then is tried again. */
		mts_freezer_thaw_overdue(0, 0);
	else if (stuck)
		mts_freezer_stop(MTS_REASON_STALL, "the rotor is stuck while %s",
				 mts_promise_doing());

	n = mts_freezer_thaw_overdue(atomic64_read(&limit), LOOK_NS);
	if (n)
		pr_warn_ratelimited("%u jobs thawed out of turn: frozen for nearly too long\n", n);
}

/* A job may be frozen for too long, or runs for a call that may be over. */
static bool has_to_look(void)
{
	return mts_freezer_count() || (mts_freezer_has_turns() && mts_watched_are_any());
}

static int watchdog_thread(void *unused)
{
	sched_set_fifo(current);
	/* It must run when memory is short, and frees some by thawing. */
	memalloc_noreclaim_save();

	while (!kthread_should_stop()) {
		wait_event_idle(mts_wait_of[MTS_THREAD_WATCHDOG],
				has_to_look() || has_event(BIT(MTS_WATCHDOG_EV_OOM)) ||
					kthread_should_stop());
		look();
		wait_event_idle_timeout(mts_wait_of[MTS_THREAD_WATCHDOG],
					has_event(BIT(MTS_WATCHDOG_EV_OOM) |
						  BIT(MTS_WATCHDOG_EV_WANTED)) ||
						kthread_should_stop(),
					nsecs_to_jiffies(LOOK_NS / 2));
	}
	return 0;
}

/*
 * Called before the OOM killer chooses; it may not sleep for memory, so the
 * watchdog does the work. While nothing is frozen it is none of our doing.
 */
static int on_oom(struct notifier_block *nb, unsigned long unused, void *freed)
{
	if (mts_freezer_count())
		mts_wake_watchdog(MTS_WATCHDOG_EV_OOM);
	return NOTIFY_OK;
}

static struct notifier_block oom_notifier = { .notifier_call = on_oom };

/* It may be in the middle of an eviction, and nobody may swap now. */
static int park_rotor(void)
{
	unsigned long until = jiffies + msecs_to_jiffies(PARK_LIMIT_MS);

	while (!smp_load_acquire(&parked)) { /* pairs with mts_failsafe_set_parked() */
		if (time_after(jiffies, until)) {
			pr_warn("suspend refused: the rotor is busy\n");
			/* Of the end of it only those are told that agreed. */
			mts_freezer_open(MTS_REASON_SUSPEND);
			/* All were thawed, which a stuck rotor has not seen: a new round. */
			mts_wake_rotor(MTS_ROTOR_EV_CONFIG);
			return notifier_from_errno(-EBUSY);
		}
		msleep(20);
	}
	return NOTIFY_OK;
}

static int on_pm(struct notifier_block *nb, unsigned long event, void *unused)
{
	switch (event) {
	case PM_SUSPEND_PREPARE:
	case PM_HIBERNATION_PREPARE:
	case PM_RESTORE_PREPARE:
		mts_freezer_stop(MTS_REASON_SUSPEND, "the host suspends");
		return park_rotor();
	case PM_POST_SUSPEND:
	case PM_POST_HIBERNATION:
	case PM_POST_RESTORE:
		mts_freezer_open(MTS_REASON_SUSPEND);
		break;
	}
	return NOTIFY_OK;
}

static struct notifier_block pm_notifier = { .notifier_call = on_pm };

int mts_failsafe_init(void)
{
	int err;

	watchdog = kthread_create(watchdog_thread, NULL, "mts_watchdog");
	if (IS_ERR(watchdog))
		return PTR_ERR(watchdog);
	get_task_struct(watchdog); /* as the rotor's */
	wake_up_process(watchdog);
	err = register_oom_notifier(&oom_notifier);
	if (err)
		goto out_watchdog;
	err = register_pm_notifier(&pm_notifier);
	if (err)
		goto out_oom;
	return 0;

out_oom:
	unregister_oom_notifier(&oom_notifier);
out_watchdog:
	kthread_stop(watchdog);
	put_task_struct(watchdog);
	return err;
}

void mts_failsafe_exit(void)
{
	unregister_pm_notifier(&pm_notifier);
	unregister_oom_notifier(&oom_notifier);
	kthread_stop(watchdog);
	put_task_struct(watchdog);
}

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
 * The watchdog thaws a job this long before its limit. It looks twice in this time while a job is
 * frozen, so that one look is always in time. Plans keep MTS_PAUSE_MARGIN_NS from the limit.
 */
#define LOOK_NS (MTS_PAUSE_MARGIN_NS / 2)

/*
 * How long a suspend waits for the rotor, which may be evicting a job. A longer wait delays the
 * suspend; a shorter one refuses it more often.
 */
#define PARK_LIMIT_MS 10000

static struct task_struct *watchdog;
static atomic64_t limit = ATOMIC64_INIT(MTS_PAUSE_STRETCHED_NS);
static bool limit_is_reached; /* as planned */
static bool parked; /* the rotor is */

void mts_failsafe_set_limit(u64 ns, bool is_reached)
{
	atomic64_set(&limit, ns);
	if (is_reached && !limit_is_reached)
		pr_info_ratelimited("pauses reach their limit: jobs run before there is room\n");
	WRITE_ONCE(limit_is_reached, is_reached);
}

void mts_failsafe_set_parked(bool is)
{
	/* Pairs with park_rotor(): the rotor's earlier work is complete when this is seen. */
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
 * Is the rotor late for the same deadline at two looks in a row? One look is not enough: the host,
 * or its hypervisor, may have been paused. Then the watchdog and the rotor continue at the same
 * moment, and the rotor is about to set a new deadline.
 */
static bool is_rotor_stuck(void)
{
	static s64 missed; /* the deadline that was missed at the last look; 0: none */
	static s64 since; /* time of the first look at which it was missed */
	s64 due = mts_promise_due(), now = ktime_get_ns(), before = missed;

	missed = now - due > (s64)LOOK_NS ? due : 0;
	if (missed != before)
		since = now;
	/* Input wakes the watchdog, too, so that two looks may follow at once: wait in between. */
	return missed && now - since >= (s64)LOOK_NS / 4;
}

static void look(void)
{
	bool stuck = mts_freezer_all() && is_rotor_stuck();
	u32 n;

	/* A call that the budget has refused may be granted now. */
	if (mts_watched_are_any()) {
		mts_watched_look();
		mts_wake_watchdog(MTS_WATCHDOG_EV_WANTED);
	}
	if (take(MTS_WATCHDOG_EV_WANTED) && !mts_thaw_wanted()) {
		/* Another thread holds a job's lock for a moment, or is stuck: try again. */
		mts_wake_watchdog(MTS_WATCHDOG_EV_WANTED);
		schedule_timeout_idle(1);
	}
	if (take(MTS_WATCHDOG_EV_OOM))
		mts_thaw_and_stop(MTS_REASON_OOM, "the kernel was out of memory");
	else if (mts_gate_reason())
		/* Jobs that could not be thawed when the gate closed: try again. */
		mts_thaw_overdue(0, 0);
	else if (stuck)
		mts_thaw_and_stop(MTS_REASON_STALL, "the rotor is stuck while %s",
				  mts_promise_doing());

	n = mts_thaw_overdue(atomic64_read(&limit), LOOK_NS);
	if (n && !READ_ONCE(limit_is_reached))
		pr_warn_ratelimited("%u jobs thawed out of turn: frozen for nearly too long\n", n);
}

/* A frozen job may reach its limit, and the call of a running job may end. */
static bool has_to_look(void)
{
	return mts_freezer_all() || (mts_freezer_has_turns() && mts_watched_are_any());
}

static int watchdog_thread(void *unused)
{
	sched_set_fifo(current);
	/* The watchdog must not wait for reclaim: to thaw jobs is what relieves the host. */
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
 * Called before the OOM killer chooses a victim. A notifier must not wait for memory, so the
 * watchdog does the work. While no job is frozen, mts is not the cause. Jobs in the queue have no
 * memory: to start them would make it worse.
 */
static int on_oom(struct notifier_block *nb, unsigned long unused, void *freed)
{
	if (mts_freezer_count())
		mts_wake_watchdog(MTS_WATCHDOG_EV_OOM);
	return NOTIFY_OK;
}

static struct notifier_block oom_notifier = { .notifier_call = on_oom };

/* The rotor may be in the middle of an eviction, and no thread may swap during a suspend. */
static int park_rotor(void)
{
	unsigned long until = jiffies + msecs_to_jiffies(PARK_LIMIT_MS);

	while (!smp_load_acquire(&parked)) { /* pairs with mts_failsafe_set_parked() */
		if (time_after(jiffies, until)) {
			pr_warn("suspend refused: the rotor is busy\n");
			/*
			 * PM_POST_SUSPEND goes only to notifiers that agreed: open the gate here.
			 */
			mts_gate_open(MTS_REASON_SUSPEND);
			/* The rotor has not seen that all jobs were thawed: start a new round. */
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
		mts_thaw_and_stop(MTS_REASON_SUSPEND, "the host suspends");
		return park_rotor();
	case PM_POST_SUSPEND:
	case PM_POST_HIBERNATION:
	case PM_POST_RESTORE:
		mts_gate_open(MTS_REASON_SUSPEND);
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
	get_task_struct(watchdog); /* kthread_stop() is safe even if an oops has ended the thread */
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

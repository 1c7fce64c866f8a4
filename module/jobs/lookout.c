// SPDX-License-Identifier: GPL-2.0
#include "jobs/lookout.h"

#include "context.h"
#include "jobs/freezer.h"
#include "mts.h"
#include "jobs/waits.h"
#include "events/wake.h"

/*
 * The pause between two looks: half of the 100 ms within which a job with a call is thawed. A look
 * takes 0.1 ms for 60 tasks and 5 ms for 10000. The pause is LOOK_PART times as long as the look,
 * so that looks take 2 % of a processor. It is no longer than LONGEST_NS, or calls would be seen
 * too late; so a look of 5 ms takes 5 %.
 */
#define PERIOD_NS (50 * (u64)NSEC_PER_MSEC)
#define LONGEST_NS (100 * (u64)NSEC_PER_MSEC)
#define LOOK_PART 50

static struct task_struct *lookout;

/* Return: how long it took, ns. */
static u64 look(void)
{
	u64 began = ktime_get_ns();

	mts_waits_look_outside();
	return ktime_get_ns() - began;
}

/* While the rotor rotates also without a frozen job: a look may extend the call for one. */
static bool has_to_look(void)
{
	return mts_freezer_count() || mts_freezer_has_turns();
}

static int lookout_thread(void *unused)
{
	/* The rotor waits for look_lock while this thread looks. */
	set_user_nice(current, MIN_NICE);

	while (!kthread_should_stop()) {
		u64 pause;

		wait_event_idle(mts_wait_of[MTS_THREAD_LOOKOUT],
				has_to_look() || kthread_should_stop());
		pause = clamp(LOOK_PART * look(), PERIOD_NS, LONGEST_NS);
		wait_event_idle_timeout(mts_wait_of[MTS_THREAD_LOOKOUT], kthread_should_stop(),
					nsecs_to_jiffies(pause));
	}
	return 0;
}

int mts_lookout_init(void)
{
	lookout = kthread_create(lookout_thread, NULL, "mts_lookout");
	if (IS_ERR(lookout))
		return PTR_ERR(lookout);
	get_task_struct(lookout); /* kthread_stop() is safe even if an oops has ended the thread */
	wake_up_process(lookout);
	return 0;
}

void mts_lookout_exit(void)
{
	kthread_stop(lookout);
	put_task_struct(lookout);
}

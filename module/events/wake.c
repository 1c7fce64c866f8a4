// SPDX-License-Identifier: GPL-2.0
#include "events/wake.h"

#include <linux/bitops.h>
#include <linux/irq_work.h>

wait_queue_head_t mts_wait_of[MTS_THREADS] = {
	[MTS_THREAD_ROTOR] = __WAIT_QUEUE_HEAD_INITIALIZER(mts_wait_of[MTS_THREAD_ROTOR]),
	[MTS_THREAD_WATCHDOG] = __WAIT_QUEUE_HEAD_INITIALIZER(mts_wait_of[MTS_THREAD_WATCHDOG]),
	[MTS_THREAD_LOOKOUT] = __WAIT_QUEUE_HEAD_INITIALIZER(mts_wait_of[MTS_THREAD_LOOKOUT]),
};

static unsigned long wanted; /* bits: enum mts_thread */

static void wake_them(struct irq_work *unused)
{
	enum mts_thread thread;

	for (thread = 0; thread < MTS_THREADS; thread++)
		if (test_and_clear_bit(thread, &wanted))
			wake_up(&mts_wait_of[thread]);
}

static DEFINE_IRQ_WORK(wake_work, wake_them);

void mts_wake(enum mts_thread thread)
{
	set_bit(thread, &wanted);
	irq_work_queue(&wake_work);
}

void mts_wake_exit(void)
{
	irq_work_sync(&wake_work);
}

// SPDX-License-Identifier: GPL-2.0
#include "events/wake.h"

#include "context.h"

wait_queue_head_t mts_wait_of[MTS_THREADS] = {
	[MTS_THREAD_ROTOR] = __WAIT_QUEUE_HEAD_INITIALIZER(mts_wait_of[MTS_THREAD_ROTOR]),
	[MTS_THREAD_WATCHDOG] = __WAIT_QUEUE_HEAD_INITIALIZER(mts_wait_of[MTS_THREAD_WATCHDOG]),
	[MTS_THREAD_LOOKOUT] = __WAIT_QUEUE_HEAD_INITIALIZER(mts_wait_of[MTS_THREAD_LOOKOUT]),
};

static unsigned long events[MTS_THREADS];
static unsigned long wanted; /* threads to wake; bits: enum mts_thread */

static void wake_threads(struct irq_work *unused)
{
	enum mts_thread thread;

	for (thread = 0; thread < MTS_THREADS; thread++)
		if (test_and_clear_bit(thread, &wanted))
			wake_up(&mts_wait_of[thread]);
}

static DEFINE_IRQ_WORK(wake_work, wake_threads);

void mts_wake(enum mts_thread thread, unsigned int event)
{
	set_bit(event, &events[thread]);
	set_bit(thread, &wanted);
	irq_work_queue(&wake_work);
}

unsigned long mts_wake_events(enum mts_thread thread, unsigned long mask)
{
	return READ_ONCE(events[thread]) & mask;
}

unsigned long mts_wake_take(enum mts_thread thread, unsigned long mask)
{
	unsigned long seen = 0, taken = mts_wake_events(thread, mask);
	unsigned int bit;

	for_each_set_bit(bit, &taken, BITS_PER_LONG)
		if (test_and_clear_bit(bit, &events[thread]))
			seen |= BIT(bit);
	return seen;
}

void mts_wake_exit(void)
{
	irq_work_sync(&wake_work);
}

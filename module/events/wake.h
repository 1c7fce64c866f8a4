/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Waking the module's threads from any context. wake_up() takes the lock of a wait queue, which
 * sleeps on PREEMPT_RT, and which a task that a hook interrupts may hold. So hooks queue an
 * irq_work that does it: in a hard interrupt, or on PREEMPT_RT in a thread of the kernel's.
 */
#ifndef _MTS_WAKE_H
#define _MTS_WAKE_H

#include <linux/wait.h>

enum mts_thread {
	MTS_THREAD_ROTOR,
	MTS_THREAD_WATCHDOG,
	MTS_THREAD_LOOKOUT,
	MTS_THREADS,
};

/* What each of them waits on, for wait_event(). */
extern wait_queue_head_t mts_wait_of[MTS_THREADS];

/* Any context, a breakpoint or an NMI included. What the thread looks at is set before. */
void mts_wake(enum mts_thread thread);

/* Before the module goes, when nothing calls mts_wake() any more. */
void mts_wake_exit(void);

#endif /* _MTS_WAKE_H */

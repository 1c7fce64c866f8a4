/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Waking the module's threads from any context, and telling them why. wake_up() takes the lock of
 * a wait queue, which sleeps on PREEMPT_RT, and which a task that a hook interrupts may hold. So
 * hooks queue an irq_work that does it: in a hard interrupt, or on PREEMPT_RT in a thread of the
 * kernel's.
 */
#ifndef _MTS_WAKE_H
#define _MTS_WAKE_H

#include "context.h"

enum mts_thread {
	MTS_THREAD_ROTOR,
	MTS_THREAD_WATCHDOG,
	MTS_THREAD_LOOKOUT,
	MTS_THREADS,
};

/* Bits: why the rotor is woken. */
#define MTS_ROTOR_EV_JOBS 0 /* a job came or went */
#define MTS_ROTOR_EV_CONFIG 1 /* the configuration changed */
#define MTS_ROTOR_EV_RECLAIM 2 /* the host reclaims memory */
#define MTS_ROTOR_EV_FROZEN 3 /* a cgroup has frozen or thawed, or need not freeze any more */
#define MTS_ROTOR_EV_GATE 4 /* the gate was closed or opened */
#define MTS_ROTOR_EV_MEASURE 5 /* somebody reads the status */
#define MTS_ROTOR_EV_WANTED 6 /* a job has been thawed as it is wanted */

/* The watchdog. */
#define MTS_WATCHDOG_EV_LOOK 0 /* something has been frozen: begin to look */
#define MTS_WATCHDOG_EV_WANTED 1 /* a job that may be frozen is to run, or may (calls.h) */
#define MTS_WATCHDOG_EV_OOM 2 /* the kernel is out of memory */

/* The lookout. */
#define MTS_LOOKOUT_EV_LOOK 0 /* the same as the watchdog's */

/* What each of them waits on, for wait_event(). */
extern wait_queue_head_t mts_wait_of[MTS_THREADS];

/* Any context, a breakpoint or an NMI included. What the thread looks at is set before. */
void mts_wake(enum mts_thread thread, unsigned int event);

static inline void mts_wake_rotor(unsigned int event)
{
	mts_wake(MTS_THREAD_ROTOR, event);
}

static inline void mts_wake_watchdog(unsigned int event)
{
	mts_wake(MTS_THREAD_WATCHDOG, event);
}

/* The events of @mask that have come and have not been taken. Any context. */
unsigned long mts_wake_events(enum mts_thread thread, unsigned long mask);

/* The same, and takes them. A full barrier for each: what was set before the event is seen. */
unsigned long mts_wake_take(enum mts_thread thread, unsigned long mask);

/* Before the module goes, when nothing calls mts_wake() any more. */
void mts_wake_exit(void);

#endif /* _MTS_WAKE_H */

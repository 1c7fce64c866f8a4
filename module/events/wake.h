/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Wakes the module's threads from any context, and tells them why. wake_up() takes the lock of a
 * wait queue. That lock sleeps on PREEMPT_RT, and a task that a hook interrupts may hold it. So a
 * hook only queues an irq_work, which wakes the thread: from a hard interrupt, or on PREEMPT_RT
 * from a kernel thread.
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

/* Bits: reasons to wake the rotor. */
#define MTS_ROTOR_EV_JOBS 0 /* a job came or went */
#define MTS_ROTOR_EV_CONFIG 1 /* the configuration changed */
#define MTS_ROTOR_EV_RECLAIM 2 /* the host reclaims memory */
#define MTS_ROTOR_EV_FROZEN 3 /* a job's cgroup froze or thawed, or is no longer asked to freeze */
#define MTS_ROTOR_EV_GATE 4 /* the gate closed or opened */
#define MTS_ROTOR_EV_MEASURE 5 /* a process reads the status */
#define MTS_ROTOR_EV_WANTED 6 /* a job was thawed because it is needed */

/* Reasons to wake the watchdog. */
#define MTS_WATCHDOG_EV_LOOK 0 /* a job was frozen: begin the checks */
#define MTS_WATCHDOG_EV_WANTED 1 /* a job that may be frozen must run, or has a call */
#define MTS_WATCHDOG_EV_OOM 2 /* the kernel is out of memory */

/* Reasons to wake the lookout. */
#define MTS_LOOKOUT_EV_LOOK 0 /* as MTS_WATCHDOG_EV_LOOK */

/* The wait queue of each thread, for wait_event(). */
extern wait_queue_head_t mts_wait_of[MTS_THREADS];

/* Any context, including breakpoints and NMIs. Data for the thread must be written before. */
void mts_wake(enum mts_thread thread, unsigned int event);

static inline void mts_wake_rotor(unsigned int event)
{
	mts_wake(MTS_THREAD_ROTOR, event);
}

static inline void mts_wake_watchdog(unsigned int event)
{
	mts_wake(MTS_THREAD_WATCHDOG, event);
}

/* Pending events of @mask. Any context. */
unsigned long mts_wake_events(enum mts_thread thread, unsigned long mask);

/* The same, and clears them. Each is a full barrier: data written before the event is visible. */
unsigned long mts_wake_take(enum mts_thread thread, unsigned long mask);

/* At unload, when no code calls mts_wake() any more. */
void mts_wake_exit(void);

#endif /* _MTS_WAKE_H */

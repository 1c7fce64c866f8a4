/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Hooks: handlers of tracepoints and kprobes, by which mts learns at once what tasks do and when
 * memory is short. All of them run in atomic context, on PREEMPT_RT as well. They are bounded, do
 * not sleep, allocate or free memory, and take raw spin locks only. They record the event and queue
 * an irq_work, which does the rest and wakes the rotor or the watchdog (wake.h).
 */
#ifndef _MTS_HOOKS_H
#define _MTS_HOOKS_H

#include "mts.h"

/* Install all hooks. Fails, and installs none, if a required one fails. Logs the error. */
int mts_hooks_init(void);

/* Remove all hooks. When it returns, no handler runs and no work of one is pending. */
void mts_hooks_exit(void);

/* enum mts_each_how: how a child of an EACH job gets its job. */
u32 mts_hooks_each_how(void);

/* Does the kernel say that a process grows? MTS_JOB_EACH_LEAF needs it. */
bool mts_hooks_see_growth(void);

/* Jobs with MTS_JOB_EACH_LEAF may have come: install the hook on growing processes. May sleep. */
void mts_hooks_watch_growth(void);

/*
 * A policy needs the waits for swap of each job (mts_swap_waits), or does not any more. Sleeps: not
 * in the rotor's thread.
 */
void mts_hooks_watch_swapins(bool wanted);

/* MTS_SEES_*: the events that the optional hooks report in this kernel. */
u32 mts_hooks_see(void);

/* Calls of kprobe handlers since load. */
u64 mts_hooks_hits(void);

/* Events that kprobes missed (nmissed): one was hit while the handler of another ran. */
u64 mts_hooks_misses(void);

/* When the host last reclaimed memory on its own account; ktime, ns; 0: not since load. */
u64 mts_hooks_last_reclaim(void);

#endif /* _MTS_HOOKS_H */

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Hooks: what the kernel tells us about tasks and memory as it happens. All
 * handlers run in atomic context, on PREEMPT_RT as well: bounded, no sleep, no
 * allocation and no freeing, no lock but raw spin locks. They record, and queue an
 * irq_work, which does the rest and wakes the rotor or the watchdog (wake.h).
 */
#ifndef _MTS_HOOKS_H
#define _MTS_HOOKS_H

#include "mts.h"

/* Install all hooks, or none; optional ones where they can be. An error has been logged. */
int mts_hooks_init(void);

/* Remove them; when it returns no handler runs and none is pending. */
void mts_hooks_exit(void);

/* enum mts_each_how: how well children of an EACH job are caught. */
u32 mts_hooks_each_how(void);

/* MTS_SEES_*: what the optional hooks give in this kernel. */
u32 mts_hooks_see(void);

/* Events that kprobes have told of since load. */
u64 mts_hooks_hits(void);

/* Events that kprobes have missed, because one came while another was handled. */
u64 mts_hooks_misses(void);

/* When the host last reclaimed memory on its own account; ktime, ns; 0: not since load. */
u64 mts_hooks_last_reclaim(void);

#endif /* _MTS_HOOKS_H */

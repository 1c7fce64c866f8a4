/* SPDX-License-Identifier: GPL-2.0 */
/* Worker threads that help the rotor's thread to move memory. */
#ifndef _MTS_WORKERS_H
#define _MTS_WORKERS_H

#include "context.h"
#include "policy/window.h"

/*
 * The rotor's thread works alone for this long, ns, to see whether the processor is the bottleneck.
 * A longer time wastes processors, a shorter one says little.
 */
#define MTS_WORKERS_ALONE_NS (50 * (u64)NSEC_PER_MSEC)

/*
 * Return: 0 or -ENOMEM.
 */
int mts_workers_init(void);
void mts_workers_exit(void);

/**
 * mts_workers_run() - run a function in several threads
 * @fn: takes shares of the work until none is left; may sleep
 * @data: for @fn
 * @wanted: upper limit of threads, including this one; 1: this thread alone
 *
 * Uses at most one thread per processor, and as many as the module parameter `threads` allows. The
 * rotor's thread starts alone, and does all of the work if no worker gets to run. Returns when
 * every thread has returned. Context: the rotor's thread.
 */
void mts_workers_run(void (*fn)(void *data), void *data, u32 wanted);

/*
 * Called by @fn now and then: starts the workers if the processor, not the disk, turns out to be
 * the bottleneck. Cheap. Any of the threads may call it.
 */
void mts_workers_call(void);

/*
 * Processor time of all threads that switch, so far, ns, plus the time that the calling thread has
 * waited for a processor. Only differences between two calls of one thread mean something. Other
 * threads may run first.
 */
u64 mts_workers_busy(void);

/* Part of that: the calling thread has waited for a processor. 0 where that is not counted. */
u64 mts_workers_delayed(void);

#endif /* _MTS_WORKERS_H */

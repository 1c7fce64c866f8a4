/* SPDX-License-Identifier: GPL-2.0 */
/* More threads for what the rotor's has too much of: moving memory. */
#ifndef _MTS_WORKERS_H
#define _MTS_WORKERS_H

#include "context.h"

/* 0 or -ENOMEM. */
int mts_workers_init(void);
void mts_workers_exit(void);

/**
 * mts_workers_run() - do something with several threads
 * @work: takes its share of it until nothing is left; may sleep
 * @data: for @work
 * @wanted: threads at most, this one too; 1: it alone
 *
 * As many as there are processors, and as the parameter `threads` of the module allows. Only for
 * the rotor's thread, which begins alone, and does all of it if nobody else is to be had: others
 * may come late, or never. Returns when the last one has returned.
 */
void mts_workers_run(void (*work)(void *data), void *data, u32 wanted);

/*
 * For @work, now and then: call the others if by now it is clear that it is the processor that
 * takes the time, not the disk. Any of the threads may ask. Cheap.
 */
void mts_workers_call(void);

/*
 * What all threads that switch have had of a processor until now, in ns, and how long the
 * rotor's, which has to ask, has waited for one.
 */
u64 mts_workers_busy(void);

#endif /* _MTS_WORKERS_H */

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The queue: jobs that are held before their first instruction (mts_freezer_hold()). They are not
 * in the roster, so that no other part of the rotor sees them. policy/queue.h says which start.
 */
#ifndef _MTS_ROTOR_QUEUE_H
#define _MTS_ROTOR_QUEUE_H

#include "context.h"

/* After a plan: start the jobs that fit, and foretell when the others start. Takes mts_lock. */
void mts_queue_step(void);

/* Do jobs wait? Then the idle rotor has to measure those that have begun. */
bool mts_queue_waits(void);

/* At load: memory. Return: false: there is none. */
bool mts_queue_init(void);
void mts_queue_exit(void);

#endif /* _MTS_ROTOR_QUEUE_H */

/* SPDX-License-Identifier: GPL-2.0 */
/* A switch in which the bins pass each other. */
#ifndef _MTS_ROTOR_OVERLAP_H
#define _MTS_ROTOR_OVERLAP_H

#include "context.h"
#include "events/words.h"

/*
 * Is the switch to bin @to to be overlapped? Only where switches wait for the disk, all of a frozen
 * job is evicted, and the bin's jobs have run before, so that their demand is known.
 */
bool mts_overlap_is_for(u32 to);

/* The switch, done so. -ECANCELED: the gate closed. */
int mts_overlap_switch(struct mts_switch_parts *parts);

/*
 * A spill: the running bin is about to use up the memory. Freeze all jobs and evict some of what
 * waits. If that is not enough, move a job of the bin itself to the bin before it, and evict that
 * job. 0 or -ECANCELED.
 */
int mts_overlap_spill(void);

#endif /* _MTS_ROTOR_OVERLAP_H */

/* SPDX-License-Identifier: GPL-2.0 */
/* A switch in which the bins pass each other. */
#ifndef _MTS_ROTOR_OVERLAP_H
#define _MTS_ROTOR_OVERLAP_H

#include "context.h"
#include "events/words.h"

/*
 * May bin @to come while the one before it goes? Where switches wait for the disk, all that is
 * frozen is evicted, and the bin's jobs have run before, so that what they need is known.
 */
bool mts_overlap_is_for(u32 to);

/* The switch, done so. -ECANCELED: the gate closed. */
int mts_overlap_switch(u32 to, struct mts_switch_parts *parts);

/*
 * The running bin takes what is left: while all stand still some of what is frozen goes. If
 * there is no more of that one of the bin's own jobs goes, which runs with the bin before it
 * from now on. 0 or -ECANCELED.
 */
int mts_overlap_spill(void);

#endif /* _MTS_ROTOR_OVERLAP_H */

/* SPDX-License-Identifier: GPL-2.0 */
/* Whose turn it is: which bins run after the next switch. In the rotor's thread. */
#ifndef _MTS_ROTOR_TURN_H
#define _MTS_ROTOR_TURN_H

#include "rotor/state.h"

/* A round begins. */
void mts_turn_begin_round(void);

/*
 * The next turn of the round. Marks the bins that are to run after the next switch
 * (mts_plan_bin.next). Return: the bin that comes in first, or MTS_BIN_NONE: the round is over.
 */
u32 mts_turn_next(void);

/* A group was added to a round of overlapping bins. Under mts_lock. */
void mts_turn_add_group(u32 bin);

/* What the job is entitled to from now on (entitled.h): its service stays. Under mts_lock. */
void mts_turn_entitle(struct mts_job *job, u32 entitled);

/* A plan was made; there were @before bins. Jobs begin, or cease, to take turns. Under mts_lock. */
void mts_turn_note_plan(u32 before);

/*
 * Place of a job in the order of eviction: those that run again last go first. Less than the number
 * of bins.
 */
u32 mts_turn_rank(const struct mts_job *job);

#endif /* _MTS_ROTOR_TURN_H */

/* SPDX-License-Identifier: GPL-2.0 */
/* A round's plan: which bins the jobs make, and how long each runs. */
#ifndef _MTS_ROTOR_PLAN_H
#define _MTS_ROTOR_PLAN_H

#include "context.h"

/**
 * mts_rotor_plan_round() - pack what was measured into bins
 * @looked: as mts_admit_look() returned
 *
 * Return: the number of bins; below 2 there is nothing to rotate, and the
 * reason is in mts_rotor.phase.reason. Takes mts_lock.
 */
u32 mts_rotor_plan_round(bool looked);

/*
 * Plan the slices anew, if the cost of a switch was not known when the round was planned. Return:
 * that was so. Takes mts_lock.
 */
bool mts_rotor_plan_slices(void);

/*
 * A job that has come is exempt for its own pause limit: take so many bytes of the room for such
 * jobs. Return: was there so much? Under mts_lock.
 */
bool mts_rotor_plan_take_room(u64 bytes);

/*
 * Pauses are long, and a job has become attended since they were planned: would it be frozen for
 * too long? Looks at the jobs' files; takes mts_lock.
 */
bool mts_rotor_plan_breaks_limit(void);

/* While no turns are taken: what was seen of the jobs' use in the last ones may be out of date. */
void mts_rotor_forget_use(void);

#endif /* _MTS_ROTOR_PLAN_H */

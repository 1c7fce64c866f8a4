/* SPDX-License-Identifier: GPL-2.0 */
/* Jobs that come, or become resident, while a round runs. */
#ifndef _MTS_ROTOR_NEWCOMERS_H
#define _MTS_ROTOR_NEWCOMERS_H

#include "context.h"

/* Give jobs that have no bin one of this round's. Takes mts_lock. */
void mts_newcomers_place(void);

/*
 * Jobs that have become interactive or real-time are in every bin from now on. Takes mts_lock.
 * Return: does the running bin still fit beside them?
 */
bool mts_newcomers_take_in(void);

#endif /* _MTS_ROTOR_NEWCOMERS_H */

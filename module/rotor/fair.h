/* SPDX-License-Identifier: GPL-2.0 */
/* MTS_POLICY_FAIR: jobs that wait for swap for longer than their share are delayed. */
#ifndef _MTS_ROTOR_FAIR_H
#define _MTS_ROTOR_FAIR_H

#include "context.h"

/* Freeze those that policy/fair.h chooses, or thaw them. Return: ns until the next call. */
u64 mts_fair_step_all(u64 now);

/* Thaw those that are delayed now. */
void mts_fair_rest(void);

/* The policy acts no more: thaw them, and forget the accounts. */
void mts_fair_end(void);

#endif /* _MTS_ROTOR_FAIR_H */

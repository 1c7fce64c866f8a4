/* SPDX-License-Identifier: GPL-2.0 */
/* No turns are taken: what the rotor looks at, and how often. */
#ifndef _MTS_ROTOR_IDLE_H
#define _MTS_ROTOR_IDLE_H

#include "context.h"

/* Measure, unless what is known will do for @reason. */
void mts_idle_measure(u32 reason);

/*
 * Nothing to rotate, or nothing any more: everything runs. Until there may be. @measuring_ns:
 * what the last look took, as of spent.h. Return: are the jobs about to have all memory?
 */
bool mts_idle(u64 measuring_ns);

/* The gate is closed: until it opens. */
void mts_idle_wait_for_gate(u32 reason);

#endif /* _MTS_ROTOR_IDLE_H */

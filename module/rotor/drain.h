/* SPDX-License-Identifier: GPL-2.0 */
/* Turns are over: what is not in memory comes back before it runs. */
#ifndef _MTS_ROTOR_DRAIN_H
#define _MTS_ROTOR_DRAIN_H

#include "context.h"

/*
 * Turns are over: what is not in memory comes back, before it runs. Takes a second, or as long
 * as the job takes that is being read then. Return: others wait: plan anew, and call it again.
 */
bool mts_drain(void);

#endif /* _MTS_ROTOR_DRAIN_H */

/* SPDX-License-Identifier: GPL-2.0 */
/* Jobs that reclaim for the limits of cgroups, not for the host (policy/confined.h). */
#ifndef _MTS_ROTOR_CONFINED_H
#define _MTS_ROTOR_CONFINED_H

#include "context.h"

/* All jobs are measured: see which are confined. Under mts_lock. */
void mts_confined_update(void);

/* Bytes by which limits above several jobs cut the sum of the jobs' demands. */
u64 mts_confined_excess(void);

/*
 * Pages that confined jobs have swapped in since the last call: no shortage of the host. Reads
 * memory.stat of each confined job that runs.
 */
u64 mts_confined_swapins(void);

#endif /* _MTS_ROTOR_CONFINED_H */

/* SPDX-License-Identifier: GPL-2.0 */
/* When the host reclaims memory: noted by handlers of tracepoints. */
#ifndef _MTS_PRESSURE_H
#define _MTS_PRESSURE_H

#include <linux/types.h>

/* The host begins to reclaim memory: note the time and wake the rotor. Any context. */
void mts_pressure_note(void);

/* When the host last reclaimed memory on its own account; ktime, ns; 0: not since load. */
u64 mts_pressure_last_reclaim(void);

#endif /* _MTS_PRESSURE_H */

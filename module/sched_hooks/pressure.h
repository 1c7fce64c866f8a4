/* SPDX-License-Identifier: GPL-2.0 */
/* The host reclaims memory: handlers of tracepoints that note when, and wake the rotor. */
#ifndef _MTS_PRESSURE_H
#define _MTS_PRESSURE_H

#include "compat/compat.h"

/* Tracepoint mm_vmscan_kswapd_wake. */
void mts_hook_kswapd_wake(void *data, int nid, int zid, int order);

/* Tracepoint mm_vmscan_direct_reclaim_begin: a task that allocates memory reclaims it itself. */
void mts_hook_direct_reclaim(void *data, MTS_DIRECT_RECLAIM_ARGS);

/* When the host last reclaimed memory on its own account; ktime, ns; 0: not since load. */
u64 mts_pressure_last_reclaim(void);

#endif /* _MTS_PRESSURE_H */

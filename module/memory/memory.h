/* SPDX-License-Identifier: GPL-2.0 */
/* How much memory the host has left. Takes no locks; any context that may read counters. */
#ifndef MTS_MEMORY_H
#define MTS_MEMORY_H

#include "context.h"

/*
 * Bytes on the per-CPU lists of free pages (struct per_cpu_pages). The kernel counts them neither
 * as free nor as available.
 *
 * Up to 6.6 the lists are short. Later kernels keep pages there that are freed in bulk, up to an
 * eighth of the memory (pcp->high_max, mm/page_alloc.c): after an eviction, or when a process
 * exits. The list's own processor allocates from it first. An allocation that finds nothing else
 * drains all lists (__alloc_pages_direct_reclaim()). Reads a cache line for each processor and
 * zone.
 */
u64 mts_memory_listed(void);

/* Free bytes, including the per-CPU lists. */
u64 mts_memory_free(void);

/* Is kswapd asleep on every node, so that enough memory is free? */
bool mts_memory_kswapd_sleeps(void);

/*
 * Available bytes: the kernel's estimate, plus the per-CPU lists, less slab. When memory is short
 * enough for turns, reclaim has already freed what it could get from slab.
 */
u64 mts_memory_available(void);

/* Pages swapped in since boot, from a disk or from zswap. */
u64 mts_memory_swapins(void);

/*
 * Pages freed by the host's own reclaim since boot. Not by mts; since 7.1 also for limits of
 * cgroups.
 */
u64 mts_memory_reclaimed(void);

/* Pages under writeback, of files or of swap. The error is up to 125 pages for each processor. */
u64 mts_memory_written(void);

/* Pages written to swap since boot, including pages that swap refused. */
u64 mts_memory_swapouts(void);

/* Pages stored by zswap since boot; each still takes up to a page. 0: no zswap. */
u64 mts_memory_zswapped(void);

#endif

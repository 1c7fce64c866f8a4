/* SPDX-License-Identifier: GPL-2.0 */
/* How much memory the host has left. Any context that may look at counters; takes no lock. */
#ifndef MTS_MEMORY_H
#define MTS_MEMORY_H

#include "context.h"

/*
 * Bytes on the processors' own lists of free pages (struct per_cpu_pages), which the kernel counts
 * neither as free nor as available. Up to 6.6 they are few. Later kernels let what is freed in bulk
 * stay there, up to an eighth of the memory (pcp->high_max, mm/page_alloc.c): what has just been
 * evicted, or what a process that has ended had. Its own processor takes from them first, and who
 * finds nothing else has all of them emptied (__alloc_pages_direct_reclaim()). Reads a line of
 * memory for each processor and zone.
 */
u64 mts_memory_listed(void);

/* Bytes that are free. */
u64 mts_memory_free(void);

/* Does kswapd of each node rest, as there is enough free? */
bool mts_memory_kswapd_sleeps(void);

/*
 * Bytes that this host has for whoever asks: the kernel's estimate, with those lists and without
 * slab. By the time that memory is short enough for turns reclaim has taken of that what it could
 * get.
 */
u64 mts_memory_available(void);

/* Pages swapped in on this host since boot, from a disk or from zswap. */
u64 mts_memory_swapins(void);

/*
 * Pages that the host's own reclaim has freed since boot; not for us; from 7.1 on for a cgroup's
 * limit, too.
 */
u64 mts_memory_reclaimed(void);

/* Pages on their way to a disk, of files or to swap; off by up to 125 for each processor. */
u64 mts_memory_written(void);

/* Pages given to swap since boot, what it refused included. */
u64 mts_memory_swapouts(void);

/* Pages that zswap has taken since boot; each takes up to a page itself. 0: there is no zswap. */
u64 mts_memory_zswapped(void);

#endif

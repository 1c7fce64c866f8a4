/* SPDX-License-Identifier: GPL-2.0 */
/* How much memory a job needs, and how much there is: bytes. Pure code (pure.h). */
#ifndef _MTS_POLICY_DEMAND_H
#define _MTS_POLICY_DEMAND_H

#include "policy/pure.h"

/**
 * struct mts_usage - what a cgroup's files say, in bytes
 * @current_bytes: memory.current
 * @swap: memory.swap.current
 * @file: memory.stat "file": page cache, shmem included
 * @shmem: memory.stat "shmem"
 * @slab_reclaimable: memory.stat "slab_reclaimable"
 * @swapcached: memory.stat "swapcached": in memory and in swap, so counted
 *	twice by @current_bytes + @swap
 * @zswap: memory.stat "zswap": what zswap has made smaller, a part of
 *	@current_bytes, of pages that are in @swap in full size
 */
struct mts_usage {
	u64 current_bytes;
	u64 swap;
	u64 file;
	u64 shmem;
	u64 slab_reclaimable;
	u64 swapcached;
	u64 zswap;
};

/* What the kernel can drop without writing: clean cache, not the job's need. */
u64 mts_policy_droppable(const struct mts_usage *u);

/* Bytes to run without faulting: in memory or in swap, less the droppable. */
u64 mts_policy_demand(const struct mts_usage *u);

/* Bytes in memory that count towards the demand. */
u64 mts_policy_resident(const struct mts_usage *u);

/**
 * mts_policy_capacity() - automatic capacity for bins and residents together
 * @available: mts_memory_available() now
 * @managed: what all jobs hold in memory now (mts_policy_resident())
 * @total: memory of the host
 *
 * What the jobs could have if nothing else grew, less a reserve of 1/16 of
 * that, at least 1 MiB and at most 1 GiB, for what the rest of the host will
 * allocate before anybody looks again, and for what swapping itself needs:
 * where 3 % were kept free, a bin of 90 of 96 MiB still swapped in its slice.
 */
u64 mts_policy_capacity(u64 available, u64 managed, u64 total);

#endif /* _MTS_POLICY_DEMAND_H */

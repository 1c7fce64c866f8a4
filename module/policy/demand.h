/* SPDX-License-Identifier: GPL-2.0 */
/* How much memory jobs need, and how much the host can give them: bytes. Pure code (pure.h). */
#ifndef _MTS_POLICY_DEMAND_H
#define _MTS_POLICY_DEMAND_H

#include "policy/pure.h"

/**
 * struct mts_usage - memory of a cgroup, bytes
 * @current_bytes: memory.current
 * @swap: memory.swap.current
 * @file: memory.stat "file": page cache, including shmem
 * @shmem: memory.stat "shmem"
 * @slab_reclaimable: memory.stat "slab_reclaimable"
 * @swapcached: memory.stat "swapcached": both in memory and in swap, so that @current_bytes + @swap
 *	counts it twice
 * @zswap: memory.stat "zswap": compressed size, part of @current_bytes; the same pages count in
 *	@swap with their full size
 * @refaults: memory.stat "workingset_refault_anon": pages swapped in since the cgroup was made, not
 *	bytes; it is no part of the demand. U64_MAX: not known
 * @major_faults: memory.stat "pgmajfault": faults that waited for a page, of a file too; no part of
 *	the demand
 *
 * The multi-generational LRU of 6.1 leaves out most refaults, and a major fault may read several
 * pages: the larger figure is nearer.
 */
struct mts_usage {
	u64 current_bytes;
	u64 swap;
	u64 file;
	u64 shmem;
	u64 slab_reclaimable;
	u64 swapcached;
	u64 zswap;
	u64 refaults;
	u64 major_faults;
};

/* What the kernel can drop without writing: page cache and slab. It is no part of the demand. */
u64 mts_policy_droppable(const struct mts_usage *u);

/* Bytes that the job needs to run without faults: in memory or in swap, without the droppable. */
u64 mts_policy_demand(const struct mts_usage *u);

/* Resident set size: bytes in memory that count towards the demand. */
u64 mts_policy_resident(const struct mts_usage *u);

/**
 * mts_policy_capacity() - automatic capacity for a bin and the exempt jobs together
 * @available: mts_memory_available() now
 * @managed: resident set size of all jobs now (mts_policy_resident())
 * @total: memory of the host
 *
 * The memory that jobs could have if nothing else grew, less a reserve: 1/16, at least 1 MiB, at
 * most 1 GiB. The reserve covers allocations by the rest of the host until the next measurement,
 * and what swapping itself needs. A reserve of 3 % is too small: full bins then swap in their
 * slice.
 */
u64 mts_policy_capacity(u64 available, u64 managed, u64 total);

#endif /* _MTS_POLICY_DEMAND_H */

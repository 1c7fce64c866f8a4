/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Limits of cgroups (memory.high, memory.max, memory.swap.max): bytes. Pure code (pure.h).
 *
 * A cgroup holds at most its limit, whatever the jobs in it need. So the demand of a job is cut to
 * the tightest limit of its cgroup and of those above it. Where a limit is above several jobs, the
 * sum of their demands is cut. A job that loses demand by this, or whose cgroup has reached a
 * limit, is confined: it reclaims for the limit, and what it waits for says nothing about the host.
 */
#ifndef _MTS_POLICY_CONFINED_H
#define _MTS_POLICY_CONFINED_H

#include "policy/pure.h"

/*
 * Limited cgroups above a job whose sums are cut, nearest first. Deeper nesting of limits is rare.
 * The limits of the others still cut the job's own demand.
 */
#define MTS_LIMITS_ABOVE 4u
/* Limited cgroups above all jobs whose sums are cut; those beyond cut each job's own demand. */
#define MTS_LIMITS_SHARED 64u

/**
 * struct mts_limit - a cgroup above jobs that has a limit
 * @id: of the cgroup
 * @depth: of the cgroup: larger than those of the cgroups above it
 * @bytes: the smaller of memory.high and memory.max
 */
struct mts_limit {
	u64 id;
	u32 depth;
	u64 bytes;
};

/**
 * struct mts_mem_limits - what limits allow a job
 * @most: the least of all memory.high and memory.max, of the job's cgroup and of those above it;
 *	U64_MAX: no limit
 * @room: bytes until the first of these limits is reached; U64_MAX: no limit
 * @reached: one of these cgroups has what its limit allows
 * @swap: what the job can have in swap at most, with what it has there; U64_MAX: no limit
 * @n: number of limits in @above
 * @above: limited cgroups above the job's, the nearest first
 */
struct mts_mem_limits {
	u64 most;
	u64 room;
	bool reached;
	u64 swap;
	u32 n;
	struct mts_limit above[MTS_LIMITS_ABOVE];
};

/**
 * struct mts_shared_limit - a limit above several jobs
 * @sum: what the jobs below it need; first of those for which this limit is the nearest
 * @parent: index of the nearest limit above it; MTS_LIMITS_SHARED: none
 * @cuts: it is smaller than @sum
 */
struct mts_shared_limit {
	struct mts_limit limit;
	u64 sum;
	u32 parent;
	bool cuts;
};

/* The limits above all jobs; zero: none. */
struct mts_shared_limits {
	struct mts_shared_limit limits[MTS_LIMITS_SHARED];
	u32 n;
};

/*
 * Add a job's demand. Return: the index of the nearest limit above it, for mts_shared_cuts();
 * MTS_LIMITS_SHARED: none.
 */
u32 mts_shared_add(struct mts_shared_limits *shared, const struct mts_mem_limits *limits,
		   u64 demand);

/* All jobs are added. Return: bytes by which limits cut the sum of the jobs' demands. */
u64 mts_shared_settle(struct mts_shared_limits *shared);

/* After mts_shared_settle(): does this limit, or one above it, cut the demands of its jobs? */
bool mts_shared_cuts(const struct mts_shared_limits *shared, u32 index);

/*
 * Does a cgroup with @used bytes have what its limit allows, to an eighth? Then the host cannot
 * give it more. Its page cache counts as well: what it reclaims, it reclaims for the limit.
 */
bool mts_limit_is_reached(u64 used, u64 limit);

/* The part of a job's demand that limits of swap keep in memory while the job is frozen. */
u64 mts_policy_immovable(u64 demand, const struct mts_mem_limits *limits);

/*
 * Would a freeze free next to nothing, less than an eighth of the demand, because of limits of
 * swap?
 */
bool mts_policy_has_no_swap(u64 demand, const struct mts_mem_limits *limits);

#endif /* _MTS_POLICY_CONFINED_H */

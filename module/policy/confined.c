// SPDX-License-Identifier: GPL-2.0
/* What limits of cgroups leave of the jobs' demands. */
#include "policy/confined.h"

/* The kernel reclaims in batches below memory.high: 1/8 less counts as reached. */
#define REACHED_SHIFT 3
/* A job that can give up less than 1/8 of its demand is not worth a freeze. */
#define WORTH_SHIFT 3

/* Return: the index of this limit; MTS_LIMITS_SHARED: it is new, and the table is full. */
static u32 find(struct mts_shared_limits *shared, const struct mts_limit *limit)
{
	u32 i;

	for (i = 0; i < shared->n; i++)
		if (shared->limits[i].limit.id == limit->id)
			return i;
	if (shared->n == MTS_LIMITS_SHARED)
		return MTS_LIMITS_SHARED;
	shared->limits[shared->n] = (struct mts_shared_limit){
		.limit = *limit,
		.parent = MTS_LIMITS_SHARED,
	};
	return shared->n++;
}

u32 mts_shared_add(struct mts_shared_limits *shared, const struct mts_mem_limits *limits,
		   u64 demand)
{
	u32 i, at, above = MTS_LIMITS_SHARED;

	/* From the top down, so that each knows the one above it. */
	for (i = limits->n; i--;) {
		at = find(shared, &limits->above[i]);
		if (at == MTS_LIMITS_SHARED)
			continue;
		shared->limits[at].parent = above;
		above = at;
	}
	if (above < MTS_LIMITS_SHARED)
		shared->limits[above].sum = mts_add_sat(shared->limits[above].sum, demand);
	return above;
}

static u32 deepest(const struct mts_shared_limits *shared)
{
	u32 i, depth = 0;

	for (i = 0; i < shared->n; i++)
		depth = mts_max(depth, shared->limits[i].limit.depth);
	return depth;
}

/* Hand the sum of a limit on to the limit above it. Return: bytes cut off. */
static u64 cut(struct mts_shared_limits *shared, struct mts_shared_limit *limit)
{
	u64 left = mts_min(limit->sum, limit->limit.bytes);
	struct mts_shared_limit *parent;

	limit->cuts = limit->sum > left;
	if (limit->parent < MTS_LIMITS_SHARED) {
		parent = &shared->limits[limit->parent];
		parent->sum = mts_add_sat(parent->sum, left);
	}
	return limit->sum - left;
}

u64 mts_shared_settle(struct mts_shared_limits *shared)
{
	u32 i, depth = deepest(shared) + 1;
	u64 excess = 0;

	/* The deepest first: a limit's sum is complete when those below it are cut. */
	while (depth--)
		for (i = 0; i < shared->n; i++)
			if (shared->limits[i].limit.depth == depth)
				excess = mts_add_sat(excess, cut(shared, &shared->limits[i]));
	return excess;
}

bool mts_shared_cuts(const struct mts_shared_limits *shared, u32 index)
{
	for (; index < MTS_LIMITS_SHARED; index = shared->limits[index].parent)
		if (shared->limits[index].cuts)
			return true;
	return false;
}

bool mts_limit_is_reached(u64 used, u64 limit)
{
	return limit != U64_MAX && used >= limit - (limit >> REACHED_SHIFT);
}

u64 mts_policy_immovable(u64 demand, const struct mts_mem_limits *limits)
{
	return mts_sub_floor(demand, limits->swap);
}

bool mts_policy_has_no_swap(u64 demand, const struct mts_mem_limits *limits)
{
	return limits->swap <= demand >> WORTH_SHIFT;
}

// SPDX-License-Identifier: GPL-2.0
/*
 * memory/limits.h in user space: from the files of cgroup v2. A cgroup without the memory
 * controller has none of its own, but those above it may. Limits of v1 beside it are not read.
 */
#include "memory/limits.h"

#include "engine/cgroup.h"
#include "job.h"
#include "memory/cgroupfs.h"

/* A file that is not there, as in a cgroup that is gone: @without. */
static u64 value_of(struct cgroup *cgrp, const char *file, u64 without)
{
	u64 value;

	return mts_cgroupfs_read_u64(&(struct path){ cgrp }, file, &value) ? without : value;
}

static u64 limit_of(struct cgroup *cgrp, const char *file)
{
	return value_of(cgrp, file, U64_MAX);
}

static u64 used_of(struct cgroup *cgrp, const char *file)
{
	return value_of(cgrp, file, 0);
}

static u32 depth_of(const struct cgroup *cgrp)
{
	u32 depth = 0;

	while ((cgrp = cgrp->parent))
		depth++;
	return depth;
}

static void cut_by_memory(struct mts_mem_limits *limits, struct cgroup *cgrp, bool above)
{
	u64 most = min(limit_of(cgrp, "memory.high"), limit_of(cgrp, "memory.max"));
	u64 used;

	if (most == U64_MAX)
		return;
	used = used_of(cgrp, "memory.current");
	limits->most = min(limits->most, most);
	limits->room = min(limits->room, mts_sub_floor(most, used));
	limits->reached |= mts_limit_is_reached(used, most);
	if (above && limits->n < MTS_LIMITS_ABOVE)
		limits->above[limits->n++] = (struct mts_limit){
			.id = cgrp->id,
			.depth = depth_of(cgrp),
			.bytes = most,
		};
}

static void cut_by_swap(struct mts_mem_limits *limits, struct cgroup *cgrp, u64 own)
{
	u64 most = limit_of(cgrp, "memory.swap.max");

	if (most != U64_MAX)
		limits->swap = min(limits->swap,
				   mts_sub_floor(most, used_of(cgrp, "memory.swap.current")) + own);
}

void mts_limits_read(struct mts_job *job, struct mts_mem_limits *limits)
{
	struct cgroup *cgrp = job->cgrp;
	u64 swapped;

	*limits = (struct mts_mem_limits){ .most = U64_MAX, .room = U64_MAX, .swap = U64_MAX };
	swapped = used_of(cgrp, "memory.swap.current");
	/* The root cgroup has no limits. */
	for (; cgrp->parent; cgrp = cgrp->parent) {
		cut_by_memory(limits, cgrp, cgrp != job->cgrp);
		cut_by_swap(limits, cgrp, swapped);
	}
}

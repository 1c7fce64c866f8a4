// SPDX-License-Identifier: GPL-2.0
/*
 * memory/limits.h in user space. Without the memory controller of cgroup v2 a job has no limits
 * that can be seen: those of cgroup v1 belong to other directories.
 */
#include "memory/limits.h"

#include "engine/cgroup.h"
#include "job.h"
#include "memory/cgroupfs.h"

/* A file that is not there, as in the root cgroup, sets no limit. */
static u64 read_limit(struct cgroup *cgrp, const char *file)
{
	u64 value;

	return mts_cgroupfs_read_u64(&(struct path){ cgrp }, file, &value) ? U64_MAX : value;
}

static u64 read_use(struct cgroup *cgrp, const char *file)
{
	u64 value;

	return mts_cgroupfs_read_u64(&(struct path){ cgrp }, file, &value) ? 0 : value;
}

static u32 depth_of(const struct cgroup *cgrp)
{
	u32 depth = 0;

	for (; cgrp->parent; cgrp = cgrp->parent)
		depth++;
	return depth;
}

static void cut_by_memory(struct mts_mem_limits *limits, struct cgroup *cgrp, bool above)
{
	u64 most = min(read_limit(cgrp, "memory.high"), read_limit(cgrp, "memory.max")), used;

	if (most == U64_MAX)
		return;
	used = read_use(cgrp, "memory.current");
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
	u64 most = read_limit(cgrp, "memory.swap.max");

	if (most != U64_MAX)
		limits->swap =
			min(limits->swap,
			    mts_sub_floor(most, read_use(cgrp, "memory.swap.current")) + own);
}

void mts_limits_read(struct mts_job *job, struct mts_mem_limits *limits)
{
	struct cgroup *cgrp;
	u64 own;

	*limits = (struct mts_mem_limits){ .most = U64_MAX, .room = U64_MAX, .swap = U64_MAX };
	if (!job->cgrp->memory)
		return;
	own = read_use(job->cgrp, "memory.swap.current");
	for (cgrp = job->cgrp; cgrp && cgrp->parent; cgrp = cgrp->parent) {
		cut_by_memory(limits, cgrp, cgrp != job->cgrp);
		cut_by_swap(limits, cgrp, own);
	}
}

int mts_limits_low(struct mts_job *job, u64 *low)
{
	return mts_cgroupfs_read_u64(&job->dir, "memory.low", low);
}

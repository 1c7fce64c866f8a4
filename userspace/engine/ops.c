// SPDX-License-Identifier: GPL-2.0
/* struct mts_ops in user space. */
#define _GNU_SOURCE
#include "jobs/ops.h"

#include <unistd.h>

#include "engine/cgroup.h"
#include "engine/own.h"
#include "jobs/tasks.h"
#include "memory/bring_back.h"
#include "memory/cgroupfs.h"
#include "memory/limits.h"
#include "memory/usage.h"

/* The record comes first: a job that is not in it is not frozen by mts. */
static int op_freeze(struct mts_job *job, bool freeze)
{
	int err = freeze ? mts_guardian_note(job->cgrp, true) : 0;

	if (err)
		return err;
	err = mts_cgroupfs_write_file(job->freeze_file, freeze ? "1" : "0");
	if (err == -ENOENT)
		err = -ENODEV;
	if (freeze ? err : !err || err == -ENODEV)
		mts_guardian_note(job->cgrp, false);
	else if (freeze)
		/* Again: before the write the guardian may have thawed it, and taken it out. */
		mts_guardian_note(job->cgrp, true);
	return err;
}

static bool op_frozen_above(struct mts_job *job)
{
	const struct cgroup *cgrp = job->cgrp->parent;

	for (; cgrp; cgrp = cgrp->parent)
		if (mts_cgroup_freeze_set(cgrp))
			return true;
	return false;
}

static bool op_freeze_set(struct mts_job *job)
{
	return mts_cgroup_freeze_set(job->cgrp);
}

static bool op_freeze_asked(struct mts_job *job)
{
	return op_freeze_set(job) || op_frozen_above(job);
}

static bool op_freeze_is_open(struct mts_job *job)
{
	return false;
}

static bool op_is_frozen(struct mts_job *job)
{
	char buf[128];

	/* A job without tasks counts as frozen; so does one whose cgroup is gone. */
	if (mts_read_open(job->cgrp->events, buf, sizeof(buf)) <= 0)
		return true;
	return mts_keyed_value(buf, "frozen") || !mts_keyed_value(buf, "populated");
}

static int op_awake(struct mts_job *job)
{
	return mts_tasks_awake(job->cgrp);
}

static bool op_stalls(struct mts_job *job)
{
	return mts_tasks_stalls(job->cgrp);
}

/*
 * The kernel tells user space in how much time a task waited for memory, for whatever reason. It
 * does not tell whether one waits now: who has waited since the last step, does.
 */
static void op_swap_waits(struct mts_job *job, struct mts_swap_waits *waits)
{
	*waits = (struct mts_swap_waits){ .waited_ns = mts_tasks_stalled_total(job->cgrp) };
}

/* Which pages a slice used is not known: all memory counts as used. */
static void op_use(struct mts_move *move)
{
}

static void op_use_outdated(struct mts_job *job)
{
}

static struct cgroup *cgroup_above(struct mts_job *job, u32 up)
{
	struct cgroup *cgrp = job->cgrp;

	while (cgrp && up--)
		cgrp = cgrp->parent;
	return cgrp;
}

static u64 op_above(struct mts_job *job, u32 up)
{
	struct cgroup *cgrp = cgroup_above(job, up);

	return cgrp && cgrp->parent ? cgrp->id : 0;
}

static int op_get(struct mts_job *job, u32 up, enum mts_setting setting, u64 *value)
{
	return mts_cgroupfs_read_u64(&(struct path){ cgroup_above(job, up) },
				     mts_setting_files[setting], value);
}

static int op_set(struct mts_job *job, u32 up, enum mts_setting setting, u64 value)
{
	return mts_cgroupfs_write_u64(&(struct path){ cgroup_above(job, up) },
				      mts_setting_files[setting], value);
}

static const struct mts_ops ops = {
	.freeze = op_freeze,
	.freeze_asked = op_freeze_asked,
	.freeze_set = op_freeze_set,
	.frozen_above = op_frozen_above,
	.freeze_is_open = op_freeze_is_open,
	.is_frozen = op_is_frozen,
	.awake = op_awake,
	.stalls = op_stalls,
	.swap_waits = op_swap_waits,
	.usage = mts_usage_measure,
	.resident = mts_usage_resident,
	.limits = mts_limits_read,
	.ran = mts_usage_ran,
	.evict = mts_reclaim,
	.bring_back = mts_bring_back,
	.use_begins = op_use,
	.use_ends = op_use,
	.use_outdated = op_use_outdated,
	.above = op_above,
	.get = op_get,
	.set = op_set,
};

const struct mts_ops *mts_ops = &ops;

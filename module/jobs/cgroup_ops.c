// SPDX-License-Identifier: GPL-2.0
/* struct mts_ops for cgroup v2. */
#include "jobs/ops.h"

#include <linux/fs.h>

#include "jobs/swap_waits.h"
#include "jobs/tasks.h"
#include "memory/bring_back.h"
#include "memory/cgroupfs.h"
#include "memory/limits.h"
#include "memory/touched.h"
#include "memory/usage.h"

/* An open of a file of a removed cgroup fails with -ENOENT, a read or write with -ENODEV. */
static int gone(int err)
{
	return err == -ENOENT ? -ENODEV : err;
}

static int cgroup_ops_freeze(struct mts_job *job, bool freeze)
{
	return gone(mts_cgroupfs_write_file(job->freeze_file, freeze ? "1" : "0"));
}

static bool cgroup_ops_freeze_asked(struct mts_job *job)
{
	return test_bit(CGRP_FREEZE, &job->cgrp->flags);
}

static bool cgroup_ops_freeze_set(struct mts_job *job)
{
	return READ_ONCE(job->cgrp->freezer.freeze);
}

/* The kernel sets CGRP_FREEZE in all cgroups below the frozen one, too. */
static bool cgroup_ops_frozen_above(struct mts_job *job)
{
	return test_bit(CGRP_FREEZE, &cgroup_parent(job->cgrp)->flags);
}

/* All mounts and cgroup namespaces share the inode. One of its writers is job->freeze_file. */
static bool cgroup_ops_freeze_is_open(struct mts_job *job)
{
	return atomic_read(&file_inode(job->freeze_file)->i_writecount) > 1;
}

static bool cgroup_ops_is_frozen(struct mts_job *job)
{
	return test_bit(CGRP_FROZEN, &job->cgrp->flags);
}

static int cgroup_ops_awake(struct mts_job *job)
{
	return mts_tasks_awake(job->cgrp);
}

static bool cgroup_ops_stalls(struct mts_job *job)
{
	return mts_tasks_stalls(job->cgrp);
}

/* Ancestors are there as long as the job has its reference. */
static struct cgroup *cgroup_above(struct mts_job *job, u32 up)
{
	struct cgroup *cgrp = job->cgrp;

	while (cgrp && up--)
		cgrp = cgroup_parent(cgrp);
	return cgrp;
}

static u64 cgroup_ops_above(struct mts_job *job, u32 up)
{
	struct cgroup *cgrp = cgroup_above(job, up);

	return cgrp && cgroup_parent(cgrp) ? cgroup_id(cgrp) : 0;
}

/* The directory @up levels above the job's, with references. */
static struct path dir_above(struct mts_job *job, u32 up)
{
	struct path dir = job->dir;

	path_get(&dir);
	while (up--) {
		struct dentry *parent = dget_parent(dir.dentry);

		dput(dir.dentry);
		dir.dentry = parent;
	}
	return dir;
}

static int cgroup_ops_get(struct mts_job *job, u32 up, enum mts_setting setting, u64 *value)
{
	struct path dir;
	int err;

	/* It is asked for with each update: without the file, which takes time to open. */
	if (setting == MTS_SETTING_LOW)
		return mts_limits_low(cgroup_above(job, up), value);
	dir = dir_above(job, up);
	err = gone(mts_cgroupfs_read_u64(&dir, mts_setting_files[setting], value));
	path_put(&dir);
	return err;
}

static int cgroup_ops_set(struct mts_job *job, u32 up, enum mts_setting setting, u64 value)
{
	struct path dir = dir_above(job, up);
	int err = gone(mts_cgroupfs_write_u64(&dir, mts_setting_files[setting], value));

	path_put(&dir);
	return err;
}

static const struct mts_ops cgroup_ops = {
	.freeze = cgroup_ops_freeze,
	.freeze_asked = cgroup_ops_freeze_asked,
	.freeze_set = cgroup_ops_freeze_set,
	.frozen_above = cgroup_ops_frozen_above,
	.freeze_is_open = cgroup_ops_freeze_is_open,
	.is_frozen = cgroup_ops_is_frozen,
	.awake = cgroup_ops_awake,
	.stalls = cgroup_ops_stalls,
	.swap_waits = mts_swap_waits_read,
	.usage = mts_usage_measure,
	.resident = mts_usage_resident,
	.limits = mts_limits_read,
	.ran = mts_usage_ran,
	.evict = mts_reclaim,
	.bring_back = mts_bring_back,
	.use_begins = mts_touched_begin,
	.use_ends = mts_touched_end,
	.use_outdated = mts_touched_outdated,
	.above = cgroup_ops_above,
	.get = cgroup_ops_get,
	.set = cgroup_ops_set,
};

const struct mts_ops *mts_ops = &cgroup_ops;

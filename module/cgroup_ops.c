// SPDX-License-Identifier: GPL-2.0
/* struct mts_ops on cgroup v2 files. */
#include "ops.h"

#include <linux/swap.h>

#include "bring_back.h"
#include "cgroupfs.h"
#include "tasks.h"

/* -ENOENT from an open, -ENODEV from a read or write: the cgroup is going. */
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

static bool cgroup_ops_is_frozen(struct mts_job *job)
{
	return test_bit(CGRP_FROZEN, &job->cgrp->flags);
}

static int cgroup_ops_awake(struct mts_job *job)
{
	return mts_tasks_awake(job->cgrp);
}

static int read_u64(struct mts_job *job, const char *file, u64 *value)
{
	return gone(mts_cgroupfs_read_u64(&job->dir, file, value));
}

/* The value of a line "key value" of a flat keyed file; 0 if there is none. */
static u64 keyed_value(const char *text, const char *key)
{
	size_t len = strlen(key);
	const char *line;
	u64 value;

	for (line = text; line; line = strchr(line, '\n')) {
		if (*line == '\n')
			line++;
		if (!strncmp(line, key, len) && sscanf(line + len, " %llu", &value) == 1)
			return value;
	}
	return 0;
}

static bool cgroup_ops_stalls(struct mts_job *job)
{
	return mts_tasks_stalls(job->cgrp);
}

static int cgroup_ops_usage(struct mts_job *job, struct mts_usage *usage)
{
	static char stat[4096]; /* the rotor's thread alone measures */
	ssize_t len;
	int err;

	err = read_u64(job, "memory.current", &usage->current_bytes);
	if (err)
		return err;
	/* Absent where the kernel runs without swap accounting (swapaccount=0). */
	err = read_u64(job, "memory.swap.current", &usage->swap);
	if (err == -ENODEV)
		usage->swap = 0;
	else if (err)
		return err;
	len = mts_cgroupfs_read(&job->dir, "memory.stat", stat, sizeof(stat));
	if (len < 0)
		return gone(len);
	usage->file = keyed_value(stat, "file");
	usage->shmem = keyed_value(stat, "shmem");
	usage->slab_reclaimable = keyed_value(stat, "slab_reclaimable");
	usage->swapcached = keyed_value(stat, "swapcached");
	return 0;
}

static int cgroup_ops_resident(struct mts_job *job, u64 *bytes)
{
	return read_u64(job, "memory.current", bytes);
}

static int cgroup_ops_evict(struct mts_job *job, u64 bytes)
{
	char text[24];

	snprintf(text, sizeof(text), "%llu", bytes);
	return gone(mts_cgroupfs_write(&job->dir, "memory.reclaim", text));
}

static const char *const setting_files[MTS_SETTINGS] = {
	[MTS_SETTING_LOW] = "memory.low",
	[MTS_SETTING_WEIGHT] = "cpu.weight",
};

static int cgroup_ops_get(struct mts_job *job, enum mts_setting setting, u64 *value)
{
	return read_u64(job, setting_files[setting], value);
}

static int cgroup_ops_set(struct mts_job *job, enum mts_setting setting, u64 value)
{
	return gone(mts_cgroupfs_write_u64(&job->dir, setting_files[setting], value));
}

static const struct mts_ops cgroup_ops = {
	.freeze = cgroup_ops_freeze,
	.freeze_asked = cgroup_ops_freeze_asked,
	.is_frozen = cgroup_ops_is_frozen,
	.awake = cgroup_ops_awake,
	.stalls = cgroup_ops_stalls,
	.usage = cgroup_ops_usage,
	.resident = cgroup_ops_resident,
	.evict = cgroup_ops_evict,
	.bring_back = mts_bring_back,
	.use_begins = mts_touched_begin,
	.use_ends = mts_touched_end,
	.get = cgroup_ops_get,
	.set = cgroup_ops_set,
};

const struct mts_ops *mts_ops = &cgroup_ops;

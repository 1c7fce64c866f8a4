// SPDX-License-Identifier: GPL-2.0
/* struct mts_ops on cgroup v2 files. */
#include "jobs/ops.h"

#include <linux/fs.h>
#include <linux/memcontrol.h>
#include <linux/swap.h>

#include "memory/bring_back.h"
#include "memory/cgroupfs.h"
#include "jobs/tasks.h"

/* How long memory.stat of a job that runs is believed while its counters stand still. */
#define STAT_AGE_NS (4 * (u64)NSEC_PER_SEC)

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

static bool cgroup_ops_freeze_set(struct mts_job *job)
{
	return READ_ONCE(job->cgrp->freezer.freeze);
}

/* The kernel sets the flag in all cgroups below the one that is frozen. */
static bool cgroup_ops_frozen_above(struct mts_job *job)
{
	return test_bit(CGRP_FREEZE, &cgroup_parent(job->cgrp)->flags);
}

/* The inode is the same in every mount and every cgroup namespace; one open file is ours. */
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

/*
 * memory.current and memory.swap.current without the files, which take 0.1 ms of a slow
 * processor. Of swap it is 0 where the kernel does not account for it (swapaccount=0).
 */
static int read_counters(struct mts_job *job, u64 *memory, u64 *swap)
{
	struct cgroup_subsys_state *css;
	int err = -ENODEV;

	rcu_read_lock();
	css = rcu_dereference(job->cgrp->subsys[memory_cgrp_id]);
	/* Invisible: the controller is off there, and only others still need its part. */
	if (css && css->flags & CSS_VISIBLE) {
		struct mem_cgroup *memcg = mem_cgroup_from_css(css);

		*memory = (u64)page_counter_read(&memcg->memory) << PAGE_SHIFT;
		*swap = (u64)page_counter_read(&memcg->swap) << PAGE_SHIFT;
		err = 0;
	}
	rcu_read_unlock();
	return err;
}

static int read_stat(struct mts_job *job, struct mts_usage *usage)
{
	static char stat[4096]; /* the rotor's thread alone measures */
	ssize_t len = mts_cgroupfs_read(&job->dir, "memory.stat", stat, sizeof(stat));

	if (len < 0)
		return gone(len);
	usage->file = keyed_value(stat, "file");
	usage->shmem = keyed_value(stat, "shmem");
	usage->slab_reclaimable = keyed_value(stat, "slab_reclaimable");
	usage->swapcached = keyed_value(stat, "swapcached");
	usage->zswap = keyed_value(stat, "zswap");
	return 0;
}

/*
 * Whatever memory.stat tells apart changes the counters as it changes, but for one page that
 * comes as another goes: a job at its memory.max may do that, not while it is frozen.
 */
static bool stat_holds(const struct mts_job *job, const struct mts_usage *counters, u64 now)
{
	const struct mts_usage *then = &job->measured;
	u64 at = job->measured_at;

	if (!at || then->current_bytes != counters->current_bytes || then->swap != counters->swap)
		return false;
	return (READ_ONCE(job->frozen) && READ_ONCE(job->frozen_since) < at) ||
	       now - at < STAT_AGE_NS;
}

static int cgroup_ops_usage(struct mts_job *job, struct mts_usage *usage)
{
	u64 began = ktime_get_ns();
	int err = read_counters(job, &usage->current_bytes, &usage->swap);

	if (err)
		return err;
	if (stat_holds(job, usage, began)) {
		*usage = job->measured;
		return 0;
	}
	err = read_stat(job, usage);
	if (err)
		return err;
	job->measured = *usage;
	job->measured_at = began;
	return 0;
}

static int cgroup_ops_resident(struct mts_job *job, u64 *bytes)
{
	u64 swap;

	return read_counters(job, bytes, &swap);
}

static int cgroup_ops_ran(struct mts_job *job, u64 *ns)
{
	static char stat[1024]; /* the rotor's thread alone asks */
	ssize_t len = mts_cgroupfs_read(&job->dir, "cpu.stat", stat, sizeof(stat));

	if (len < 0)
		return gone(len);
	*ns = keyed_value(stat, "usage_usec") * NSEC_PER_USEC;
	return 0;
}

static int cgroup_ops_evict(struct mts_job *job, u64 bytes)
{
	char text[24];

	snprintf(text, sizeof(text), "%llu", bytes);
	return gone(mts_cgroupfs_write(&job->dir, "memory.reclaim", text));
}

const char *const mts_setting_files[MTS_SETTINGS] = {
	[MTS_SETTING_LOW] = "memory.low",
	[MTS_SETTING_WEIGHT] = "cpu.weight",
};

static int cgroup_ops_get(struct mts_job *job, enum mts_setting setting, u64 *value)
{
	return gone(mts_cgroupfs_read_u64(&job->dir, mts_setting_files[setting], value));
}

static int cgroup_ops_set(struct mts_job *job, enum mts_setting setting, u64 value)
{
	return gone(mts_cgroupfs_write_u64(&job->dir, mts_setting_files[setting], value));
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
	.usage = cgroup_ops_usage,
	.resident = cgroup_ops_resident,
	.ran = cgroup_ops_ran,
	.evict = cgroup_ops_evict,
	.bring_back = mts_bring_back,
	.use_begins = mts_touched_begin,
	.use_ends = mts_touched_end,
	.get = cgroup_ops_get,
	.set = cgroup_ops_set,
};

const struct mts_ops *mts_ops = &cgroup_ops;

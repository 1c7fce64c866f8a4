// SPDX-License-Identifier: GPL-2.0
#include "memory/usage.h"

#include <linux/memcontrol.h>
#include <linux/swap.h>

#include "job.h"
#include "memory/cgroupfs.h"

/*
 * How long memory.stat of a running job is reused while its counters do not change, ns. Reading it
 * costs time; pages that replace others change it unnoticed.
 */
#define STAT_AGE_NS (4 * (u64)NSEC_PER_SEC)

/* The cgroup is being removed: open fails with -ENOENT, read and write with -ENODEV. */
static int gone(int err)
{
	return err == -ENOENT ? -ENODEV : err;
}

/* The value of "key value" in a flat keyed file; 0: no such key. */
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

/*
 * memory.current and memory.swap.current without reading the files, which takes a slow processor
 * 0.1 ms. Swap is 0 where the kernel does not account for it (swapaccount=0).
 */
static int read_counters(struct mts_job *job, u64 *memory, u64 *swap)
{
	struct cgroup_subsys_state *css;
	int err = -ENODEV;

	rcu_read_lock();
	css = rcu_dereference(job->cgrp->subsys[memory_cgrp_id]);
	/*
	 * Invisible: the controller is off, and exists only because other controllers depend on it.
	 */
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
	static char stat[4096]; /* only the rotor's thread measures */
	ssize_t len = mts_cgroupfs_read(&job->dir, "memory.stat", stat, sizeof(stat));

	if (len < 0)
		return gone(len);
	usage->file = keyed_value(stat, "file");
	usage->shmem = keyed_value(stat, "shmem");
	usage->slab_reclaimable = keyed_value(stat, "slab_reclaimable");
	usage->swapcached = keyed_value(stat, "swapcached");
	usage->zswap = keyed_value(stat, "zswap");
	usage->refaults = keyed_value(stat, "workingset_refault_anon");
	usage->major_faults = keyed_value(stat, "pgmajfault");
	return 0;
}

/*
 * Is the last memory.stat still valid? What it counts also changes the counters, unless one page
 * comes as another one goes. A job at its memory.max does that, but not while it is frozen.
 */
static bool stat_is_valid(const struct mts_job *job, const struct mts_usage *counters, u64 now)
{
	const struct mts_usage *then = &job->measured;
	u64 at = job->measured_at;

	if (!at || then->current_bytes != counters->current_bytes || then->swap != counters->swap)
		return false;
	return (READ_ONCE(job->frozen) && READ_ONCE(job->frozen_since) < at) ||
	       (!job->confined && now - at < STAT_AGE_NS);
}

int mts_usage_measure(struct mts_job *job, struct mts_usage *usage)
{
	u64 began = ktime_get_ns();
	int err = read_counters(job, &usage->current_bytes, &usage->swap);

	if (err)
		return err;
	if (stat_is_valid(job, usage, began)) {
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

int mts_usage_resident(struct mts_job *job, u64 *bytes)
{
	u64 swap;

	return read_counters(job, bytes, &swap);
}

int mts_usage_ran(struct mts_job *job, struct mts_ran *ran)
{
	/* The three times come first (cgroup_base_stat_cputime_show(), kernel/cgroup/rstat.c). */
	char stat[160];
	ssize_t len = mts_cgroupfs_read(&job->dir, "cpu.stat", stat, sizeof(stat));

	if (len < 0)
		return gone(len);
	ran->user_ns = keyed_value(stat, "user_usec") * NSEC_PER_USEC;
	ran->system_ns = keyed_value(stat, "system_usec") * NSEC_PER_USEC;
	return 0;
}

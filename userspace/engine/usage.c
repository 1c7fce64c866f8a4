// SPDX-License-Identifier: GPL-2.0
/*
 * memory/usage.h in user space: from the memory controller of cgroup v2; or, where that is not
 * enabled, from /proc/PID/smaps_rollup of each process.
 *
 * smaps_rollup walks the page tables, about 10 ms for a GiB of small pages. So a reading is reused
 * while the kernel's counters of the processes, which are cheap, stay the same.
 */
#define _GNU_SOURCE
#include "memory/usage.h"

#include <unistd.h>

#include "engine/cgroup.h"
#include "engine/process.h"
#include "engine/swapcache.h"
#include "job.h"
#include "memory/cgroupfs.h"

/* As in module/memory/usage.c. */
#define STAT_AGE_NS (4 * (u64)NSEC_PER_SEC)

u64 mts_swapcache_most(void)
{
	struct mts_job *job;
	u64 sum = 0;

	rcu_read_lock();
	mts_job_for_each_rcu(job)
		if (!job->cgrp->memory)
			sum += READ_ONCE(job->measured.swap);
	rcu_read_unlock();
	return sum;
}

/* ---- with the memory controller ---------------------------------------------------------- */

static int measure_by_controller(struct mts_job *job, struct mts_usage *usage)
{
	char stat[8192];
	u64 value;
	int err = mts_cgroupfs_read_u64(&job->dir, "memory.current", &value);
	ssize_t length;

	if (err)
		return err;
	usage->current_bytes = value;
	/* Absent where the kernel does not account for it (swapaccount=0). */
	usage->swap = mts_cgroupfs_read_u64(&job->dir, "memory.swap.current", &value) ? 0 : value;
	length = mts_cgroupfs_read(&job->dir, "memory.stat", stat, sizeof(stat));
	if (length < 0)
		return length;
	usage->file = mts_keyed_value(stat, "file");
	usage->shmem = mts_keyed_value(stat, "shmem");
	usage->slab_reclaimable = mts_keyed_value(stat, "slab_reclaimable");
	usage->swapcached = mts_keyed_value(stat, "swapcached");
	usage->zswap = mts_keyed_value(stat, "zswap");
	usage->refaults = mts_keyed_value(stat, "workingset_refault_anon");
	usage->major_faults = mts_keyed_value(stat, "pgmajfault");
	return 0;
}

/* ---- by the processes -------------------------------------------------------------------- */

/* Return: a sum that changes when the memory of the processes does. */
static u64 count_changes(const pid_t *pids, u32 n)
{
	u64 sum = 0;
	u32 i;

	for (i = 0; i < n; i++)
		sum += mts_process_resident(pids[i]) + pids[i];
	return sum;
}

/* Memory that several processes share counts in parts: Pss. */
static void add_process(pid_t pid, struct mts_usage *usage)
{
	char file[48], text[2048];
	u64 file_bytes;

	snprintf(file, sizeof(file), "/proc/%d/smaps_rollup", pid);
	if (mts_read_at(AT_FDCWD, file, text, sizeof(text)) <= 0)
		return;
	file_bytes = (mts_keyed_value(text, "Pss_File") + mts_keyed_value(text, "Pss_Shmem")) << 10;
	usage->current_bytes += mts_keyed_value(text, "Pss") << 10;
	usage->file += file_bytes;
	usage->shmem += mts_keyed_value(text, "Pss_Shmem") << 10;
	usage->swap += mts_keyed_value(text, "SwapPss") << 10;
}

static bool is_valid(const struct mts_job *job, u64 changes, u64 now)
{
	if (!job->measured_at || job->measured.slab_reclaimable != changes)
		return false;
	return (READ_ONCE(job->frozen) && READ_ONCE(job->frozen_since) < job->measured_at) ||
	       now - job->measured_at < STAT_AGE_NS;
}

static int measure_by_processes(struct mts_job *job, struct mts_usage *usage)
{
	u64 began = ktime_get_ns(), changes;
	pid_t *pids;
	u32 i, n = mts_cgroup_pids(job->cgrp, &pids, NULL);

	changes = count_changes(pids, n);
	if (is_valid(job, changes, began)) {
		*usage = job->measured;
	} else {
		*usage = (struct mts_usage){ .refaults = U64_MAX };
		for (i = 0; i < n; i++)
			add_process(pids[i], usage);
		job->measured = *usage;
		/* There is no slab of a job here: the field keeps what tells of a change. */
		job->measured.slab_reclaimable = changes;
		job->measured_at = began;
	}
	usage->slab_reclaimable = 0;
	free(pids);
	return mts_cgroupfs_is_online(job->cgrp) ? 0 : -ENODEV;
}

int mts_usage_measure(struct mts_job *job, struct mts_usage *usage)
{
	*usage = (struct mts_usage){ 0 };
	if (!job->cgrp->memory)
		return measure_by_processes(job, usage);
	return measure_by_controller(job, usage);
}

int mts_usage_resident(struct mts_job *job, u64 *bytes)
{
	pid_t *pids;
	u32 i, n;

	if (job->cgrp->memory)
		return mts_cgroupfs_read_u64(&job->dir, "memory.current", bytes);
	n = mts_cgroup_pids(job->cgrp, &pids, NULL);
	for (i = 0, *bytes = 0; i < n; i++)
		*bytes += mts_process_resident(pids[i]);
	free(pids);
	return mts_cgroupfs_is_online(job->cgrp) ? 0 : -ENODEV;
}

int mts_usage_ran(struct mts_job *job, struct mts_ran *ran)
{
	char stat[1024];
	ssize_t length = mts_cgroupfs_read(&job->dir, "cpu.stat", stat, sizeof(stat));

	if (length < 0)
		return length;
	/* Every cgroup of v2 has these two, also where the cpu controller is in v1. */
	ran->user_ns = mts_keyed_value(stat, "user_usec") * NSEC_PER_USEC;
	ran->system_ns = mts_keyed_value(stat, "system_usec") * NSEC_PER_USEC;
	return 0;
}

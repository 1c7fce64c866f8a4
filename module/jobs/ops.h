/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The operations on a job. The rotor and the freezer call these instead of using cgroup files, so
 * that tests/rotor can replace them.
 */
#ifndef _MTS_OPS_H
#define _MTS_OPS_H

#include "job.h"
#include "memory/move.h"
#include "memory/reclaim.h"
#include "memory/usage.h"
#include "policy/confined.h"
#include "policy/demand.h"

/**
 * struct mts_swap_waits
 * @waited_ns: time that its tasks have waited, all together; it counts while MTS_POLICY_FAIR,
 *	MTS_POLICY_TOKEN or MTS_POLICY_AUTO is configured, and never falls
 * @waiting: a task waits now
 */
struct mts_swap_waits {
	u64 waited_ns;
	bool waiting;
};

/**
 * struct mts_ops
 * @freeze: ask for a freeze or a thaw; does not wait for the tasks. Process
 *	context; the caller may forbid reclaim. Errors: -ENODEV, the cgroup is gone.
 * @freeze_asked: is a freeze asked for, of the job's cgroup or of one above it? Any context.
 * @freeze_set: is the job's own cgroup.freeze 1? Any context.
 * @frozen_above: is a freeze of a cgroup above the job's asked for? Any context.
 * @freeze_is_open: does another process have the job's cgroup.freeze open for writing? Any context.
 * @is_frozen: are all tasks frozen (true for a job without tasks)? Any context.
 * @awake: number of its tasks that run or wait for a disk; if there are none, number of tasks that
 *	wait for memory. -ENODATA: the kernel does not count them. Any context.
 * @stalls: does a task of it wait for memory now? False also if the kernel does not count that.
 *	Any context.
 * @swap_waits: how its tasks wait for pages from swap. Any context.
 * @usage: measure; cheap as long as nothing has changed. In the rotor's thread alone.
 *	-ENODEV: the cgroup is gone.
 * @resident: bytes in memory, all kinds; cheaper than @usage.
 * @limits: limits of its cgroup and of those above it. Cheap: opens no file. Any context.
 * @ran: processor time of its tasks since its cgroup was made. Reads a file; in any thread.
 * @evict: evict a job; blocks while the disk writes. Return: bytes. See reclaim.h.
 * @bring_back: read pages of jobs back from swap. Return: pages. See bring_back.h.
 * @use_begins: a slice of these frozen jobs is about to begin: clear the marks of used pages.
 *	See touched.h.
 * @use_ends: the slice is over and the jobs are frozen: record which pages they used. See
 *	touched.h.
 * @use_outdated: the record of the job's used pages is too old to rely on. See touched.h.
 * @above: id of the cgroup so many levels above the job's, 1 and more; 0: it is the root, or there
 *	is none. Any context.
 * @get: read a setting of the job's cgroup, or of the one @up levels above it. -ENODEV: the cgroup
 *	does not have it, or is gone.
 * @set: write it. Errors as from the kernel.
 */
struct mts_ops {
	int (*freeze)(struct mts_job *job, bool freeze);
	bool (*freeze_asked)(struct mts_job *job);
	bool (*freeze_set)(struct mts_job *job);
	bool (*frozen_above)(struct mts_job *job);
	bool (*freeze_is_open)(struct mts_job *job);
	bool (*is_frozen)(struct mts_job *job);
	int (*awake)(struct mts_job *job);
	bool (*stalls)(struct mts_job *job);
	void (*swap_waits)(struct mts_job *job, struct mts_swap_waits *waits);
	int (*usage)(struct mts_job *job, struct mts_usage *usage);
	int (*resident)(struct mts_job *job, u64 *bytes);
	void (*limits)(struct mts_job *job, struct mts_mem_limits *limits);
	int (*ran)(struct mts_job *job, struct mts_ran *ran);
	u64 (*evict)(struct mts_eviction *e, struct mts_job *job, bool *all, bool *again);
	u64 (*bring_back)(struct mts_move *move);
	void (*use_begins)(struct mts_move *move);
	void (*use_ends)(struct mts_move *move);
	void (*use_outdated)(struct mts_job *job);
	u64 (*above)(struct mts_job *job, u32 up);
	int (*get)(struct mts_job *job, u32 up, enum mts_setting setting, u64 *value);
	int (*set)(struct mts_job *job, u32 up, enum mts_setting setting, u64 value);
};

extern const struct mts_ops *mts_ops;

/* The file of each setting. */
extern const char *const mts_setting_files[MTS_SETTINGS];

#endif /* _MTS_OPS_H */

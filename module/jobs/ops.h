/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The mechanism: what is done to a job. The rotor and the freezer know nothing
 * of cgroup files; they call these.
 */
#ifndef _MTS_OPS_H
#define _MTS_OPS_H

#include "job.h"
#include "memory/move.h"
#include "memory/reclaim.h"
#include "policy/demand.h"

/**
 * struct mts_ops
 * @freeze: ask for a freeze or a thaw; does not wait for the tasks. Process
 *	context, needs no memory. Errors: -ENODEV, the cgroup is gone.
 * @freeze_asked: is a freeze asked for, of the job's cgroup or of one above it? Any context.
 * @freeze_set: does the job's own cgroup.freeze say 1? Any context.
 * @frozen_above: is a freeze of a cgroup above the job's asked for? Any context.
 * @freeze_is_open: does another process have the job's cgroup.freeze open for writing? Any context.
 * @is_frozen: are all tasks frozen (true for a job with none)? Any context.
 * @awake: how many tasks of it run, or wait for a disk; if none does, how many wait for
 *	memory. -ENODATA: not to be had cheaply. Any context.
 * @stalls: does a task of it wait for memory now? False also if that is not to be
 *	had. Any context.
 * @usage: measure; cheap as long as nothing has changed. In the rotor's thread alone.
 *	-ENODEV: the cgroup is gone.
 * @resident: bytes in memory, all kinds; cheaper than @usage.
 * @ran: processor time of its tasks since its cgroup was made, ns. Reads a file.
 * @evict: push a job out of memory; blocks while the disk writes. Return: bytes. See reclaim.h.
 * @bring_back: read back what is swapped of jobs. Return: pages. See bring_back.h.
 * @use_begins: a slice of these frozen jobs is about to begin: from now on see which pages
 *	they use. See touched.h.
 * @use_ends: it is over, they are frozen: take down what was seen. The same.
 * @use_outdated: what was seen of the job's use is of long ago. The same.
 * @get: read a setting. -ENODEV: the cgroup has none, or is gone.
 * @set: write it. Errors as the kernel gives them.
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
	int (*usage)(struct mts_job *job, struct mts_usage *usage);
	int (*resident)(struct mts_job *job, u64 *bytes);
	int (*ran)(struct mts_job *job, u64 *ns);
	u64 (*evict)(struct mts_eviction *e, struct mts_job *job, bool *all, bool *again);
	u64 (*bring_back)(struct mts_move *move);
	void (*use_begins)(struct mts_move *move);
	void (*use_ends)(struct mts_move *move);
	void (*use_outdated)(struct mts_job *job);
	int (*get)(struct mts_job *job, enum mts_setting setting, u64 *value);
	int (*set)(struct mts_job *job, enum mts_setting setting, u64 value);
};

extern const struct mts_ops *mts_ops;

/* What a setting is called: its file. */
extern const char *const mts_setting_files[MTS_SETTINGS];

#endif /* _MTS_OPS_H */

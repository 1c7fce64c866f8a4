/* SPDX-License-Identifier: GPL-2.0 */
/* What the kernel accounts for a job's cgroup. Context: the rotor's thread, but for the last. */
#ifndef _MTS_USAGE_H
#define _MTS_USAGE_H

#include "context.h"
#include "policy/demand.h"

struct mts_job;
struct mts_usage;

/* Memory by kind, bytes. Cheap while nothing changes. Return: 0, or -ENODEV: the cgroup is gone. */
int mts_usage_measure(struct mts_job *job, struct mts_usage *usage);

/* Bytes in memory, of all kinds. Cheaper. Return: as above. */
int mts_usage_resident(struct mts_job *job, u64 *bytes);

/* Processor time of tasks, also of those that have ended, ns. */
struct mts_ran {
	u64 user_ns;
	u64 system_ns;
};

/* Of the job's tasks since the cgroup was created. Reads a file. Process context. */
int mts_usage_ran(struct mts_job *job, struct mts_ran *ran);

#endif /* _MTS_USAGE_H */

/* SPDX-License-Identifier: GPL-2.0 */
/* What the kernel accounts for a job's cgroup. Context: the rotor's thread. */
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

/* Processor time of its tasks since the cgroup was created, ns. Reads a file. Return: as above. */
int mts_usage_ran(struct mts_job *job, u64 *ns);

#endif /* _MTS_USAGE_H */

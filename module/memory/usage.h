/* SPDX-License-Identifier: GPL-2.0 */
/* What the kernel's accounts say of a job's cgroup. Only for the rotor's thread. */
#ifndef _MTS_USAGE_H
#define _MTS_USAGE_H

#include "context.h"
#include "policy/demand.h"

struct mts_job;
struct mts_usage;

/*
 * Its memory by kinds, bytes; cheap as long as nothing has changed. Return: 0, or -ENODEV: the
 * cgroup is gone.
 */
int mts_usage_measure(struct mts_job *job, struct mts_usage *usage);

/* Bytes in memory, all kinds; cheaper. The same errors. */
int mts_usage_resident(struct mts_job *job, u64 *bytes);

/* Processor time of its tasks since its cgroup was made, ns. Reads a file. The same errors. */
int mts_usage_ran(struct mts_job *job, u64 *ns);

#endif /* _MTS_USAGE_H */

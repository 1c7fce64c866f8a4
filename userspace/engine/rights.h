/* SPDX-License-Identifier: GPL-2.0 */
/* What this process may do with the memory of others: mtsd(8), WITHOUT ROOT. */
#ifndef MTS_ENGINE_RIGHTS_H
#define MTS_ENGINE_RIGHTS_H

#include "context.h"

struct mts_job;

/*
 * Can the job be evicted, as far as is known? If not, its pages are not brought back either: what
 * has made no room would have the kernel reclaim for it, and in a cgroup at its limit kill.
 */
bool mts_may_evict(const struct mts_job *job);

#endif /* MTS_ENGINE_RIGHTS_H */

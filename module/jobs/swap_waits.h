/* SPDX-License-Identifier: GPL-2.0 */
/* How long a job's tasks wait for pages from swap. */
#ifndef _MTS_SWAP_WAITS_H
#define _MTS_SWAP_WAITS_H

#include "jobs/ops.h"

/*
 * The hook says whether it measures (sched_hooks/swapins.h). If not, pressure accounts stand in.
 * They leave out pages that the kernel does not count as part of a working set, and those are most
 * of what a large program swaps in.
 */
void mts_swap_waits_set_seen(bool seen);

/* As mts_ops.swap_waits. */
void mts_swap_waits_read(struct mts_job *job, struct mts_swap_waits *waits);

#endif /* _MTS_SWAP_WAITS_H */

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * memory.low of the cgroups above jobs. The kernel protects a job's memory only as far as each
 * cgroup above it is protected, too (effective_protection() in mm/), and systemd's slices are not.
 * So each gets, on top of its own value, what the jobs below it have got.
 *
 * Sleeps and opens files. The caller has the lock of the settings (protect.c).
 */
#ifndef _MTS_ABOVE_H
#define _MTS_ABOVE_H

#include "job.h"

/**
 * mts_above_set() - the job's own memory.low is this now
 * @bytes: 0: mts does not protect it; else also to be called now and then for the same value:
 *	another process may have written those above meanwhile, as systemd does with set-property
 *
 * Cgroups that cannot be written are left as they are. Where there was no memory to write one, the
 * next call for any job below it tries again.
 */
void mts_above_set(struct mts_job *job, u64 bytes);

/* Is one to be written again? Any context. */
bool mts_above_is_late(void);

/* There are no jobs any more. What could not be put back is said. Takes no lock. */
void mts_above_exit(void);

#endif /* _MTS_ABOVE_H */

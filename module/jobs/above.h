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
 * Cgroups that cannot be written are left as they are.
 *
 * Return: false: there was no memory for it; to be called again
 */
bool mts_above_set(struct mts_job *job, u64 bytes);

#endif /* _MTS_ABOVE_H */

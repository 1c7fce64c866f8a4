/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Settings of a job's cgroup while the job, or its memory, is in every bin: memory.low protects its
 * memory, and cpu.weight of an interactive job is divided by the number of bins, because it runs in
 * each of them. In the end the old settings are restored, or what another process has set
 * meanwhile.
 *
 * These functions sleep and open files: they must not be called on the way to a thaw.
 */
#ifndef _MTS_PROTECT_H
#define _MTS_PROTECT_H

#include "job.h"

/**
 * mts_protect() - protect a job's memory, and divide its weight
 * @low: bytes to protect; 0: restore the old memory.low
 * @bins: its weight is divided by this; 1: restore the old cpu.weight
 *
 * Does nothing for a controller that is not enabled in the cgroup. For the rotor's thread alone.
 */
void mts_protect(struct mts_job *job, u64 low, u32 bins);

/* Restore the old settings, and do not change them any more. */
void mts_protect_end(struct mts_job *job);

/* There are no jobs any more. */
void mts_protect_exit(void);

#endif /* _MTS_PROTECT_H */

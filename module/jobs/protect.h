/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a job's cgroup is given while the job is in every bin for its input, for its user, or for
 * a real-time thread: its memory is protected (memory.low), and of an interactive
 * job the share of processor time is that of its one bin (cpu.weight). Its own
 * settings are put back in the end, unless somebody has changed them meanwhile.
 *
 * All of it sleeps and opens files: never on the way to a thaw.
 */
#ifndef _MTS_PROTECT_H
#define _MTS_PROTECT_H

#include "job.h"

/**
 * mts_protect() - give a job what is due to it
 * @low: bytes to be protected; 0: what it had itself
 * @bins: its weight is divided by; 1: what it had itself
 *
 * A controller that is not enabled in the cgroup is passed over. Only for the
 * rotor's thread.
 */
void mts_protect(struct mts_job *job, u64 low, u32 bins);

/* Put back what it had itself, for good. */
void mts_protect_end(struct mts_job *job);

#endif /* _MTS_PROTECT_H */

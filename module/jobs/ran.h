/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Processor time of the jobs in user mode, by the accounts of their cgroups (cpu.stat). Each
 * nanosecond counts once: also of processes and jobs that have ended, and nothing of what a cgroup
 * ran before it was a job. Process context; each reading opens a file. The owner of job->user.
 */
#ifndef _MTS_RAN_H
#define _MTS_RAN_H

#include "job.h"

/* A cgroup that ran before is about to be a job. */
void mts_ran_begin(struct mts_job *job);

/*
 * It is no job any more: keep for mts_ran_take_ended() what mts_ran_since() has not returned. Call
 * this before the cgroup is removed. If another process has removed it, that time is lost.
 */
void mts_ran_end(struct mts_job *job);

/* What the job ran since the last call, ns. */
u64 mts_ran_since(struct mts_job *job);

/* What jobs ran that have ended since the last call, beyond mts_ran_since(), ns. */
u64 mts_ran_take_ended(void);

#endif /* _MTS_RAN_H */

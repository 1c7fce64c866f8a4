/* SPDX-License-Identifier: GPL-2.0 */
/* Which frozen jobs are pushed out of memory, and how much of each. */
#ifndef _MTS_ROTOR_EVICT_H
#define _MTS_ROTOR_EVICT_H

#include "context.h"
#include "job.h"

/* Make room for what is to run, as configured. */
void mts_evict_for_running(void);

/* Evict up to @want bytes of a job; nothing if it is not frozen, or was evicted already. */
void mts_evict_job(struct mts_job *job, u64 want);

/* Turns are over: that is forgotten. Under mts_lock. */
void mts_evict_forget_full(void);

#endif /* _MTS_ROTOR_EVICT_H */

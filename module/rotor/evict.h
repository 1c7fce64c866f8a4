/* SPDX-License-Identifier: GPL-2.0 */
/* Which frozen jobs are pushed out of memory, and how much of each. */
#ifndef _MTS_ROTOR_EVICT_H
#define _MTS_ROTOR_EVICT_H

#include "context.h"
#include "job.h"

/* Make room for what is to run, as configured; @least bytes, if any are to be evicted. */
void mts_evict_for_running(u64 least);

/*
 * Up to @want bytes of a job, until @deadline (ktime, ns; 0: no limit). Return: bytes that left
 * memory; 0 if it is not frozen, or was evicted already.
 */
u64 mts_evict_job(struct mts_job *job, u64 want, u64 deadline);

/*
 * Up to @want bytes of what is frozen and waits: the bin that runs again last goes first, which is
 * the one that has just run. Until @deadline, as above. Return: bytes that left memory.
 */
u64 mts_evict_frozen(u64 want, u64 deadline);

/* Turns are over: that is forgotten. Under mts_lock. */
void mts_evict_forget_full(void);

#endif /* _MTS_ROTOR_EVICT_H */

/* SPDX-License-Identifier: GPL-2.0 */
/* Pushing a frozen job out of memory: memory.reclaim, in calls that can be stopped. */
#ifndef _MTS_RECLAIM_H
#define _MTS_RECLAIM_H

#include "context.h"

struct mts_job;
struct task_struct;

/* Who waits longer for a page (80 MB/s) has a slow disk, as far as that tells. */
#define MTS_SLOW_NS (50 * (u64)NSEC_PER_USEC)

/**
 * struct mts_eviction - what several threads evict together
 * @left: bytes that are still to go, of whatever job
 * @deadline: ktime, ns; what has not gone by then stays; 0: no limit. A call takes up to 5 s more
 * @waits_for_disk: switches wait for the disk for most of their time: nobody is to write beside us
 * @owner: the rotor's thread, which alone makes way for what is more urgent
 * @should_abort: what is done may be out of date: get it over with. Process context, any thread
 * @should_yield: the owner has something more urgent to do. The same
 * @is_to_run: this job is not to be frozen any more, or its cgroup is about to be removed: who
 *	does that waits for us, with cgroup_mutex held. Any context
 */
struct mts_eviction {
	atomic64_t left;
	u64 deadline;
	bool waits_for_disk;
	const struct task_struct *owner;
	bool (*should_abort)(void);
	bool (*should_yield)(void);
	bool (*is_to_run)(const struct mts_job *job);
};

/**
 * mts_reclaim() - evict what is left to evict from this job
 * @all: result: there is no more to be got from it
 * @again: result: the owner has something more urgent to do; then call it again
 *
 * Takes what it got off @e->left. Return: bytes that have left memory.
 */
u64 mts_reclaim(struct mts_eviction *e, struct mts_job *job, bool *all, bool *again);

/* No place for anonymous memory: whoever asks for some to be evicted has it searched in vain. */
bool mts_reclaim_is_swap_full(void);

/* Of that: there are places, but swap takes nothing, as a full zram does. */
bool mts_reclaim_is_refused(void);

/* Swap that took no more may do so again. Any context. */
void mts_reclaim_retry(void);

#endif /* _MTS_RECLAIM_H */

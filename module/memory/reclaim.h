/* SPDX-License-Identifier: GPL-2.0 */
/* Evicts a frozen job by memory.reclaim, in calls that can be interrupted. */
#ifndef _MTS_RECLAIM_H
#define _MTS_RECLAIM_H

#include "context.h"

struct mts_job;
struct task_struct;

/* The most that one call of memory.reclaim is asked for, bytes. */
#define MTS_EVICT_CHUNK_MAX (8ull << 20)
/* Bytes that eviction leaves in a job: per-CPU caches and kernel memory cannot be evicted. */
#define MTS_EVICT_FLOOR (256ull << 10)

/**
 * struct mts_eviction - an eviction by several threads together
 * @left: bytes still to evict, from any job
 * @waits_for_disk: most of a switch's time goes to the disk: only mts should write to it
 * @row_ns: mts_disk_row_ns(): what a page takes if the job's pages do not lie apart
 * @owner: the rotor's thread, the only one that yields
 * @should_abort: the work may be out of date: finish soon. Process context, any thread
 * @should_yield: the owner has more urgent work. Process context, any thread
 * @is_to_run: this job should no longer be frozen, or its cgroup is about to be removed: the
 *	remover waits for the eviction with cgroup_mutex held. Any context
 */
struct mts_eviction {
	atomic64_t left;
	bool waits_for_disk;
	u64 row_ns;
	const struct task_struct *owner;
	bool (*should_abort)(void);
	bool (*should_yield)(void);
	bool (*is_to_run)(const struct mts_job *job);
};

/**
 * mts_reclaim() - evict one job; several threads may evict the same
 * @e: the eviction; what was freed is taken off @e->left
 * @job: the job
 * @all: result: no more can be evicted from it
 * @again: result: the owner has more urgent work; then call again
 *
 * Return: bytes that left memory.
 */
u64 mts_reclaim(struct mts_eviction *e, struct mts_job *job, bool *all, bool *again);

/* Is there no room for anonymous memory, so that eviction would search in vain? */
bool mts_reclaim_is_swap_full(void);

/* Part of that: swap has free slots but accepts no page, as a full zram device. */
bool mts_reclaim_is_refused(void);

/* End the suspension: swap may accept pages again. Any context. */
void mts_reclaim_retry(void);

#endif /* _MTS_RECLAIM_H */

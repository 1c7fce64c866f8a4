/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Pages lose their places in swap when they come back by a writing fault (do_swap_page(),
 * mm/memory.c), so that they go out side by side the next time. Since Linux 7.0 ("mm, swap: free
 * the swap cache after folio is mapped") that fault has forgotten by then that it was one, if the
 * page is nobody else's, and keeps the place. It still gives up the places of a cgroup of whose
 * swap half is used (mem_cgroup_swap_full(), mm/memcontrol.c). So there memory.swap.high of a job
 * is just so low while such pages come back: above what it has in swap, so that nobody is slowed
 * down by it.
 */
#ifndef _MTS_SWAP_SLOTS_H
#define _MTS_SWAP_SLOTS_H

#include "context.h"
#include "job.h"

struct cgroup;
struct mem_cgroup;

/* Of the job with that cgroup. Only for the rotor's thread, as is the end. */
void mts_swap_slots_begin(struct mts_swap_slots *slots, struct cgroup *cgrp);

/* memory.swap.high is as it was found. */
void mts_swap_slots_end(struct mts_swap_slots *slots);

/*
 * Between the two, for any worker: does a writing fault now free the place? Where two workers want
 * different things of one job some places are kept that should not be, or the other way round.
 */
void mts_swap_slots_lose(struct mts_swap_slots *slots, bool lose);

#endif /* _MTS_SWAP_SLOTS_H */

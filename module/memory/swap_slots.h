/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Makes pages lose their slots in swap when they come back by a writing fault (do_swap_page(),
 * mm/memory.c). Such pages are evicted side by side the next time.
 *
 * Since Linux 7.0 ("mm, swap: free the swap cache after folio is mapped") the fault no longer knows
 * at that point that it writes. If only one process has the page, the page keeps its slot. But the
 * kernel still frees slots of a cgroup that uses half of its swap limit (mem_cgroup_swap_full(),
 * mm/memcontrol.c). So mts lowers memory.swap.high of the job while such pages come back. The limit
 * stays above the job's swap, so that its tasks are not throttled.
 */
#ifndef _MTS_SWAP_SLOTS_H
#define _MTS_SWAP_SLOTS_H

#include "context.h"
#include "job.h"

struct cgroup;
struct mem_cgroup;

/* For a job with that cgroup. Begin and end: the rotor's thread only. */
void mts_swap_slots_begin(struct mts_swap_slots *slots, struct cgroup *cgrp);

/* Restores memory.swap.high. */
void mts_swap_slots_end(struct mts_swap_slots *slots);

/*
 * Between begin and end, any worker: should a writing fault free the slot from now on? If two
 * workers set one job differently, some pages keep or lose their slots against the rule. That is
 * harmless.
 */
void mts_swap_slots_lose(struct mts_swap_slots *slots, bool lose);

#endif /* _MTS_SWAP_SLOTS_H */

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

#include <linux/types.h>

struct cgroup;
struct mem_cgroup;

/**
 * struct mts_places
 * @memcg: a job's, held; NULL: there is nothing to be done
 * @found: its memory.swap.high, pages
 * @high: the same as we left it last
 * @lost: somebody else has set it since: it is left alone
 */
struct mts_places {
	struct mem_cgroup *memcg;
	unsigned long found;
	unsigned long high;
	bool lost;
};

/* Of the job with that cgroup. Only for the rotor's thread, as is the end. */
void mts_places_begin(struct mts_places *places, struct cgroup *cgrp);

/* memory.swap.high is as it was found. */
void mts_places_end(struct mts_places *places);

/*
 * Between the two, for any worker: does a writing fault now free the place? Where two workers want
 * different things of one job some places are kept that should not be, or the other way round.
 */
void mts_places_lose(struct mts_places *places, bool lose);

#endif /* _MTS_SWAP_SLOTS_H */

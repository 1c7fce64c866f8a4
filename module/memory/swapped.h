/* SPDX-License-Identifier: GPL-2.0 */
/* The list of what of some address spaces lies in swap, in the order in which it lies there. */
#ifndef _MTS_SWAPPED_H
#define _MTS_SWAPPED_H

#include "job.h"
#include "memory/mms.h"
#include "policy/swap_order.h"

/*
 * Of struct mts_swapped: @place orders pages as they lie in swap; several devices take turns
 * in it, so that all of them are busy. @where is the page's address, in the low bits
 * the index of its address space (mms.h), and MTS_SWAPPED_MOVES.
 */

struct mts_swapped_list {
	struct mts_swapped *entries;
	u32 n;
	u32 max;
};

/*
 * Nobody else has the page, and few of those that come back lie beside it: it is to lose its
 * place in swap. If it kept that it would be written there again, alone, as often as it is dirty;
 * a new place it gets beside those that are evicted with it.
 */
#define MTS_SWAPPED_MOVES BIT_ULL(63) /* above all addresses of programs */

static inline unsigned long mts_swapped_addr(const struct mts_swapped *entry)
{
	return entry->where & PAGE_MASK & ~MTS_SWAPPED_MOVES;
}

static inline bool mts_swapped_moves(const struct mts_swapped *entry)
{
	return entry->where & MTS_SWAPPED_MOVES;
}

static inline u32 mts_swapped_mm(const struct mts_swapped *entry)
{
	return entry->where & ~PAGE_MASK;
}

/* Does its job lie so that writing it took long? */
static inline bool mts_swapped_is_scattered(const struct mts_swapped *entry)
{
	return mts_mms_job(mts_swapped_mm(entry))->scattered;
}

/**
 * mts_swapped_collect() - what is swapped of the address spaces that are held
 * @list: result; kvfree(entries) it
 * @move: it is for; what has not been looked at by its deadline is not in the list
 * @nmms: how many are held for it (mts_mms_get())
 * @pages: about how many there are; the list is not longer than that
 *
 * Private memory, and shared memory (shmem) that is mapped; of that each page
 * once, however many map it. Shorter if the move is to be aborted, if address spaces are in use,
 * or if there is not memory enough for the list, which is never of more than 512 GiB: @max says so
 * then.
 *
 * Return: 0, or -ENOMEM: there is not even a short list.
 */
int mts_swapped_collect(struct mts_swapped_list *list, const struct mts_move *move, u32 nmms,
			u64 pages);

#endif /* _MTS_SWAPPED_H */

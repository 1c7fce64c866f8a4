/* SPDX-License-Identifier: GPL-2.0 */
/* A sorted list of the swapped pages of address spaces. */
#ifndef _MTS_SWAPPED_H
#define _MTS_SWAPPED_H

#include "job.h"
#include "memory/mms.h"
#include "policy/swap_order.h"

/*
 * Encoding of struct mts_swapped. @place: sort key, the order in swap. Several devices alternate in
 * it, so that all of them are busy. @where: the page's address; in its low bits the index of the
 * address space (mms.h); MTS_SWAPPED_LOSE_SLOT in the top bit.
 */

struct mts_swapped_list {
	struct mts_swapped *entries;
	u32 n;
	u32 max;
};

/*
 * The page should lose its slot: only one process has it, and few pages that come back lie beside
 * it. In its old slot it would be written alone at each eviction. In a new slot it lies beside the
 * pages that are evicted with it.
 */
#define MTS_SWAPPED_LOSE_SLOT BIT_ULL(63) /* above all user addresses */

static inline unsigned long mts_swapped_addr(const struct mts_swapped *entry)
{
	return entry->where & PAGE_MASK & ~MTS_SWAPPED_LOSE_SLOT;
}

static inline bool mts_swapped_loses_slot(const struct mts_swapped *entry)
{
	return entry->where & MTS_SWAPPED_LOSE_SLOT;
}

static inline u32 mts_swapped_mm(const struct mts_swapped *entry)
{
	return entry->where & ~PAGE_MASK;
}

/* Does the job lie scattered in swap, so that its eviction took long? */
static inline bool mts_swapped_is_scattered(const struct mts_swapped *entry)
{
	return mts_mms_job(mts_swapped_mm(entry))->scattered;
}

/**
 * mts_swapped_collect() - list the swapped pages of the address spaces that are held
 * @list: result; the caller frees .entries with kvfree()
 * @move: the move; what was not scanned by its deadline is left out
 * @nmms: number of address spaces (mts_mms_get())
 * @pages: expected number of pages, and the upper limit of the list
 *
 * Lists private memory, and shared memory (shmem) that is mapped, each shared page once.
 *
 * The list is incomplete if the move should abort, if an address space stays locked, or if memory
 * for the list is short. .max is smaller than @pages then. The list never covers more than 512 GiB.
 *
 * Return: 0, or -ENOMEM: not even a short list could be allocated.
 */
int mts_swapped_collect(struct mts_swapped_list *list, const struct mts_move *move, u32 nmms,
			u64 pages);

#endif /* _MTS_SWAPPED_H */

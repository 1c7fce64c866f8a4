/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Bin packing: which jobs run together. Pure code (policy/pure.h).
 *
 * Rules that hold for every algorithm:
 *  - every item gets a bin in 0..nbins-1, and no bin is empty;
 *  - an item larger than the capacity gets a bin to itself;
 *  - other bins hold at most the capacity, except as MTS_PACK_RW documents;
 *  - the result depends on the input alone: ties are broken by index;
 *  - 0 items: 0 bins. An item of 0 bytes fits everywhere (also in a full bin,
 *    never beside an oversize item). Capacity 0: every item of more than 0
 *    bytes is oversize. Sums saturate at U64_MAX, so sizes up to U64_MAX are
 *    safe.
 */
#ifndef _MTS_BINPACK_H
#define _MTS_BINPACK_H

#include "policy/pure.h"
#include "uapi/mts.h"

/**
 * struct mts_item - one thing to pack
 * @size: bytes
 * @prev: its bin in the last round, below MTS_MAX_JOBS (there may be gaps);
 *	anything else, MTS_BIN_NONE and MTS_BIN_EVERY included, is a newcomer
 * @bin: result
 */
struct mts_item {
	u64 size;
	u32 prev;
	u32 bin;
};

/* Bytes of scratch memory that mts_binpack() needs for n items. */
size_t mts_binpack_scratch(u32 n);

/**
 * mts_binpack() - put items into bins
 * @pack: enum mts_pack
 * @items: the items; only .bin is written
 * @n: how many, 0..MTS_MAX_JOBS
 * @capacity: bytes a bin may hold
 * @scratch: mts_binpack_scratch(n) bytes, aligned for u64; contents do not
 *	matter; may be NULL if n is 0
 *
 * Packing is stable: items stay in the bin of their .prev, largest first, and
 * the rest is packed around them; if there are more such bins than packing
 * afresh would need, the smallest break up. If that needs more bins than
 * packing afresh (or, in MTS_PACK_RW, makes the fullest one fuller), everything
 * is packed afresh. Bins are numbered in the order of their earlier numbers,
 * new ones last; one packed afresh goes by the lowest .prev of its items.
 *
 * MTS_PACK_FFD: first-fit decreasing, O(n log n) (Johnson 1973: at most
 *	11/9 OPT + 6/9 bins).
 * MTS_PACK_BFD: best-fit decreasing, the same bound.
 * MTS_PACK_RW: Reuven & Wiseman section 4.1: the number of bins is the sum of
 *	the sizes divided by the capacity (rounded up, so that what fits
 *	nowhere stays small; oversize items, which have bins to themselves, not
 *	counted; one bin for items of 0 bytes alone); items go into these bins
 *	by first fit, largest first; what fits nowhere goes, in its turn, into
 *	the bin that is smallest at that moment, beyond the capacity, and less
 *	than twice as full.
 *
 * Return: the number of bins, or -EINVAL for an unknown @pack or n above
 * MTS_MAX_JOBS.
 */
int mts_binpack(u32 pack, struct mts_item *items, u32 n, u64 capacity, void *scratch);

#endif /* _MTS_BINPACK_H */

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Bin packing: which jobs run together. Pure code (policy/pure.h).
 *
 * Rules for every algorithm:
 *
 * - Every item gets a bin in 0..nbins-1, and no bin is empty.
 * - An item larger than the capacity (oversize) gets a bin to itself.
 * - Other bins hold at most the capacity, except as documented for MTS_PACK_RW.
 * - The result depends on the input alone: ties are broken by index.
 * - 0 items need 0 bins. An item of 0 bytes fits everywhere, even in a full bin, but never beside
 *   an oversize item. With capacity 0, every item of more than 0 bytes is oversize.
 * - Sums saturate at U64_MAX, so sizes up to U64_MAX are safe.
 */
#ifndef _MTS_BINPACK_H
#define _MTS_BINPACK_H

#include "policy/pure.h"
#include "uapi/mts.h"

/**
 * struct mts_item - an item to pack
 * @size: bytes
 * @prev: its bin in the last round, below MTS_MAX_JOBS (numbers may be missing); any other value,
 *	including MTS_BIN_NONE and MTS_BIN_EVERY, marks a new item
 * @bin: result
 */
struct mts_item {
	u64 size;
	u32 prev;
	u32 bin;
};

/* Scratch memory of mts_binpack() for n items, bytes. */
size_t mts_binpack_scratch(u32 n);

/**
 * mts_binpack() - put items into bins
 * @pack: enum mts_pack
 * @items: the items; only .bin is written
 * @n: number of items, 0..MTS_MAX_JOBS
 * @capacity: bytes per bin
 * @scratch: mts_binpack_scratch(n) bytes, aligned for u64; need not be initialised; may be NULL if
 *	n is 0
 *
 * Packing is stable. Items stay in the bin of their .prev, the largest first, and the other items
 * are packed around them. If these are more bins than packing from scratch needs, the smallest ones
 * are dissolved. Everything is packed from scratch if the stable result needs more bins, or, in
 * MTS_PACK_RW, makes the fullest bin fuller. Bins are numbered in the order of their previous
 * numbers, new ones last. After packing from scratch a bin goes by the lowest .prev of its items.
 *
 * MTS_PACK_FFD: first-fit decreasing, O(n log n) (Johnson 1973: at most 11/9 OPT + 6/9 bins).
 * MTS_PACK_BFD: best-fit decreasing, the same bound.
 * MTS_PACK_RW: Reuven & Wiseman section 4.1. The number of bins is the sum of the sizes divided by
 *	the capacity, rounded up, so that few items fit nowhere. Oversize items are not counted;
 *	items of 0 bytes alone get one bin. Items are packed by first fit, the largest first. An
 *	item that fits nowhere goes into the bin that is smallest at that moment. Such a bin exceeds
 *	the capacity, but holds less than twice as much.
 *
 * Return: the number of bins, or -EINVAL for an unknown @pack or for @n above MTS_MAX_JOBS.
 */
int mts_binpack(u32 pack, struct mts_item *items, u32 n, u64 capacity, void *scratch);

#endif /* _MTS_BINPACK_H */

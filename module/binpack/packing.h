/* SPDX-License-Identifier: GPL-2.0 */
/* Shared by the files of this folder; other code includes binpack.h only. */
#ifndef _MTS_BINPACK_PACKING_H
#define _MTS_BINPACK_PACKING_H

#include "binpack/binpack.h"
#include "binpack/sort.h"

struct mts_packing;

/**
 * struct mts_packer - an algorithm
 * @bins: exact number of bins; NULL if the packing determines it
 * @begin: prepare for the bins that are open already, by @p->load
 * @place: choose a bin for an item; items come in decreasing size since begin; @p->nbins opens a
 *	new bin
 */
struct mts_packer {
	u32 (*bins)(const struct mts_packing *p);
	void (*begin)(struct mts_packing *p);
	u32 (*place)(struct mts_packing *p, u64 size);
};

/**
 * struct mts_packing - state of a packing; without oversize items
 * @packer: the algorithm
 * @items: all items
 * @order: size and index of the n items to pack, the largest first
 * @n: number of items to pack
 * @leaves: mts_packing_leaves(n)
 * @capacity: bytes per bin
 * @max_bins: limit of open bins
 * @nbins: open bins; none is empty
 * @fullest: the largest load
 * @load: bytes in each bin
 * @bin: for each item, by its index in @items; MTS_BIN_NONE: not placed yet
 * @name: number of each bin in the last round, MTS_BIN_NONE for a new one
 * @slot: MTS_MAX_JOBS elements: a bin, by its number in the last round
 * @keys: room for one key per item
 * @work: memory of the algorithm, mts_packing_work() bytes, which also fits one key per item; free
 *	for other use except between begin() and the last place()
 */
struct mts_packing {
	const struct mts_packer *packer;
	const struct mts_item *items;
	const struct mts_key *order;
	u32 n;
	u32 leaves;
	u64 capacity;
	u32 max_bins;
	u32 nbins;
	u64 fullest;
	u64 *load;
	u32 *bin;
	u32 *name;
	u32 *slot;
	struct mts_key *keys;
	void *work;
};

extern const struct mts_packer mts_packer_ffd;
extern const struct mts_packer mts_packer_bfd;
extern const struct mts_packer mts_packer_rw;

/* Number of leaves: a power of two. As many nodes lie above them. */
static inline u32 mts_packing_leaves(u32 n)
{
	u32 leaves = 1;

	while (leaves < n)
		leaves <<= 1;
	return leaves;
}

static inline size_t mts_packing_work(u32 n)
{
	return 2 * mts_packing_leaves(n) * sizeof(u64);
}

static inline bool mts_item_is_newcomer(const struct mts_item *item)
{
	return item->prev >= MTS_MAX_JOBS;
}

static inline void mts_packing_add(struct mts_packing *p, const struct mts_key *item, u32 bin)
{
	if (bin == p->nbins) {
		p->load[bin] = 0;
		p->name[bin] = MTS_BIN_NONE;
		p->nbins++;
	}
	p->bin[item->index] = bin;
	p->load[bin] = mts_add_sat(p->load[bin], item->value);
	p->fullest = mts_max(p->fullest, p->load[bin]);
}

/* No item is placed, and no bin is open. */
void mts_packing_reset(struct mts_packing *p);

/* Let the algorithm place the items that are not placed yet. */
void mts_packing_fill(struct mts_packing *p);

/**
 * mts_packing_keep() - pack so that items stay in their bins of the last round
 * @p: result; .max_bins is set
 * @fresh: the packing from scratch
 *
 * Return: is the result no worse than @fresh, with no more bins, and no bin that is fuller beyond
 * the capacity? If not, the contents of @p are useless.
 */
bool mts_packing_keep(struct mts_packing *p, const struct mts_packing *fresh);

#endif /* _MTS_BINPACK_PACKING_H */

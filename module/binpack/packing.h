/* SPDX-License-Identifier: GPL-2.0 */
/* What the files of this folder share; others include binpack.h alone. */
#ifndef _MTS_BINPACK_PACKING_H
#define _MTS_BINPACK_PACKING_H

#include "binpack/binpack.h"
#include "binpack/sort.h"

struct mts_packing;

/**
 * struct mts_packer - an algorithm
 * @bins: how many bins there shall be, neither more nor fewer; NULL if that
 *	comes out of the packing
 * @begin: take note of the bins that are open already, in @p->load
 * @place: choose a bin for an item that follows, in size, those placed since
 *	begin; @p->nbins opens a new one
 */
struct mts_packer {
	u32 (*bins)(const struct mts_packing *p);
	void (*begin)(struct mts_packing *p);
	u32 (*place)(struct mts_packing *p, u64 size);
};

/**
 * struct mts_packing - the items that are not oversize, on their way into bins
 * @packer: the algorithm
 * @items: all items
 * @order: the n items to pack: their sizes and indices, largest first
 * @n: how many
 * @leaves: mts_packing_leaves() of them
 * @capacity: bytes a bin may hold
 * @max_bins: how many bins may be opened
 * @nbins: how many are open; none of them is empty
 * @fullest: the largest load
 * @load: bytes in each bin
 * @bin: of each item, by its index in @items; MTS_BIN_NONE: not placed yet
 * @name: a bin's number in the last round, MTS_BIN_NONE for a new one
 * @slot: MTS_MAX_JOBS elements: a bin, by its number in the last round
 * @keys: room for as many keys as there are items
 * @work: the algorithm's own memory, mts_packing_work() bytes, which is room for as many keys
 *	again; free for others but from begin() to the last place()
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

/* A power of two of leaves, and as much again for the nodes above them. */
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

/* Nothing is placed, no bin is open. */
void mts_packing_reset(struct mts_packing *p);

/* Place, by the algorithm, what is not placed yet. */
void mts_packing_fill(struct mts_packing *p);

/**
 * mts_packing_keep() - pack so that items stay in their bins of the last round
 * @p: where to, max_bins being set
 * @fresh: the packing that does not care
 *
 * Return: whether that is no worse than @fresh: no more bins, and none that
 * holds more beyond the capacity. If not, the contents of @p are of no use.
 */
bool mts_packing_keep(struct mts_packing *p, const struct mts_packing *fresh);

#endif /* _MTS_BINPACK_PACKING_H */

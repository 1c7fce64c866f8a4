// SPDX-License-Identifier: GPL-2.0
/*
 * Packs items into bins: the frame around the algorithms.
 *
 * Algorithms never see oversize items. These come first in the order of sizes, and their bins are
 * numbered after the others until all bins are renumbered.
 */
#include "binpack/packing.h"

/* Layout of the scratch memory, largest alignment first. */
struct scratch {
	struct mts_key *order;
	struct mts_key *keys;
	void *work;
	u64 *load;
	u32 *fresh_bin;
	u32 *kept_bin;
	u32 *name;
	u32 *slot;
};

static void carve(struct scratch *s, u32 n, char *at)
{
	s->order = (void *)at;
	s->keys = s->order + n;
	s->work = s->keys + n;
	s->load = (void *)((char *)s->work + mts_packing_work(n));
	s->fresh_bin = (void *)(s->load + n);
	s->kept_bin = s->fresh_bin + n;
	s->name = s->kept_bin + n;
	s->slot = s->name + n;
}

size_t mts_binpack_scratch(u32 n)
{
	if (n > MTS_MAX_JOBS)
		n = 0; /* mts_binpack() will refuse it */

	return 2 * n * sizeof(struct mts_key) + mts_packing_work(n) + n * sizeof(u64) +
	       3 * n * sizeof(u32) + MTS_MAX_JOBS * sizeof(u32);
}

static void sort_items(const struct mts_item *items, u32 n, struct mts_key *order,
		       struct mts_key *spare)
{
	u32 i;

	for (i = 0; i < n; i++) {
		order[i].value = items[i].size;
		order[i].index = i;
	}
	mts_keys_sort(order, n, spare);
}

void mts_packing_reset(struct mts_packing *p)
{
	u32 i;

	p->nbins = 0;
	p->fullest = 0;
	for (i = 0; i < p->n; i++)
		p->bin[p->order[i].index] = MTS_BIN_NONE;
}

void mts_packing_fill(struct mts_packing *p)
{
	u32 i;

	p->packer->begin(p);
	for (i = 0; i < p->n; i++)
		if (p->bin[p->order[i].index] == MTS_BIN_NONE)
			mts_packing_add(p, &p->order[i], p->packer->place(p, p->order[i].value));
}

/* After packing from scratch a bin is named by the smallest previous bin of its items. */
static void name_bins(struct mts_packing *p)
{
	u32 i;

	for (i = 0; i < p->nbins; i++)
		p->name[i] = MTS_BIN_NONE;
	for (i = 0; i < p->n; i++) {
		const struct mts_item *item = &p->items[p->order[i].index];
		u32 *name = &p->name[p->bin[p->order[i].index]];

		if (!mts_item_is_newcomer(item) && item->prev < *name)
			*name = item->prev;
	}
}

static u32 pack_oversize(struct mts_packing *p, const struct mts_key *order, u32 n)
{
	u32 i;

	for (i = 0; i < n; i++) {
		const struct mts_item *item = &p->items[order[i].index];

		p->bin[order[i].index] = p->nbins + i;
		p->name[p->nbins + i] = mts_item_is_newcomer(item) ? MTS_BIN_NONE : item->prev;
	}
	return p->nbins + n;
}

/*
 * Return: the number of the first bin without a name. @first: for each name, the number of its
 * first bin.
 */
static u32 count_names(const struct mts_packing *p, u32 nbins, u32 *first)
{
	u32 i, named = 0;

	memset(first, 0, MTS_MAX_JOBS * sizeof(*first));
	for (i = 0; i < nbins; i++)
		if (p->name[i] != MTS_BIN_NONE)
			first[p->name[i]]++;
	for (i = 0; i < MTS_MAX_JOBS; i++) {
		u32 bins = first[i];

		first[i] = named;
		named += bins;
	}
	return named;
}

/* Number the bins in the order of their names; bins with equal names by their index. */
static void hand_out(struct mts_packing *p, struct mts_item *items, u32 n, u32 nbins)
{
	/* Both are free for reuse here. */
	u32 *first = p->slot, *number = p->work;
	u32 nameless = count_names(p, nbins, first);
	u32 i;

	for (i = 0; i < nbins; i++)
		number[i] = p->name[i] == MTS_BIN_NONE ? nameless++ : first[p->name[i]]++;
	for (i = 0; i < n; i++)
		items[i].bin = number[p->bin[i]];
}

static const struct mts_packer *find_packer(u32 pack)
{
	switch (pack) {
	case MTS_PACK_FFD:
		return &mts_packer_ffd;
	case MTS_PACK_BFD:
		return &mts_packer_bfd;
	case MTS_PACK_RW:
		return &mts_packer_rw;
	default:
		return NULL;
	}
}

int mts_binpack(u32 pack, struct mts_item *items, u32 n, u64 capacity, void *scratch)
{
	const struct mts_packer *packer = find_packer(pack);
	struct mts_packing fresh, kept, *best;
	struct scratch s;
	u32 oversize = 0;
	u32 nbins;

	if (!packer || n > MTS_MAX_JOBS)
		return -EINVAL;
	if (!n)
		return 0;

	carve(&s, n, scratch);
	sort_items(items, n, s.order, s.keys);
	while (oversize < n && s.order[oversize].value > capacity)
		oversize++;

	fresh = (struct mts_packing){
		.packer = packer,
		.items = items,
		.order = s.order + oversize,
		.n = n - oversize,
		.leaves = mts_packing_leaves(n - oversize),
		.capacity = capacity,
		.load = s.load,
		.bin = s.fresh_bin,
		.name = s.name,
		.slot = s.slot,
		.keys = s.keys,
		.work = s.work,
	};
	fresh.max_bins = packer->bins ? packer->bins(&fresh) : fresh.n;
	mts_packing_reset(&fresh);
	mts_packing_fill(&fresh);

	/* Both packings share all arrays but .bin: this overwrites the loads of the fresh one. */
	kept = fresh;
	kept.bin = s.kept_bin;
	best = &kept;
	if (!mts_packing_keep(&kept, &fresh)) {
		best = &fresh;
		name_bins(best);
	}

	nbins = pack_oversize(best, s.order, oversize);
	hand_out(best, items, n, nbins);
	return nbins;
}

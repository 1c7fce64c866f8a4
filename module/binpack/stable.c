// SPDX-License-Identifier: GPL-2.0
/*
 * Stable packing. A job that changes its bin at the end of a round may be evicted and brought back
 * at once. So jobs keep their bins unless that costs a bin.
 */
#include "binpack/packing.h"

/* Mark the slots of the last round's bins that still have items. */
static void mark_slots(struct mts_packing *p)
{
	u32 i;

	for (i = 0; i < MTS_MAX_JOBS; i++)
		p->slot[i] = MTS_BIN_NONE;
	for (i = 0; i < p->n; i++) {
		const struct mts_item *item = &p->items[p->order[i].index];

		if (!mts_item_is_newcomer(item))
			p->slot[item->prev] = 0;
	}
}

/* Open a bin for each marked slot, in order. */
static void open_bins(struct mts_packing *p)
{
	u32 i;

	p->nbins = 0;
	for (i = 0; i < MTS_MAX_JOBS; i++) {
		if (p->slot[i] == MTS_BIN_NONE)
			continue;
		p->load[p->nbins] = 0;
		p->name[p->nbins] = i;
		p->slot[i] = p->nbins++;
	}
}

/* Dissolve the smallest bins above the limit @max. */
static void break_up_smallest(struct mts_packing *p, u32 max)
{
	u32 i;

	for (i = 0; i < p->nbins; i++) {
		p->keys[i].value = 0;
		p->keys[i].index = i;
	}
	for (i = 0; i < p->n; i++) {
		const struct mts_item *item = &p->items[p->order[i].index];
		u64 *sum;

		if (mts_item_is_newcomer(item))
			continue;
		sum = &p->keys[p->slot[item->prev]].value;
		*sum = mts_add_sat(*sum, item->size);
	}
	mts_keys_sort(p->keys, p->nbins, p->work);
	for (i = max; i < p->nbins; i++)
		p->slot[p->name[p->keys[i].index]] = MTS_BIN_NONE;
}

/* No open bin stays empty, because its largest item always fits. */
static void keep_members(struct mts_packing *p, u64 limit)
{
	u32 i;

	for (i = 0; i < p->n; i++) {
		const struct mts_item *item = &p->items[p->order[i].index];
		u32 bin;

		if (mts_item_is_newcomer(item))
			continue;
		bin = p->slot[item->prev];
		if (bin != MTS_BIN_NONE && item->size <= limit - p->load[bin])
			mts_packing_add(p, &p->order[i], bin);
	}
}

static bool keep_within(struct mts_packing *p, const struct mts_packing *fresh, u64 limit)
{
	mts_packing_reset(p);
	mark_slots(p);
	open_bins(p);
	if (p->nbins > fresh->nbins) {
		break_up_smallest(p, fresh->nbins);
		open_bins(p);
	}
	if (!p->nbins)
		return false;

	keep_members(p, limit);
	mts_packing_fill(p);

	if (p->packer->bins && p->nbins != fresh->nbins)
		return false;
	return p->nbins <= fresh->nbins && p->fullest <= mts_max(p->capacity, fresh->fullest);
}

/*
 * Where bins may exceed the capacity (MTS_PACK_RW), they may be as full as the fullest bin of the
 * packing from scratch. So an accepted packing is accepted again while nothing changes. If that
 * leaves too few bins, try again within the capacity.
 */
bool mts_packing_keep(struct mts_packing *p, const struct mts_packing *fresh)
{
	if (fresh->fullest > p->capacity && keep_within(p, fresh, fresh->fullest))
		return true;
	return keep_within(p, fresh, p->capacity);
}

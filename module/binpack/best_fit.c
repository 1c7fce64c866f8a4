// SPDX-License-Identifier: GPL-2.0
/*
 * Best fit: the open bin with the least room that is enough.
 *
 * The numbers of the open bins are an array sorted by room, then by number.
 * Finding a place in it is a binary search; keeping it sorted moves up to all
 * of it, which for MTS_MAX_JOBS bins is 16 KiB: less work than a balanced tree
 * would be.
 */
#include "packing.h"

static void begin(struct mts_packing *p)
{
	u32 *open = p->work;
	u32 i;

	for (i = 0; i < p->nbins; i++) {
		p->keys[i].value = p->load[i];
		p->keys[i].index = i;
	}
	mts_keys_sort(p->keys, p->nbins, p->work, true);
	for (i = 0; i < p->nbins; i++)
		open[i] = p->keys[i].index;
}

/* Does the open bin at that place come before one with that load? */
static bool is_before(const struct mts_packing *p, u32 at, u64 load, u32 bin)
{
	const u32 *open = p->work;
	u64 its = p->load[open[at]];

	return its > load || (its == load && open[at] < bin);
}

/* Index of the first of n open bins that does not come before a bin with that load. */
static u32 lower_bound(const struct mts_packing *p, u32 n, u64 load, u32 bin)
{
	u32 low = 0;

	while (low < n) {
		u32 mid = low + (n - low) / 2;

		if (is_before(p, mid, load, bin))
			low = mid + 1;
		else
			n = mid;
	}
	return low;
}

/* No bin is beyond the capacity here, so the order of rooms is that of loads, turned round. */
static u32 place(struct mts_packing *p, u64 size)
{
	u32 from = lower_bound(p, p->nbins, p->capacity - size, 0);
	u32 *open = p->work;
	u32 bin = p->nbins;
	u64 load = size;
	u32 to = from;

	if (from < p->nbins) {
		bin = open[from];
		load += p->load[bin];
	}
	/* It will have less room than before, so it can only move to the front. */
	if (from && !is_before(p, from - 1, load, bin))
		to = lower_bound(p, from - 1, load, bin);
	memmove(&open[to + 1], &open[to], (from - to) * sizeof(*open));
	open[to] = bin;
	return bin;
}

const struct mts_packer mts_packer_bfd = {
	.begin = begin,
	.place = place,
};

// SPDX-License-Identifier: GPL-2.0
/*
 * Best fit: the open bin with the least room that is enough.
 *
 * The open bins are an array sorted by room, then by number. Finding a place
 * in it is a binary search; keeping it sorted moves up to all of it, which for
 * MTS_MAX_JOBS bins is 64 KiB: less work than a balanced tree would be.
 */
#include "packing.h"

static void begin(struct mts_packing *p)
{
	struct mts_key *open = p->work;
	u32 i;

	for (i = 0; i < p->nbins; i++) {
		open[i].value = mts_sub_floor(p->capacity, p->load[i]);
		open[i].index = i;
	}
	mts_sort(open, p->nbins, sizeof(*open), mts_key_ascending);
}

/* Index of the first of n keys that is not below the given one. */
static u32 lower_bound(const struct mts_key *open, u32 n, const struct mts_key *key)
{
	u32 low = 0;

	while (low < n) {
		u32 mid = low + (n - low) / 2;

		if (mts_key_ascending(&open[mid], key) < 0)
			low = mid + 1;
		else
			n = mid;
	}
	return low;
}

static u32 place(struct mts_packing *p, u64 size)
{
	struct mts_key *open = p->work;
	struct mts_key key = { .value = size, .index = 0 };
	u32 from = lower_bound(open, p->nbins, &key);
	u32 to;

	if (from < p->nbins)
		key = open[from];
	else
		key = (struct mts_key){ .value = p->capacity, .index = p->nbins };
	key.value -= size;

	/* It has less room than before, so it can only move to the front. */
	to = lower_bound(open, from, &key);
	memmove(&open[to + 1], &open[to], (from - to) * sizeof(*open));
	open[to] = key;
	return key.index;
}

const struct mts_packer mts_packer_bfd = {
	.begin = begin,
	.place = place,
};

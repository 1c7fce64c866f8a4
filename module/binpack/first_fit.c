// SPDX-License-Identifier: GPL-2.0
/*
 * First fit, with as many bins as it takes, or with a given number of bins.
 *
 * The leaves of a complete binary tree hold the room of each bin, an inner node the larger value of
 * its two children. A bin that is not open yet has all its room. So the search for the first bin
 * with room also decides when to open one.
 */
#include "binpack/packing.h"

static u64 room_of(const struct mts_packing *p, u32 bin)
{
	if (bin >= p->max_bins)
		return 0;
	return bin < p->nbins ? mts_sub_floor(p->capacity, p->load[bin]) : p->capacity;
}

static void begin(struct mts_packing *p)
{
	u32 leaves = p->leaves;
	u64 *room = p->work;
	u32 i;

	for (i = 0; i < leaves; i++)
		room[leaves + i] = room_of(p, i);
	for (i = leaves - 1; i; i--)
		room[i] = mts_max(room[2 * i], room[2 * i + 1]);
}

/*
 * If no bin has room, take the first bin with the most room, which is the smallest one. Bins beyond
 * the capacity all have the room of a full bin, but not all bins can be full: see bins_by_sum().
 * Zero bytes fit into bin 0, so they never reach the leaves behind the last bin.
 */
static u32 place(struct mts_packing *p, u64 size)
{
	u32 leaves = p->leaves;
	u64 *room = p->work;
	u64 want = mts_min(size, room[1]);
	u32 i = 1;
	u32 bin;

	while (i < leaves) {
		i *= 2;
		if (room[i] < want)
			i++;
	}
	bin = i - leaves;

	room[i] = mts_sub_floor(room[i], size);
	for (i /= 2; i; i /= 2) {
		u64 most = mts_max(room[2 * i], room[2 * i + 1]);

		if (room[i] == most)
			break;
		room[i] = most;
	}
	return bin;
}

/*
 * The sum of the sizes divided by the capacity, rounded up. Computed step by step, because the sum
 * may exceed 64 bits. Too small a result could make all bins full.
 */
static u32 bins_by_sum(const struct mts_packing *p)
{
	u64 room = 0; /* total capacity of the bins, less their items */
	u32 bins = 0;
	u32 i;

	for (i = 0; i < p->n; i++) {
		u64 size = p->order[i].value;

		if (size > room) {
			room += p->capacity; /* may wrap; the subtraction below wraps it back */
			bins++;
		}
		room -= size;
	}
	/* Items of 0 bytes alone need a bin, too. */
	return p->n && !bins ? 1 : bins;
}

const struct mts_packer mts_packer_ffd = {
	.begin = begin,
	.place = place,
};

const struct mts_packer mts_packer_rw = {
	.bins = bins_by_sum,
	.begin = begin,
	.place = place,
};

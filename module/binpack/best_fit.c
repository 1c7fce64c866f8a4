// SPDX-License-Identifier: GPL-2.0
/*
 * Best fit: choose the open bin with the least room that suffices.
 *
 * The open bins are an array, sorted by room, then by number. Finding a place is a binary search.
 * An insertion moves up to 8 KiB for MTS_MAX_JOBS bins, which is less work than a balanced tree.
 */
#include "binpack/packing.h"

struct open_bins {
	u32 near; /* index in @bin at which the last item found its bin */
	u16 bin[];
};

static void begin(struct mts_packing *p)
{
	struct open_bins *open = p->work;
	u32 i;

	for (i = 0; i < p->nbins; i++) {
		p->keys[i].value = p->load[i];
		p->keys[i].index = i;
	}
	mts_keys_sort(p->keys, p->nbins, p->work);
	for (i = 0; i < p->nbins; i++)
		open->bin[i] = p->keys[i].index;
	open->near = p->nbins;
}

/* The load of the open bin at index @at. */
static u64 load_at(const struct mts_packing *p, u32 at)
{
	const struct open_bins *open = p->work;

	return p->load[open->bin[at]];
}

/* Does the open bin at index @at sort before bin @bin with load @load? */
static bool is_before(const struct mts_packing *p, u32 at, u64 load, u32 bin)
{
	const struct open_bins *open = p->work;
	u64 its = load_at(p, at);

	return its > load || (its == load && open->bin[at] < bin);
}

/* Index of the first of @n open bins that does not sort before bin @bin with load @load. */
static u32 lower_bound(const struct mts_packing *p, u32 n, u64 load, u32 bin)
{
	u32 low = 0;

	/* The usual case: the bin keeps its place. */
	if (!n || is_before(p, n - 1, load, bin))
		return n;
	n--;
	while (low < n) {
		u32 mid = low + (n - low) / 2;

		if (is_before(p, mid, load, bin))
			low = mid + 1;
		else
			n = mid;
	}
	return low;
}

/*
 * Index of the first open bin that holds at most @load. Items come in decreasing size, so the
 * result is never behind the bin of the last item, and mostly close to it. Hence the exponential
 * search.
 */
static u32 first_with_room(const struct mts_packing *p, u64 load)
{
	const struct open_bins *open = p->work;
	u32 high = mts_min(open->near + 1, p->nbins), low = 0, step;

	for (step = 1; high; step *= 2) {
		u32 at = mts_sub_floor(high, step);

		if (load_at(p, at) > load) {
			low = at + 1;
			break;
		}
		high = at;
	}
	while (low < high) {
		u32 mid = low + (high - low) / 2;

		if (load_at(p, mid) > load)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

/* No load exceeds the capacity here, so the order by room is the reverse of the order by load. */
static u32 place(struct mts_packing *p, u64 size)
{
	struct open_bins *open = p->work;
	u32 from = first_with_room(p, p->capacity - size);
	u32 bin = p->nbins;
	u64 load = size;
	u32 to;

	if (from < p->nbins) {
		bin = open->bin[from];
		load += p->load[bin];
	}
	/* The bin loses room, so it can only move to the front. */
	to = lower_bound(p, from, load, bin);
	memmove(&open->bin[to + 1], &open->bin[to], (from - to) * sizeof(open->bin[0]));
	open->bin[to] = bin;
	open->near = from;
	return bin;
}

const struct mts_packer mts_packer_bfd = {
	.begin = begin,
	.place = place,
};

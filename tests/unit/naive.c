// SPDX-License-Identifier: GPL-2.0
/* Packing as the textbooks have it: the reference for the code under test. */
#include "unit.h"

static const struct instance *sorting;

static int larger_first(const void *a, const void *b)
{
	u32 x = *(const u32 *)a, y = *(const u32 *)b;

	if (sorting->items[x].size != sorting->items[y].size)
		return sorting->items[x].size > sorting->items[y].size ? -1 : 1;
	return x < y ? -1 : 1;
}

static u32 sort_sizes(const struct instance *in, u32 *order)
{
	u32 oversize = 0;
	u32 i;

	for (i = 0; i < in->n; i++)
		order[i] = i;
	sorting = in;
	qsort(order, in->n, sizeof(*order), larger_first);
	while (oversize < in->n && in->items[order[oversize]].size > in->capacity)
		oversize++;
	return oversize;
}

static u32 choose(u32 packer, const u128 *load, u32 nbins, u128 capacity, u64 size)
{
	u32 best = nbins;
	u32 i;

	for (i = 0; i < nbins; i++) {
		if (size && load[i] + size > capacity)
			continue;
		if (packer != MTS_PACK_BFD)
			return i;
		if (best == nbins || load[i] > load[best])
			best = i;
	}
	return best;
}

static u32 smallest(const u128 *load, u32 nbins)
{
	u32 best = 0;
	u32 i;

	for (i = 1; i < nbins; i++)
		if (load[i] < load[best])
			best = i;
	return best;
}

static u32 rw_bins(const struct instance *in, const u32 *order, u32 from)
{
	u128 sum = 0;

	if (from == in->n)
		return 0;
	for (; from < in->n; from++)
		sum += in->items[order[from]].size;
	return sum ? (sum + in->capacity - 1) / in->capacity : 1;
}

u32 naive_pack(u32 packer, const struct instance *in, u32 *bin)
{
	static u128 load[UNIT_MAX_ITEMS];
	static u32 order[UNIT_MAX_ITEMS];
	u32 oversize = sort_sizes(in, order);
	u32 nbins = 0;
	u32 i;

	memset(load, 0, sizeof(load));
	if (packer == MTS_PACK_RW)
		nbins = rw_bins(in, order, oversize);
	for (i = oversize; i < in->n; i++) {
		u64 size = in->items[order[i]].size;
		u32 b = choose(packer, load, nbins, in->capacity, size);

		if (b == nbins && packer == MTS_PACK_RW)
			b = smallest(load, nbins);
		else if (b == nbins)
			nbins++;
		load[b] += size;
		bin[order[i]] = b;
	}
	for (i = 0; i < oversize; i++)
		bin[order[i]] = nbins + i;
	return nbins + oversize;
}

/* Items are placed largest first, each into every bin of a different load. */
struct search {
	const struct instance *in;
	u32 order[16];
	u128 load[16];
	u32 best;
};

static void place_next(struct search *s, u32 i, u32 nbins)
{
	u64 size;
	u32 b, other;

	if (nbins >= s->best)
		return;
	if (i == s->in->n) {
		s->best = nbins;
		return;
	}
	size = s->in->items[s->order[i]].size;
	for (b = 0; b <= nbins; b++) {
		for (other = 0; other < b && s->load[other] != s->load[b]; other++)
			;
		if (other < b || s->load[b] + size > s->in->capacity)
			continue;
		s->load[b] += size;
		place_next(s, i + 1, nbins + (b == nbins));
		s->load[b] -= size;
	}
}

u32 optimal_bins(const struct instance *in)
{
	struct search s = { .in = in, .best = in->n + 1 };
	u32 oversize;

	assert_true(in->n < ARRAY_SIZE(s.order));
	oversize = sort_sizes(in, s.order);
	place_next(&s, oversize, 0);
	return s.best + oversize;
}

// SPDX-License-Identifier: GPL-2.0
/* Instances of the packing problem: made, packed, checked. */
#include "unit.h"

const u32 unit_packers[3] = { MTS_PACK_FFD, MTS_PACK_BFD, MTS_PACK_RW };

void instance_clear(struct instance *in, u64 capacity)
{
	in->capacity = capacity;
	in->n = 0;
}

void instance_add(struct instance *in, u64 size, u32 prev)
{
	assert_true(in->n < UNIT_MAX_ITEMS);
	in->items[in->n++] = (struct mts_item){ size, prev, 0xdead };
}

void instance_remove(struct instance *in, u32 index)
{
	in->n--;
	memmove(&in->items[index], &in->items[index + 1], (in->n - index) * sizeof(in->items[0]));
}

void instance_shuffle(struct instance *in)
{
	u32 i;

	for (i = in->n; i > 1; i--) {
		u32 other = random_below(i);
		struct mts_item item = in->items[i - 1];

		in->items[i - 1] = in->items[other];
		in->items[other] = item;
	}
}

static u64 random_capacity(void)
{
	static const u64 some[] = { 1, 2, 7, 10, 12, 100, 101, 1000, 4 * GIB, 1ull << 50 };

	return some[random_below(ARRAY_SIZE(some))];
}

static u64 random_size(u32 kind, u64 c)
{
	switch (kind) {
	case 0: /* anything */
		return random_between(0, c);
	case 1: /* small ones */
		return random_between(0, c / 4);
	case 2: /* few fit together */
		return random_between(c / 5, c / 2 + 1);
	case 3: /* the worst sizes for first fit: around 1/2, 1/3, 1/6, 1/7 */
		return c / (u64[]){ 2, 3, 6, 7 }[random_below(4)] + random_below(3);
	case 4: /* many alike */
		return c / 10 * random_between(0, 4);
	case 5: /* with oversize ones */
		return random_between(0, c + c / 8 + 1);
	default: /* powers of two, with the largest that there are */
		return 1ull << random_below(64);
	}
}

void instance_random(struct instance *in, u32 max_n)
{
	u32 n = random_between(1, max_n);
	u32 kind = random_below(8);
	u64 c = random_capacity();

	if (kind == 6)
		c = random_below(2) ? 1ull << 63 : random_u64();
	if (kind == 7)
		c = random_below(2) ? U64_MAX : 1ull << random_below(64);
	instance_clear(in, c);
	while (in->n < n) {
		u64 size = kind == 6 ? random_u64() : random_size(kind, c);

		if (!random_below(20))
			size = 0;
		instance_add(in, size, MTS_BIN_NONE);
	}
}

void instance_random_prev(struct instance *in)
{
	static const u32 odd[] = { MTS_BIN_NONE,     MTS_BIN_EVERY,    MTS_MAX_JOBS,
				   MTS_MAX_JOBS + 1, MTS_MAX_JOBS - 1, 0 };
	u32 bins = random_between(1, in->n);
	u32 gap = random_between(1, MTS_MAX_JOBS / UNIT_MAX_ITEMS + 3);
	u32 i;

	for (i = 0; i < in->n; i++)
		in->items[i].prev = random_below(8) ? random_below(bins) * gap :
						      odd[random_below(ARRAY_SIZE(odd))];
}

void instance_forget_prev(struct instance *in)
{
	u32 i;

	for (i = 0; i < in->n; i++)
		in->items[i].prev = MTS_BIN_NONE;
}

void instance_next_round(struct instance *in)
{
	u32 i;

	for (i = 0; i < in->n; i++)
		in->items[i].prev = in->items[i].bin;
}

u128 load_of(const struct instance *in, u32 bin)
{
	u128 load = 0;
	u32 i;

	for (i = 0; i < in->n; i++)
		if (in->items[i].bin == bin)
			load += in->items[i].size;
	return load;
}

static bool is_oversize(const struct instance *in, u32 i)
{
	return in->items[i].size > in->capacity;
}

u128 fullest_of(const struct instance *in)
{
	u128 fullest = 0;
	u32 i;

	for (i = 0; i < in->n; i++) {
		u128 load = is_oversize(in, i) ? 0 : load_of(in, in->items[i].bin);

		fullest = load > fullest ? load : fullest;
	}
	return fullest;
}

static u32 count_by_sum(const struct instance *in)
{
	u32 oversize = 0, others = 0, bins;
	u128 sum = 0;
	u32 i;

	for (i = 0; i < in->n; i++) {
		if (is_oversize(in, i)) {
			oversize++;
		} else {
			others++;
			sum += in->items[i].size;
		}
	}
	bins = in->capacity ? (sum + in->capacity - 1) / in->capacity : 0;
	if (others && !bins)
		bins = 1;
	return oversize + bins;
}

static void check_packing(u32 packer, const struct instance *in, u32 nbins)
{
	u128 *load = calloc(in->n + 1, sizeof(*load));
	u32 *members = calloc(in->n + 1, sizeof(*members));
	u32 i;

	check(nbins <= in->n);
	check(!in->n || nbins);
	for (i = 0; i < in->n; i++) {
		check(in->items[i].bin < nbins);
		load[in->items[i].bin] += in->items[i].size;
		members[in->items[i].bin]++;
	}
	for (i = 0; i < nbins; i++)
		check(members[i]);
	for (i = 0; i < in->n; i++) {
		if (is_oversize(in, i))
			check(members[in->items[i].bin] == 1);
		else if (packer == MTS_PACK_RW)
			check(load[in->items[i].bin] <= in->capacity ||
			      load[in->items[i].bin] < 2 * (u128)in->capacity);
		else
			check(load[in->items[i].bin] <= in->capacity);
	}
	if (packer == MTS_PACK_RW)
		check(nbins == count_by_sum(in));
	free(load);
	free(members);
}

/* Memory of exactly the size asked for, so that the sanitizer guards its end. */
static int pack_in(u32 packer, struct instance *in, struct mts_item *items, int filling)
{
	size_t bytes = mts_binpack_scratch(in->n);
	void *scratch = malloc(bytes);
	int nbins;

	memset(scratch, filling, bytes);
	nbins = mts_binpack(packer, items, in->n, in->capacity, scratch);
	free(scratch);
	return nbins;
}

u32 pack(u32 packer, struct instance *in)
{
	size_t bytes = in->n * sizeof(in->items[0]);
	struct mts_item *again = malloc(bytes + 1), *before = malloc(bytes + 1);
	int nbins;
	u32 i;

	memcpy(again, in->items, bytes);
	memcpy(before, in->items, bytes);
	nbins = pack_in(packer, in, in->items, 0);
	check(nbins >= 0);
	check(pack_in(packer, in, again, 0xa5) == nbins);
	check(!memcmp(again, in->items, bytes));
	for (i = 0; i < in->n; i++) {
		check(in->items[i].size == before[i].size);
		check(in->items[i].prev == before[i].prev);
	}
	free(again);
	free(before);
	check_packing(packer, in, nbins);
	return nbins;
}

static bool same(u32 a, u32 b)
{
	return a == b;
}

bool same_groups(const struct instance *in, const u32 *bin)
{
	u32 i, j;

	for (i = 0; i < in->n; i++)
		for (j = i + 1; j < in->n; j++)
			if (same(in->items[i].bin, in->items[j].bin) != same(bin[i], bin[j]))
				return false;
	return true;
}

bool none_moved(const struct instance *in)
{
	u32 prev[UNIT_MAX_ITEMS];
	u32 i;

	for (i = 0; i < in->n; i++)
		prev[i] = in->items[i].prev;
	return same_groups(in, prev);
}

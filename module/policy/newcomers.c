// SPDX-License-Identifier: GPL-2.0
/* Jobs that arrive during a round. */
#include "policy/newcomers.h"

static u32 power_of_two(u32 n)
{
	u32 power = 1;

	while (power < n)
		power <<= 1;
	return power;
}

/* Half of the table stays free, so that a search is short. */
static u32 slots_for(u32 njobs)
{
	return 2 * power_of_two(njobs);
}

size_t mts_newcomers_scratch(u32 n)
{
	return slots_for(n) * sizeof(struct mts_family) + 2 * power_of_two(n) * sizeof(u64);
}

static u64 room_of(const struct mts_plan_bin *bin, u64 capacity)
{
	return bin->demand > capacity ? 0 : mts_add_sat(capacity - bin->demand, 1);
}

void mts_newcomers_begin(struct mts_newcomers *all, const struct mts_plan_bin *bins, u32 nbins,
			 u64 capacity, u32 njobs, void *scratch)
{
	u32 i;

	all->families = scratch;
	all->slots = slots_for(njobs);
	memset(all->families, 0, all->slots * sizeof(*all->families));
	all->room = (u64 *)(all->families + all->slots);
	all->leaves = power_of_two(nbins);
	for (i = 0; i < all->leaves; i++)
		all->room[all->leaves + i] = i < nbins ? room_of(&bins[i], capacity) : 0;
	for (i = all->leaves - 1; i; i--)
		all->room[i] = mts_max(all->room[2 * i], all->room[2 * i + 1]);
	all->capacity = capacity;
	all->running = 0;
	for (i = 0; i < nbins; i++)
		if (bins[i].runs)
			all->running = mts_add_sat(all->running, bins[i].demand);
}

/* The parent's entry, or the free one in which it would be. Ids are dense: spread them. */
static struct mts_family *family_of(const struct mts_newcomers *all, u32 parent)
{
	u32 i = parent * 2654435761u; /* Knuth, The Art of Computer Programming, section 6.4 */

	for (i ^= i >> 16;; i++) {
		struct mts_family *family = &all->families[i & (all->slots - 1)];

		if (!family->n || family->parent == parent)
			return family;
	}
}

void mts_newcomers_note(struct mts_newcomers *all, u32 parent, u64 demand)
{
	struct mts_family *family;

	if (!parent)
		return;
	family = family_of(all, parent);
	family->parent = parent;
	family->n++;
	family->demand = mts_add_sat(family->demand, demand);
}

u64 mts_newcomers_demand(const struct mts_newcomers *all, u32 parent, u64 demand)
{
	const struct mts_family *family = parent ? family_of(all, parent) : NULL;

	if (!family || !family->n)
		return demand;
	return mts_max(demand, div64_u64(family->demand, family->n));
}

/* The first bin from @from on that has @room; MTS_BIN_NONE: none. */
static u32 first_from(const struct mts_newcomers *all, u32 from, u64 room)
{
	u32 i = all->leaves + from;

	while (all->room[i] < room) {
		/* To the next subtree on the right. */
		while (i & 1)
			i >>= 1;
		if (!i++)
			return MTS_BIN_NONE;
	}
	while (i < all->leaves) {
		i *= 2;
		if (all->room[i] < room)
			i++;
	}
	return i - all->leaves;
}

u32 mts_newcomers_bin(const struct mts_newcomers *all, u32 running, u64 demand)
{
	u64 room = mts_add_sat(demand, 1);
	u32 bin = first_from(all, running < all->leaves ? running : 0, room);

	return bin == MTS_BIN_NONE ? first_from(all, 0, room) : bin;
}

void mts_newcomers_take(struct mts_newcomers *all, u32 bin, u64 demand)
{
	u32 i = all->leaves + bin;

	all->room[i] = mts_sub_floor(all->room[i], demand);
	for (i >>= 1; i; i >>= 1)
		all->room[i] = mts_max(all->room[2 * i], all->room[2 * i + 1]);
}

bool mts_newcomers_fits_beside(const struct mts_newcomers *all, u64 demand)
{
	return mts_add_sat(all->running, demand) <= all->capacity;
}

void mts_newcomers_take_beside(struct mts_newcomers *all, u64 demand)
{
	all->running = mts_add_sat(all->running, demand);
}

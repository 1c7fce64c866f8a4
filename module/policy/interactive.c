// SPDX-License-Identifier: GPL-2.0
/* Which jobs are interactive, and which of them are exempt. */
#include "policy/interactive.h"

#include "binpack/sort.h"

/* Layout of a credit (interactive.h): the time lies above the amount. */
#define STAMP_SHIFT 16
/* Events within this time count once, ms: a repeating key is one input. */
#define EVENT_MS 100u
/* A job becomes interactive at BEGIN_CREDIT. It stays so down to END_CREDIT: hysteresis. */
#define BEGIN_CREDIT MTS_CREDIT_UNIT
#define END_CREDIT (MTS_CREDIT_UNIT / 4)
/* Shortest time that a job is interactive, ms: longer than usual pauses in typing. */
#define LEAST_MS 10000u

static u64 stamp_of(u64 credit)
{
	return credit >> STAMP_SHIFT;
}

static u32 amount_of(u64 credit)
{
	return credit & ((1u << STAMP_SHIFT) - 1);
}

u32 mts_credit_now(u64 credit, u64 now_ms)
{
	/* Two processors may read their clocks in either order. */
	u64 age = mts_sub_floor(now_ms, stamp_of(credit));
	u64 halvings = age / MTS_CREDIT_HALF_LIFE_MS;
	u32 amount = amount_of(credit);

	if (halvings >= STAMP_SHIFT)
		return 0;
	amount >>= halvings;
	/* Linear between two halvings. */
	return amount -
	       amount * (u32)(age % MTS_CREDIT_HALF_LIFE_MS) / (2 * MTS_CREDIT_HALF_LIFE_MS);
}

u64 mts_credit_add(u64 credit, u64 now_ms, u32 amount)
{
	u64 sum;

	if (credit && now_ms < stamp_of(credit) + EVENT_MS)
		return credit;
	sum = mts_min(mts_credit_now(credit, now_ms) + (u64)amount, MTS_CREDIT_CAP);
	return now_ms << STAMP_SHIFT | sum;
}

/* Time until less than END_CREDIT is left, ms. */
static u64 lasts_ms(u32 amount)
{
	u64 ms = 0;

	if (amount < END_CREDIT)
		return 0;
	for (; amount >= 2 * END_CREDIT; amount /= 2)
		ms += MTS_CREDIT_HALF_LIFE_MS;
	return ms + 2 * MTS_CREDIT_HALF_LIFE_MS * (amount - END_CREDIT) / amount;
}

u64 mts_interactive_until(u64 credit, u64 until_ms)
{
	u64 now_ms = stamp_of(credit), lasts = lasts_ms(amount_of(credit));

	if (amount_of(credit) >= BEGIN_CREDIT)
		lasts = mts_max(lasts, LEAST_MS);
	else if (until_ms <= now_ms)
		return until_ms;
	return mts_max(until_ms, now_ms + lasts);
}

u32 mts_trail_step(u64 trail, u64 now_ms)
{
	u64 then = trail >> MTS_TRAIL_SHIFT;

	if (!trail || mts_sub_floor(now_ms, then) >= MTS_TRAIL_MS)
		return MTS_STEP_MAX + 1;
	return trail & MTS_STEP_MAX;
}

u64 mts_trail_add(u64 trail, u64 now_ms, u32 step)
{
	if (mts_trail_step(trail, now_ms) <= step && step)
		return trail;
	return now_ms << MTS_TRAIL_SHIFT | step;
}

size_t mts_interactive_scratch(u32 n)
{
	return 2 * n * sizeof(struct mts_key);
}

u64 mts_interactive_grant(struct mts_claim *claims, u32 n, u64 limit, void *scratch)
{
	struct mts_key *keys = scratch;
	u32 i;

	for (i = 0; i < n; i++) {
		keys[i].value = claims[i].last_input_ns;
		keys[i].index = i;
	}
	mts_keys_sort(keys, n, keys + n);
	for (i = 0; i < n; i++) {
		struct mts_claim *claim = &claims[keys[i].index];

		claim->granted = claim->demand <= limit;
		if (claim->granted)
			limit -= claim->demand;
	}
	return limit;
}

// SPDX-License-Identifier: GPL-2.0
/* Whether taking turns pays. */
#include "policy.h"

/* A window's length: long against the ticks that processor time is counted in. */
#define WINDOW_NS (200ull * 1000000)
/* A window that nobody closed in this time says nothing of now. */
#define STALE_NS (10ull * 1000000000)
/* Per mille: who gets this much of what it wants loses little to swapping. */
#define COPES 750u
/* Swap-ins a second from which on the jobs may wait for them; a slow disk does 200. */
#define SWAPS_PER_S 10u
#define HOLD_MIN_NS (30ull * 1000000000)
#define HOLD_MAX_NS (600ull * 1000000000)
/* Rounds in a row that must be poor; a single one may have a start or an end in it. */
#define POOR_ROUNDS 2u
#define JUDGED_NS (1ull * 1000000000)

/* Per mille; may exceed 1000, as time is counted in ticks and children are added when they end. */
static u32 share_of(u64 user_ns, u64 elapsed_ns, u32 wanting)
{
	u64 most = elapsed_ns / 1000 * mts_max(wanting, 1u);

	return most ? mts_min(user_ns / most, 10000) : 0;
}

void mts_admission_look(struct mts_admission *a, u64 now, u64 user_ns, u64 swapins, u32 wanting)
{
	u64 elapsed = now - a->began;

	a->user_ns = mts_add_sat(a->user_ns, user_ns);
	if (a->began && elapsed < WINDOW_NS)
		return;
	if (a->began && elapsed < STALE_NS) {
		a->share = share_of(a->user_ns, elapsed, wanting);
		a->wanting = wanting;
		a->pays = a->share < COPES &&
			  (swapins - a->swapins) * 1000000000 >= SWAPS_PER_S * elapsed;
	} else {
		a->pays = false;
	}
	a->began = now;
	a->user_ns = 0;
	a->swapins = swapins;
}

bool mts_admission_holds(const struct mts_admission *a, u64 now)
{
	return now < a->hold_until;
}

bool mts_admission_pays(const struct mts_admission *a, u64 now)
{
	return a->pays && !mts_admission_holds(a, now);
}

void mts_admission_retry(struct mts_admission *a)
{
	a->hold_until = 0;
	a->hold_ns = 0;
	a->poor = 0;
}

void mts_admission_begin(struct mts_admission *a)
{
	a->before = a->share;
	a->rounds = 0;
	a->poor = 0;
}

void mts_admission_end(struct mts_admission *a)
{
	a->began = 0;
	a->user_ns = 0;
	a->pays = false;
}

void mts_admission_round(struct mts_admission *a, u64 now, u64 user_ns, u64 elapsed_ns)
{
	if (elapsed_ns < JUDGED_NS)
		return;
	a->during = share_of(user_ns, elapsed_ns, a->wanting);
	if (a->during >= a->before) {
		a->poor = 0;
		if (++a->rounds >= POOR_ROUNDS)
			a->hold_ns = 0;
		return;
	}
	if (++a->poor < POOR_ROUNDS)
		return;
	a->hold_ns = mts_min(mts_max(2 * a->hold_ns, HOLD_MIN_NS), HOLD_MAX_NS);
	a->hold_until = mts_add_sat(now, a->hold_ns);
}

// SPDX-License-Identifier: GPL-2.0
/* What of a job's memory its last slices used, and what follows. */
#include "policy/working_set.h"

/* Less than an eighth of the job is not worth the watching. */
#define WORTH_SHIFT 3
/*
 * A page that is wanted after all is a fault of its own: a request of 100 us on an SSD,
 * of some ms on a rotating disk, where in bulk it takes 10 to 160 us. So that leaving
 * pages out pays on both, few may be wanted.
 */
#define MISSES_SHIFT 5
#define MISSES_FREE 16
/* Slices in which all comes back: 2, 4 … 256. */
#define DISTRUST_MAX 8

bool mts_working_set_fills(const struct mts_slice_use *use)
{
	return use->grown > mts_add_sat(use->used, use->unused) >> WORTH_SHIFT;
}

void mts_working_set_note(struct mts_working_set *ws, const struct mts_slice_use *use)
{
	if (ws->distrusted)
		ws->distrusted--;
	if (use->missed > MISSES_FREE && use->missed > use->left >> MISSES_SHIFT) {
		ws->mistakes = mts_min(ws->mistakes + 1, DISTRUST_MAX);
		ws->distrusted = 1u << ws->mistakes;
	} else if (use->left && ws->mistakes) {
		ws->mistakes--;
	}
	ws->used = use->used;
	ws->unused = use->unused;
}

u64 mts_working_set_spare(const struct mts_working_set *ws, u64 demand)
{
	u64 spare = mts_min(ws->unused, mts_sub_floor(demand, ws->used));

	return ws->distrusted || spare < demand >> WORTH_SHIFT ? 0 : spare;
}

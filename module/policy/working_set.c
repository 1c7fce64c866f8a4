// SPDX-License-Identifier: GPL-2.0
/* A job's working set: the memory that its last slices used. */
#include "policy/working_set.h"

/*
 * Unused memory below 1/8 of the job is not worth leaving out: it saves little, and errors cost
 * faults.
 */
#define WORTH_SHIFT 3
/*
 * A page that was left out and is needed after all costs a fault of its own: 100 us on an SSD, some
 * ms on a rotating disk. In bulk a page takes 10 to 160 us. So leaving pages out pays only if few
 * of them are missed: at most 16 pages, or 1/32 of those left out.
 */
#define MISSES_SHIFT 5
#define MISSES_FREE 16
/* Backoff: everything comes back for 2, 4 ... 256 slices, by the number of recent mistakes. */
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

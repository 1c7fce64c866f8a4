/* SPDX-License-Identifier: GPL-2.0 */
/* What the rounds of a plan will swap: bytes. Pure code (pure.h). */
#ifndef _MTS_POLICY_TRAFFIC_H
#define _MTS_POLICY_TRAFFIC_H

#include "policy/bins.h"

/**
 * mts_plan_traffic() - what a round will swap, once the rotation is under way
 * @conf, @bins, @plan, @scratch: of mts_plan_round(); .swap_out_bytes and
 *	.swap_in_bytes of @plan are set
 *
 * MTS_EVICT_FULL moves every bin out and in once a round. MTS_EVICT_NEED and
 * MTS_EVICT_OFF move what does not fit: worked out by rotating the bins' sizes
 * through the capacity, evicting first the bin that runs again last, until
 * memory is as it was at the end of an earlier round; rounds differ, so it is
 * the mean of the rounds in between (of 64 rounds, if it takes longer than
 * that). What an overfull bin moves within its slice is not in it: each bin
 * counts for at most the capacity.
 *
 * Apart, because it is for people to read: the rotor does not need it, and for
 * thousands of bins it takes ten times as long as the plan itself.
 */
void mts_plan_traffic(const struct mts_plan_conf *conf, const struct mts_plan_bin *bins,
		      struct mts_plan *plan, void *scratch);

/* Bytes of scratch memory that it needs for n bins. */
size_t mts_plan_traffic_scratch(u32 n);

#endif /* _MTS_POLICY_TRAFFIC_H */

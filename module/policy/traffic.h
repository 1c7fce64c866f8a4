/* SPDX-License-Identifier: GPL-2.0 */
/* Swap traffic of a plan's rounds: bytes. Pure code (pure.h). */
#ifndef _MTS_POLICY_TRAFFIC_H
#define _MTS_POLICY_TRAFFIC_H

#include "policy/bins.h"

/**
 * mts_plan_traffic() - predict what a round swaps once turns are under way
 * @conf: as for mts_plan_round()
 * @bins: the same
 * @plan: the same; .swap_out_bytes and .swap_in_bytes are set
 * @scratch: as for mts_plan_round()
 *
 * MTS_EVICT_FULL moves every bin out and in once per round. MTS_EVICT_NEED and MTS_EVICT_OFF move
 * what does not fit. This is simulated: bins take turns in the capacity, and the bin that runs
 * again last is evicted first. The result is the mean over a cycle of rounds, or over 64 rounds if
 * no cycle is found. Traffic of an overfull bin within its slice is not included: each bin counts
 * for at most the capacity. Each of the bins that overlap goes out and in once a round.
 *
 * The rotor does not call this: the figures are for users, and for thousands of bins they take ten
 * times as long as the plan.
 */
void mts_plan_traffic(const struct mts_plan_conf *conf, const struct mts_plan_bin *bins,
		      struct mts_plan *plan, void *scratch);

/* Scratch memory for n bins, bytes. */
size_t mts_plan_traffic_scratch(u32 n);

#endif /* _MTS_POLICY_TRAFFIC_H */

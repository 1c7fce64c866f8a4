// SPDX-License-Identifier: GPL-2.0
/* How much a switch evicts. */
#include "policy/evict.h"

/* Slack of MTS_EVICT_NEED, 1/16. Less: jobs reclaim in their slice; more: slower switches. */
#define SLACK_SHIFT 4
/* MTS_EVICT_AUTO: switches that take more than this part of a round are too expensive. */
#define EXPENSIVE_PART 4

u32 mts_policy_evict_how(u32 evict, u32 before, const struct mts_plan *plan, bool disk_is_slow)
{
	if (evict != MTS_EVICT_AUTO)
		return evict;
	if (!plan)
		return MTS_EVICT_FULL;
	if (before == MTS_EVICT_NEED)
		return before;
	return plan->nbins >= 2 && !disk_is_slow &&
			       plan->run_ns < plan->round_ns - plan->round_ns / EXPENSIVE_PART ?
		       MTS_EVICT_NEED :
		       MTS_EVICT_FULL;
}

u64 mts_policy_evict(u32 evict, u64 outgoing_resident, u64 incoming_demand, u64 incoming_resident,
		     u64 available)
{
	u64 lack;

	switch (evict) {
	case MTS_EVICT_AUTO: /* for callers without mts_policy_evict_how() */
	case MTS_EVICT_FULL:
		return outgoing_resident;
	case MTS_EVICT_NEED:
		lack = mts_sub_floor(incoming_demand, incoming_resident);
		return mts_sub_floor(mts_add_sat(lack, lack >> SLACK_SHIFT), available);
	default:
		return 0;
	}
}

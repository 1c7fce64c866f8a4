// SPDX-License-Identifier: GPL-2.0
/* What a switch moves. */
#include "policy.h"

#define SLACK_SHIFT 4

u64 mts_policy_evict(u32 evict, u64 outgoing_resident, u64 incoming_demand, u64 incoming_resident,
		     u64 available)
{
	u64 lack;

	switch (evict) {
	case MTS_EVICT_FULL:
		return outgoing_resident;
	case MTS_EVICT_NEED:
		lack = mts_sub_floor(incoming_demand, incoming_resident);
		return mts_sub_floor(mts_add_sat(lack, lack >> SLACK_SHIFT), available);
	default:
		return 0;
	}
}

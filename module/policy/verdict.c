// SPDX-License-Identifier: GPL-2.0
#include "policy/verdict.h"

#define HOLD_MIN_NS (30ull * 1000000000)
#define HOLD_MAX_NS (600ull * 1000000000)
#define CHANGE_SHIFT 3

void mts_verdict_give(struct mts_verdict *verdict, u32 reason, u64 now)
{
	u64 hold = mts_min(mts_max(2 * verdict->hold_ns, HOLD_MIN_NS), HOLD_MAX_NS);

	*verdict = (struct mts_verdict){
		.reason = reason,
		.hold_ns = hold,
		.until = mts_add_sat(now, hold),
	};
}

bool mts_verdict_holds(const struct mts_verdict *verdict, u64 now)
{
	return now < verdict->until;
}

static bool is_other(u64 then, u64 now)
{
	return now > mts_add_sat(then, then >> CHANGE_SHIFT) || now < then - (then >> CHANGE_SHIFT);
}

bool mts_grounds_differ(const struct mts_grounds *then, const struct mts_grounds *now)
{
	return is_other(then->demand, now->demand) || is_other(then->exempt, now->exempt) ||
	       is_other(then->capacity, now->capacity) || is_other(then->jobs, now->jobs) ||
	       then->processors != now->processors;
}

bool mts_verdict_review(struct mts_verdict *verdict, const struct mts_grounds *grounds)
{
	const struct mts_grounds *then = &verdict->grounds;

	if (!verdict->until)
		return false;
	if (!then->capacity) {
		verdict->grounds = *grounds;
		return false;
	}
	if (!mts_grounds_differ(then, grounds))
		return false;
	mts_verdict_forget(verdict);
	return true;
}

void mts_verdict_forget(struct mts_verdict *verdict)
{
	*verdict = (struct mts_verdict){ 0 };
}

/* SPDX-License-Identifier: GPL-2.0 */
/* How long a job holds the token (token.h), for those that foretell it. Pure code (pure.h). */
#ifndef _MTS_POLICY_HOLDING_H
#define _MTS_POLICY_HOLDING_H

#include "policy/pure.h"
#include "uapi/mts.h"

/*
 * A job holds for this time at most when its memory has come, ns. The paper has no limit, and
 * Goichon et al. 2013 object that the rest then starves.
 */
#define MTS_TOKEN_HOLD_NS (10ull * 1000000000)
/*
 * Where to fetch it takes long, a job holds for so many times as long: a fifth of a holding is
 * fetching. A job of 6 GiB fetches for a minute, page by page, and would lose the token before.
 * But no longer than a job for which no user waits may be frozen.
 */
#define MTS_TOKEN_FETCHES 4u

/* Jobs that run for this part of what they could do not thrash, per mille: the paper's CPU_Low. */
#define MTS_TOKEN_RUN_LOW 400u

/* How long a job holds when its memory has come, which took so long; ns. */
static inline u64 mts_token_hold_ns(u64 fetch_ns)
{
	u64 fetches = MTS_TOKEN_FETCHES * mts_min(fetch_ns, MTS_PAUSE_UNATTENDED_NS);

	return mts_min(mts_max(MTS_TOKEN_HOLD_NS, fetches), MTS_PAUSE_UNATTENDED_NS);
}

#endif /* _MTS_POLICY_HOLDING_H */

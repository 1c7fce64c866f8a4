/* SPDX-License-Identifier: GPL-2.0 */
/* What switches have taken: nanoseconds. Pure code (pure.h). */
#ifndef _MTS_POLICY_SWITCHES_H
#define _MTS_POLICY_SWITCHES_H

#include "policy/bins.h"

/**
 * struct mts_switches - zeros: no turns were ever taken
 * @adds_ns: what one adds to a round, a moving average; 0: not known
 * @slowest_ns: of late; falls by an eighth a switch
 * @are_new: none yet since turns began, or @evict changed
 * @evict: what the configured one comes to; never MTS_EVICT_AUTO
 * @asked: the configured one, then
 */
struct mts_switches {
	u64 adds_ns;
	u64 slowest_ns;
	bool are_new;
	u32 evict;
	u32 asked;
};

/**
 * mts_switches_plan() - how those of a round that has been planned will be
 * @evict: enum mts_evict, as configured
 * @plan, @disk_is_slow: as for mts_policy_evict_how()
 * @rotates: there are turns already, which this round goes on with
 */
void mts_switches_plan(struct mts_switches *s, u32 evict, const struct mts_plan *plan,
		       bool disk_is_slow, bool rotates);

/**
 * mts_switches_note() - one is over
 * @took: ns from its begin to its end
 * @adds: of that, what it adds to a round
 *
 * The first of those that are new counts alone.
 */
void mts_switches_note(struct mts_switches *s, u64 took, u64 adds);

/* When turns are tried again they may take less. */
void mts_switches_forget(struct mts_switches *s);

#endif /* _MTS_POLICY_SWITCHES_H */

/* SPDX-License-Identifier: GPL-2.0 */
/* How long switches took: ns. Pure code (pure.h). */
#ifndef _MTS_POLICY_SWITCHES_H
#define _MTS_POLICY_SWITCHES_H

#include "policy/bins.h"

/**
 * struct mts_switches - all zero: no turns were taken yet
 * @mean_ns: what a switch took, moving average; 0: not known
 * @bytes: that switches brought in, the same average: of a bin, or of the groups that came
 * @slowest_ns: longest recent switch; decays by an eighth with each switch
 * @overlaps: these were switches of overlapping bins (window.h)
 * @are_new: no switch was measured since turns began, or since @evict changed
 * @evict: resolved eviction, never MTS_EVICT_AUTO
 * @asked: configured eviction that @evict was resolved from
 */
struct mts_switches {
	u64 mean_ns;
	u64 bytes;
	u64 slowest_ns;
	bool overlaps;
	bool are_new;
	u32 evict;
	u32 asked;
};

/**
 * mts_switches_plan() - decide how the switches of a planned round evict
 * @evict: enum mts_evict, as configured
 * @plan: as for mts_policy_evict_how()
 * @disk_is_slow: as for mts_policy_evict_how()
 * @rotates: turns are under way, and this round continues them
 */
void mts_switches_plan(struct mts_switches *s, u32 evict, const struct mts_plan *plan,
		       bool disk_is_slow, bool rotates);

/**
 * mts_switches_note() - record a finished switch
 * @took: ns from its begin to its end
 * @bytes: mean demand of the bins, capped at the capacity; of the groups that came
 * @overlaps: the bins overlap
 *
 * The first switch after a change replaces earlier measurements. With larger bins switches
 * are planned longer in proportion (switch_bytes in bins.h).
 */
void mts_switches_note(struct mts_switches *s, u64 took, u64 bytes, bool overlaps);

/* Forget the measurements: switches may be faster when turns are tried again. */
void mts_switches_forget(struct mts_switches *s);

#endif /* _MTS_POLICY_SWITCHES_H */

/* SPDX-License-Identifier: GPL-2.0 */
/* How much a switch evicts: bytes. Pure code (pure.h). */
#ifndef _MTS_POLICY_EVICT_H
#define _MTS_POLICY_EVICT_H

#include "policy/bins.h"

/**
 * mts_policy_evict_how() - resolve the configured eviction for a round
 * @evict: enum mts_evict
 * @before: result of the round before; MTS_EVICT_FULL in the first round
 * @plan: of the round, with switch times measured so far; NULL: no switch was measured yet
 * @disk_is_slow: as mts_disk_needs_rows()
 *
 * Resolves MTS_EVICT_AUTO. FULL makes each switch move the most, but it leaves the memory to the
 * incoming bin alone, and it places pages in long rows on the disk. If switches take more than a
 * quarter of the round all the same, NEED moves less (docs/performance.md has the figures).
 *
 * NEED then holds until turns end: shorter switches are its effect, and no reason to return to
 * FULL. It never begins before the duration of a switch is known.
 *
 * Return: MTS_EVICT_OFF, MTS_EVICT_NEED or MTS_EVICT_FULL.
 */
u32 mts_policy_evict_how(u32 evict, u32 before, const struct mts_plan *plan, bool disk_is_slow);

/**
 * mts_policy_evict() - bytes to evict before the incoming bin runs
 * @evict: enum mts_evict
 * @outgoing_resident: resident set size of the outgoing bin
 * @incoming_demand: demand of the incoming bin
 * @incoming_resident: resident set size of the incoming bin
 * @available: free or droppable memory that the incoming bin may use
 *
 * FULL: all of the outgoing bin.
 * NEED: what the incoming bin lacks plus a slack of 1/16, less what is available. This can exceed
 * the outgoing bin; the rest comes from bins that ran before it. OFF, or an unknown value: 0.
 */
u64 mts_policy_evict(u32 evict, u64 outgoing_resident, u64 incoming_demand, u64 incoming_resident,
		     u64 available);

#endif /* _MTS_POLICY_EVICT_H */

/* SPDX-License-Identifier: GPL-2.0 */
/* What a switch evicts: bytes. Pure code (pure.h). */
#ifndef _MTS_POLICY_EVICT_H
#define _MTS_POLICY_EVICT_H

#include "policy/bins.h"

/* 250 MB/s, about: a disk with heads moves no more, however its pages lie. */
#define MTS_SLOW_BYTES_PER_US 250ull

/**
 * mts_policy_evict_how() - what a configured @evict comes to in a round
 * @evict: enum mts_evict
 * @before: what it came to in the round before; MTS_EVICT_FULL in the first one
 * @plan: of the round, by what such switches took so far; NULL: there was none yet
 * @disk_is_slow: it is one whose pages must lie in long rows
 *
 * Of MTS_EVICT_AUTO: to evict all of the outgoing bin has switches move the most, but leaves the
 * incoming one alone with the memory, and its pages on the disk in long rows. Where switches cost a
 * quarter of the round all the same, less is to be moved (docs/performance.md has the figures).
 * That stays so until turns end: that switches are shorter then is no reason to make them
 * longer again. Nor is it begun with while nobody knows what they take.
 *
 * Return: MTS_EVICT_OFF, MTS_EVICT_NEED or MTS_EVICT_FULL.
 */
u32 mts_policy_evict_how(u32 evict, u32 before, const struct mts_plan *plan, bool disk_is_slow);

/**
 * mts_policy_evict() - bytes to evict before the incoming bin runs
 * @evict: enum mts_evict
 * @outgoing_resident: what the outgoing bin has in memory
 * @incoming_demand: what the incoming bin needs
 * @incoming_resident: what it still has in memory
 * @available: free or droppable memory that the incoming bin may use
 *
 * FULL: all of the outgoing bin. NEED: what the incoming bin lacks and 1/16 of
 * that as slack, less what is available; it can be more than the outgoing bin
 * has, the rest is with those that ran before it. OFF, or unknown: 0.
 */
u64 mts_policy_evict(u32 evict, u64 outgoing_resident, u64 incoming_demand, u64 incoming_resident,
		     u64 available);

#endif /* _MTS_POLICY_EVICT_H */

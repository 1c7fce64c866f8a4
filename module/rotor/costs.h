/* SPDX-License-Identifier: GPL-2.0 */
/* What switches have cost, and what that tells of the disk. */
#ifndef _MTS_ROTOR_COSTS_H
#define _MTS_ROTOR_COSTS_H

#include "rotor/state.h"

/**
 * struct mts_switch_cost - of a switch that is over
 * @took_ns: from its beginning to its end, without what was brought back for people meanwhile
 * @busy_ns: of that, processor time of the threads that move memory
 * @bytes: evicted and brought back
 * @overlapped: mts_overlap_switch() did it
 */
struct mts_switch_cost {
	u64 took_ns;
	u64 busy_ns;
	u64 bytes;
	bool overlapped;
};

void mts_costs_note(const struct mts_switch_cost *cost);

/* How switches of a round will be that has been planned: as mts_switches_plan(). */
void mts_costs_plan(u32 evict, const struct mts_plan *plan, bool rotates);

/* Turns are given up: when they are tried again, switches may take less. */
void mts_costs_forget(void);

/* Memory was evicted without turns, to see whether the disk is slow. */
void mts_costs_note_probe(bool slow);

/* That was not slow, and counts for more than what a switch took once. */
void mts_costs_note_fast(void);

#endif /* _MTS_ROTOR_COSTS_H */

/* SPDX-License-Identifier: GPL-2.0 */
/* Bringing back: which jobs, and what is more urgent. */
#ifndef _MTS_ROTOR_BRING_H
#define _MTS_ROTOR_BRING_H

#include "context.h"
#include "job.h"
#include "memory/move.h"

/* Bring back a frozen job, as far as that goes until @end; ktime, ns. */
void mts_bring_job(struct mts_job *job, u64 end);

/* How many threads may move memory at once. */
u32 mts_bring_threads(void);

/*
 * A job that was thawed as wanted (mts_rotor_is_wanted()) faults its pages in one by one, and
 * competes with the rotor for the disk. If the disk is slow, bring its memory back before anything
 * else. In the rotor's thread, between two parts of any work.
 */
void mts_bring_wanted(void);

/* Bring back the jobs that are to run. */
void mts_bring_running(void);

/* Record what the frozen jobs used in their slices, before their memory is evicted. */
void mts_bring_note_use(void);

/* All jobs that are frozen. In memory of the rotor's: one move at a time. */
struct mts_move mts_bring_frozen(void);

/* Turns are over, or not begun: bring them back as far as that goes until @end, ktime, ns. */
void mts_bring_until(struct mts_move *move, u64 end);

#endif /* _MTS_ROTOR_BRING_H */

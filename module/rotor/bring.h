/* SPDX-License-Identifier: GPL-2.0 */
/* Bringing back: which jobs, and what is more urgent. */
#ifndef _MTS_ROTOR_BRING_H
#define _MTS_ROTOR_BRING_H

#include "context.h"
#include "job.h"
#include "memory/move.h"

/* What a frozen job has in swap comes back, as far as it does until @end, ns. */
void mts_bring_job(struct mts_job *job, u64 end);

/* How many threads may move memory at once. */
u32 mts_bring_threads(void);

/*
 * Whoever was thawed as it is wanted (mts_rotor_is_wanted()) reads its memory page by page, beside
 * what the rotor does to the disk: bring it back before anything else, if the disk is slow. In the
 * rotor's thread, between two parts of any work.
 */
void mts_bring_wanted(void);

/* Those of bin @to in the roster from @first to before @end. */
void mts_bring_bin(u32 to, u32 first, u32 end);

/* Whoever stands still now has had its slice. */
void mts_bring_note_use(void);

/*
 * The frozen jobs of bin @to, of the roster's from @first to before @end; and all that are frozen.
 * In memory of the rotor's: one at a time.
 */
struct mts_move mts_bring_incoming(u32 to, u32 first, u32 end);
struct mts_move mts_bring_frozen(void);

/* Turns are over, or not begun: bring them back as far as that goes until @end, ktime, ns. */
void mts_bring_until(struct mts_move *move, u64 end);

#endif /* _MTS_ROTOR_BRING_H */

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which pages of their private memory jobs use in a slice. The processor marks accessed pages in
 * the page tables. The marks are cleared before a slice and read after it. Unused are pages in
 * memory without the mark, and pages that were left in swap and are still there.
 *
 * A slice is incomplete if it was cut short, if the host reclaimed in it, if the job waited for
 * pages that could not be brought back, or if it got no processor. Then earlier use counts on. If
 * nothing is known from earlier slices, all memory counts as used.
 *
 * Context: the rotor's thread, while the jobs are frozen. A record takes 208 bytes for each
 * populated 2 MiB of a job's address space.
 */
#ifndef _MTS_TOUCHED_H
#define _MTS_TOUCHED_H

#include "context.h"
#include "job.h"
#include "memory/move.h"

/**
 * mts_touched_begin() - clear the marks of jobs before their slice
 * @move: the jobs
 *
 * Without memory for a record, or if the move should abort, the use in this slice is unknown: all
 * memory counts as used.
 */
void mts_touched_begin(struct mts_move *move);

/**
 * mts_touched_end() - read the marks of jobs after their slice
 * @move: the jobs; jobs whose marks were not cleared are removed from it
 *
 * Updates the jobs' working sets (policy/working_set.h).
 */
void mts_touched_end(struct mts_move *move);

/* The part of an address, or NULL. Binary search. */
const struct mts_touched_part *mts_touched_find(const struct mts_touched *touched,
						const struct mm_struct *mm, unsigned long addr);

/* Was the page used in one of the last two slices? */
static inline bool mts_touched_is_used(const struct mts_touched_part *part, unsigned long addr)
{
	unsigned long page = pte_index(addr);

	return test_bit(page, part->now) || test_bit(page, part->before);
}

/* Discard what is known: all memory counts as used until the next complete slice. */
void mts_touched_outdated(struct mts_job *job);

#endif /* _MTS_TOUCHED_H */

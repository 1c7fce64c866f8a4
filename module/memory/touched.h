/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which pages of their private memory jobs use in a slice: the processor marks in the page
 * tables what is accessed. The marks are cleared when a slice is about to begin, and read
 * when it is over; what was in memory and bears none was not used, nor was what was left in
 * swap and is still there. A slice that was cut short, or in which the host reclaimed, the
 * job waited for what could not be brought back or got no processor, has not shown all that
 * it uses: what was used before counts on, and if nothing is known of before, all counts as
 * used.
 *
 * Only for the rotor's thread, while the jobs stand still. The record of a job takes 208
 * bytes for each 2 MiB of its address space that have pages.
 */
#ifndef _MTS_TOUCHED_H
#define _MTS_TOUCHED_H

#include "context.h"
#include "job.h"
#include "memory/move.h"

/**
 * mts_touched_begin() - a slice of these jobs is about to begin: clear the marks
 * @move: which jobs
 *
 * Where there is no memory for a record, or the move is to be aborted, the jobs' use of this
 * slice will not be known, and all counts as used.
 */
void mts_touched_begin(struct mts_move *move);

/**
 * mts_touched_end() - the slice of these jobs is over: read the marks
 * @move: which jobs; those whose marks were not cleared are taken out
 *
 * What is seen goes to the jobs' working sets (policy/working_set.h).
 */
void mts_touched_end(struct mts_move *move);

/* The part of an address, or NULL. It is found in so many steps as the job's size has bits. */
const struct mts_touched_part *mts_touched_find(const struct mts_touched *touched,
						const struct mm_struct *mm, unsigned long addr);

/* Was it used in one of the last two slices? */
static inline bool mts_touched_is_used(const struct mts_touched_part *part, unsigned long addr)
{
	unsigned long page = pte_index(addr);

	return test_bit(page, part->now) || test_bit(page, part->before);
}

/* What was seen of the job is of long ago: all counts as used until a slice tells anew. */
void mts_touched_outdated(struct mts_job *job);

#endif /* _MTS_TOUCHED_H */

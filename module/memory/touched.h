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

#include <linux/bitops.h>
#include <linux/mm.h>

#include "policy/policy.h"

struct mts_job;

/**
 * struct mts_touched_part - one page table's worth of a record, a bit a page
 * @mm: of whom; only compared, it may be gone
 * @addr: of the first page
 * @now: used in the slice
 * @before: used in the one before
 * @left: left in swap when the slice began, as not used
 */
struct mts_touched_part {
	const struct mm_struct *mm;
	unsigned long addr;
	DECLARE_BITMAP(now, PTRS_PER_PTE);
	DECLARE_BITMAP(before, PTRS_PER_PTE);
	DECLARE_BITMAP(left, PTRS_PER_PTE);
};

/**
 * struct mts_touched - a job's record; zero: there is none
 * @parts: in order of mm, then of addr
 * @n: how many
 * @max: room for so many
 * @pages: that there were when the slice began, in memory or in swap
 * @lacked: of these, pages that were wanted, but in swap
 * @marks_cleared: a slice is to be seen by it
 * @complete: all of the job's pages were seen
 * @told: it rests on a slice that has shown all that the job uses, this or one before
 */
struct mts_touched {
	struct mts_touched_part *parts;
	u32 n;
	u32 max;
	u64 pages;
	u64 lacked;
	bool marks_cleared;
	bool complete;
	bool told;
};

/**
 * mts_touched_begin() - a slice of these jobs is about to begin: clear the marks
 * @jobs: in order of id
 * @n: how many
 *
 * Where there is no memory for a record, or the rotor is hurried, the jobs' use of this
 * slice will not be known, and all counts as used.
 */
void mts_touched_begin(struct mts_job **jobs, u32 n);

/**
 * mts_touched_end() - the slice of these jobs is over: read the marks
 * @jobs: in order of id; those whose marks were not cleared are passed over
 * @n: how many
 *
 * What is seen goes to the jobs' working sets (policy/policy.h).
 */
void mts_touched_end(struct mts_job **jobs, u32 n);

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

void mts_touched_free(struct mts_touched *touched);

#endif /* _MTS_TOUCHED_H */

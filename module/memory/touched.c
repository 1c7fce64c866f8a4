// SPDX-License-Identifier: GPL-2.0
#include "memory/touched.h"

#include <linux/mm.h>
#include <linux/mmu_notifier.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>

#include "compat/swap_entry.h"
#include "compat/young.h"
#include "job.h"
#include "memory/mms.h"
#include "mts.h"
#include "memory/page_tables.h"
#include "events/promise.h"
#include "events/stats.h"
#include "policy/working_set.h"

/*
 * A slice in which the job lacked more pages than this is incomplete: it waited for them, and so
 * did not use others. A few misses are normal.
 */
#define LACKED_MAX 16

/* A walk over one address space. */
struct walk {
	struct mm_struct *mm;
	struct mts_job *job;
	u64 skip_bytes;
	const struct mts_move *move;
};

static void free_record(struct mts_touched *touched)
{
	kvfree(touched->parts);
	*touched = (struct mts_touched){ 0 };
}

void mts_touched_outdated(struct mts_job *job)
{
	job->touched.told = false;
	job->working_set = (struct mts_working_set){ 0 };
}

static void forget(struct mts_job *job)
{
	free_record(&job->touched);
	mts_touched_outdated(job);
}

static bool comes_before(const struct mts_touched_part *part, const struct mm_struct *mm,
			 unsigned long addr)
{
	return part->mm < mm || (part->mm == mm && part->addr < addr);
}

static struct mts_touched_part *find(const struct mts_touched *touched, const struct mm_struct *mm,
				     unsigned long addr)
{
	u32 low = 0, high = touched->n;

	addr &= PMD_MASK;
	while (low < high) {
		u32 middle = low + (high - low) / 2;

		if (comes_before(&touched->parts[middle], mm, addr))
			low = middle + 1;
		else
			high = middle;
	}
	if (low == touched->n || touched->parts[low].mm != mm || touched->parts[low].addr != addr)
		return NULL;
	return &touched->parts[low];
}

const struct mts_touched_part *mts_touched_find(const struct mts_touched *touched,
						const struct mm_struct *mm, unsigned long addr)
{
	return find(touched, mm, addr);
}

/* Visit each page table of private memory. Return: do the marks show all use? */
static bool walk_mm(struct walk *walk, mts_page_table_visit visit)
{
	struct vm_area_struct *vma;

	/* KVM marks the use of guest memory in page tables of its own, and devices mark nothing. */
	if (mm_has_notifiers(walk->mm))
		return false;
	VMA_ITERATOR(vmi, walk->mm, 0);

	for_each_vma(vmi, vma) {
		if (mts_is_private(vma) && !mts_page_tables_walk(vma, walk->move, visit, walk))
			return false;
		cond_resched();
	}
	return true;
}

/* Walk all address spaces that are held. */
static void walk_all(const struct mts_move *move, u32 nmms, mts_page_table_visit visit)
{
	u32 i;

	for (i = 0; i < nmms; i++) {
		struct walk walk = { .mm = mts_mms_lock(move, i),
				     .job = mts_mms_job(i),
				     .skip_bytes = mts_mms_skips(i),
				     .move = move };

		mts_promise_step("page tables are scanned");
		if (!walk.mm || !walk_mm(&walk, visit))
			walk.job->touched.complete = false;
		if (walk.mm)
			mts_mms_unlock(walk.mm);
	}
}

/* ---- a slice begins ---------------------------------------------------------- */

/*
 * Find or append the part of an address; walks are in order of address. A new part takes over what
 * the previous record says. NULL: the record is full.
 */
static struct mts_touched_part *make_part(struct mts_touched *touched, const struct mm_struct *mm,
					  unsigned long addr, const struct mts_touched_part *old)
{
	struct mts_touched_part *part = touched->n ? &touched->parts[touched->n - 1] : NULL;

	addr &= PMD_MASK;
	/* One page table can hold several areas. */
	if (part && part->mm == mm && part->addr == addr)
		return part;
	if (touched->n == touched->max)
		return NULL;
	part = &touched->parts[touched->n++];
	*part = (struct mts_touched_part){ .mm = mm, .addr = addr };
	if (old)
		bitmap_copy(part->before, old->now, PTRS_PER_PTE);
	return part;
}

/* Anonymous memory only: neither page cache nor the zero page. */
static bool is_anonymous(pte_t value)
{
	return !pte_special(value) && pfn_valid(pte_pfn(value)) && PageAnon(pte_page(value));
}

static bool begin_table(pte_t *pte, unsigned long addr, unsigned long end, void *data)
{
	const struct walk *walk = data;
	struct mts_job *job = walk->job;
	const struct mts_touched_part *old = find(&job->touched_before, walk->mm, addr);
	struct mts_touched_part *part = make_part(&job->touched, walk->mm, addr, old);

	if (!part)
		return false;
	for (; addr < end; pte++, addr += PAGE_SIZE) {
		pte_t value = READ_ONCE(*pte);
		swp_entry_t entry;

		if (pte_present(value)) {
			job->touched.pages += is_anonymous(value);
			mts_compat_clear_young(pte, value);
		} else if (mts_compat_swap_entry(value, &entry)) {
			job->touched.pages++;
			if (walk->skip_bytes && old && !mts_touched_is_used(old, addr)) {
				__set_bit(pte_index(addr), part->left);
			} else {
				/*
				 * The page was needed, but there was no memory for it, or no time.
				 */
				__set_bit(pte_index(addr), part->now);
				job->touched.lacked++;
			}
		}
	}
	return true;
}

/* A record has at most one part per page table. Page tables that are new later count as used. */
static void make_room(const struct mts_move *move, u32 nmms)
{
	u32 i;

	for (i = 0; i < move->n; i++) {
		struct mts_job *job = move->jobs[i].job;

		job->touched_before = job->touched;
		job->touched = (struct mts_touched){ .complete = true };
		job->touched.told = job->touched_before.told;
	}
	for (i = 0; i < nmms; i++)
		if (mts_mms_at(i))
			mts_mms_job(i)->touched.max +=
				mm_pgtables_bytes(mts_mms_at(i)) >> PAGE_SHIFT;
	for (i = 0; i < move->n; i++) {
		struct mts_touched *touched = &move->jobs[i].job->touched;

		touched->parts = kvmalloc_array(touched->max, sizeof(*touched->parts),
						GFP_KERNEL | __GFP_NORETRY | __GFP_NOWARN);
		if (!touched->parts)
			touched->max = 0;
	}
}

void mts_touched_begin(struct mts_move *move)
{
	u32 i, nmms;

	if (!MTS_HAVE_YOUNG || !move->n)
		return;
	nmms = mts_mms_get(move);
	make_room(move, nmms);
	walk_all(move, nmms, begin_table);
	mts_mms_put();
	for (i = 0; i < move->n; i++) {
		struct mts_job *job = move->jobs[i].job;

		free_record(&job->touched_before);
		if (!job->touched.complete) {
			forget(job);
			continue;
		}
		job->touched.marks_cleared = true;
		job->slice_tells_little = true; /* until it has had a slice */
	}
}

/* ---- a slice ends ------------------------------------------------------------ */

static void count_page(struct mts_job *job, struct mts_touched_part *part, unsigned long page,
		       pte_t value)
{
	struct mts_slice_use *use = &job->use;
	swp_entry_t entry;
	bool used;

	if (pte_present(value)) {
		if (!is_anonymous(value))
			return;
		used = !part || pte_young(value);
		if (used && part) {
			__set_bit(page, part->now);
			use->missed += test_bit(page, part->left);
		}
	} else if (mts_compat_swap_entry(value, &entry)) {
		used = false;
	} else {
		return;
	}
	if (part) {
		use->left += test_bit(page, part->left);
		used = used || test_bit(page, part->now) || test_bit(page, part->before);
	}
	if (used)
		use->used += PAGE_SIZE;
	else
		use->unused += PAGE_SIZE;
}

static bool end_table(pte_t *pte, unsigned long addr, unsigned long end, void *data)
{
	const struct walk *walk = data;
	struct mts_touched_part *part = find(&walk->job->touched, walk->mm, addr);

	for (; addr < end; pte++, addr += PAGE_SIZE)
		count_page(walk->job, part, pte_index(addr), READ_ONCE(*pte));
	return true;
}

/* After an incomplete slice earlier use counts for one more slice. */
static void keep_before(struct mts_touched *touched)
{
	u32 i;

	for (i = 0; i < touched->n; i++)
		bitmap_or(touched->parts[i].now, touched->parts[i].now, touched->parts[i].before,
			  PTRS_PER_PTE);
}

/* Did the last slice show less than the job uses? */
static bool tells_little(const struct mts_job *job)
{
	/* A thread that is awake but never used its stack got no processor. */
	return job->slice_tells_little || job->touched.lacked > LACKED_MAX ||
	       (!job->use.used && job->last_threads);
}

static void record_use(struct mts_job *job)
{
	bool little = tells_little(job);

	job->touched.marks_cleared = false;
	job->touched.told |= !little;
	job->use.grown =
		mts_sub_floor(job->use.used + job->use.unused, job->touched.pages << PAGE_SHIFT);
	if (!job->touched.complete || !job->touched.told || mts_working_set_fills(&job->use)) {
		forget(job);
		return;
	}
	mts_stats_add(left_in_swap, job->use.left);
	mts_stats_add(missed, job->use.missed);
	if (little)
		keep_before(&job->touched);
	mts_working_set_note(&job->working_set, &job->use);
}

void mts_touched_end(struct mts_move *move)
{
	u32 i, kept = 0;

	for (i = 0; i < move->n; i++) {
		struct mts_job *job = move->jobs[i].job;

		if (!job->touched.marks_cleared)
			continue;
		job->use = (struct mts_slice_use){ 0 };
		move->jobs[kept++] = move->jobs[i];
	}
	move->n = kept;
	if (!kept)
		return;
	walk_all(move, mts_mms_get(move), end_table);
	mts_mms_put();
	for (i = 0; i < kept; i++)
		record_use(move->jobs[i].job);
}

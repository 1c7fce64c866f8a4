// SPDX-License-Identifier: GPL-2.0
/* Collects swapped pages from the page tables, and for shared memory from the page cache. */
#include "memory/swapped.h"

#include <linux/mm.h>
#include <linux/moduleparam.h>
#include <linux/pagemap.h>
#include <linux/sched.h>
#include <linux/xarray.h>

#include "compat/nodes.h"
#include "compat/swap_entry.h"
#include "mts.h"
#include "memory/page_tables.h"
#include "events/promise.h"
#include "memory/touched.h"

/*
 * Shortest list, 16 bytes a page. The list gets as much memory as there is, but no less than this.
 */
#define MIN_ENTRIES 4096u
/*
 * Pages of one device before the next device's turn: 1 MiB. That makes long requests, and a batch
 * keeps several devices busy.
 */
#define STRIPE_BITS 8
#define TYPE_BITS MAX_SWAPFILES_SHIFT

/* Adjacent pages that are one request worth its time. Such a run may keep its slots. */
#define RUN 16u

/* Limit of remembered parts of shared files. */
#define MAX_SEEN 128

static unsigned int debug_list_pages;
module_param(debug_list_pages, uint, 0600);
MODULE_PARM_DESC(debug_list_pages,
		 "for tests: maximum pages in the list to bring back, as if memory were short");

struct part {
	const struct address_space *mapping;
	pgoff_t first;
	pgoff_t last;
};

struct collector {
	struct mts_swapped_list *list;
	const struct mts_move *move;
	u32 index; /* index of the address space */
	const struct mm_struct *mm;
	const struct mts_job *job;
	bool skips; /* skip pages that the job does not use */
	u32 nseen;
	struct part seen[MAX_SEEN];
};

/* Static: only the rotor's thread uses it, and its stack is small. */
static struct collector collector;

static bool is_full(const struct collector *c)
{
	return c->list->n == c->list->max;
}

static u64 place_of(swp_entry_t entry)
{
	u64 offset = swp_offset(entry), within = offset & (BIT(STRIPE_BITS) - 1);

	return (((offset >> STRIPE_BITS) << TYPE_BITS | swp_type(entry)) << STRIPE_BITS) | within;
}

static void add(struct collector *c, swp_entry_t entry, unsigned long addr, bool lose_slot)
{
	c->list->entries[c->list->n++] = (struct mts_swapped){
		.place = place_of(entry),
		.where = addr | c->index | (lose_slot ? MTS_SWAPPED_LOSE_SLOT : 0),
	};
}

/* ---- private memory: page tables ----------------------------------------------- */

static bool add_page_table(pte_t *pte, unsigned long addr, unsigned long end, void *data)
{
	struct collector *c = data;
	const struct mts_touched_part *part = NULL;

	if (c->skips)
		part = mts_touched_find(&c->job->touched, c->mm, addr);
	for (; addr < end && !is_full(c); pte++, addr += PAGE_SIZE) {
		pte_t now = READ_ONCE(*pte);
		swp_entry_t entry;

		if (!mts_compat_swap_entry(now, &entry))
			continue;
		if (!part || mts_touched_is_used(part, addr))
			add(c, entry, addr, pte_swp_exclusive(now));
	}
	return !is_full(c);
}

/* ---- shared memory: the page cache of its file ---------------------------------- */

/*
 * Was this part of a file not collected yet? Beyond MAX_SEEN parts, jobs fault the rest themselves.
 */
static bool is_new(struct collector *c, const struct part *part)
{
	u32 i;

	for (i = 0; i < c->nseen; i++)
		if (c->seen[i].mapping == part->mapping && c->seen[i].first <= part->first &&
		    part->last <= c->seen[i].last)
			return false;
	if (c->nseen == MAX_SEEN)
		return false;
	c->seen[c->nseen++] = *part;
	return true;
}

static bool should_scan_on(const struct mts_move *move)
{
	mts_promise_step("shared memory is scanned");
	cond_resched();
	return !move->should_abort();
}

/*
 * Add the pages of an entry that are in @part. A fault brings back one page of a large entry and
 * splits it.
 */
static void add_entry(struct collector *c, struct vm_area_struct *vma, const struct part *part,
		      struct xa_state *xas, swp_entry_t entry)
{
	unsigned long pages = 1ul << mts_compat_shmem_order(xas);
	pgoff_t base = round_down(xas->xa_index, pages);
	pgoff_t i = max(base, part->first), last = min(base + pages - 1, part->last);

	for (; i <= last && !is_full(c); i++)
		add(c, swp_entry(swp_type(entry), swp_offset(entry) + (i - base)),
		    vma->vm_start + ((i - part->first) << PAGE_SHIFT), false);
}

static void add_shared(struct collector *c, struct vm_area_struct *vma)
{
	struct address_space *mapping = vma->vm_file->f_mapping;
	struct part part = {
		.mapping = mapping,
		.first = vma->vm_pgoff,
		.last = vma->vm_pgoff + vma_pages(vma) - 1,
	};
	XA_STATE(xas, &mapping->i_pages, part.first);
	u32 visited = 0;
	void *page;

	if (!is_new(c, &part))
		return;
	rcu_read_lock();
	xas_for_each(&xas, page, part.last)
	{
		swp_entry_t entry;

		if (is_full(c))
			break;
		if (!xas_retry(&xas, page) && mts_compat_shmem_entry(page, &entry))
			add_entry(c, vma, &part, &xas, entry);
		if (!(++visited % XA_CHECK_SCHED)) {
			bool goes_on;

			xas_pause(&xas);
			rcu_read_unlock();
			goes_on = should_scan_on(c->move);
			rcu_read_lock();
			if (!goes_on)
				break;
		}
	}
	rcu_read_unlock();
}

/* ---- all of it -------------------------------------------------------------------- */

static void add_vma(struct collector *c, struct vm_area_struct *vma)
{
	if (mts_is_private(vma))
		mts_page_tables_walk(vma, c->move, add_page_table, c);
	if (mts_is_shared(vma))
		add_shared(c, vma);
}

/*
 * Is the process bound to some nodes, by its cpuset or by a memory policy? Our faults would ignore
 * that, its own faults follow it. Under RCU.
 */
static bool is_bound_to_nodes(const struct task_struct *owner)
{
	return owner && (mts_compat_has_mempolicy(owner) || !mts_compat_may_use_all_nodes(owner));
}

static bool may_add(const struct mm_struct *mm)
{
	bool kept;

	if (num_node_state(N_MEMORY) < 2)
		return true;
	rcu_read_lock();
	kept = is_bound_to_nodes(rcu_dereference(mm->owner));
	rcu_read_unlock();
	return !kept;
}

static void add_mm(struct collector *c)
{
	struct mm_struct *mm = mts_mms_lock(c->move, c->index);
	struct vm_area_struct *vma;

	if (!mm)
		return;
	if (!may_add(mm)) {
		mts_mms_give_up(c->index);
		mts_mms_unlock(mm);
		return;
	}
	c->mm = mm;
	c->job = mts_mms_job(c->index);
	c->skips = mts_mms_skips(c->index);
	VMA_ITERATOR(vmi, mm, 0);

	for_each_vma(vmi, vma) {
		if (is_full(c) || c->move->should_abort())
			break;
		add_vma(c, vma);
		cond_resched();
	}
	mts_mms_unlock(mm);
}

/* Sorting a large bin must not delay real-time tasks, nor the end of turns. */
static bool should_go_on(void)
{
	cond_resched();
	mts_promise_step("pages are sorted");
	return !collector.move->should_abort();
}

static bool is_next(const struct mts_swapped *a, const struct mts_swapped *b)
{
	return b->place == a->place + 1 &&
	       mts_mms_job(mts_swapped_mm(a)) == mts_mms_job(mts_swapped_mm(b));
}

/*
 * A long run of one job's pages was evicted at once, and may keep its slots. When memory runs out,
 * many jobs are written at once, and their pages alternate. Such a run is read in one request, but
 * the jobs would write it one after the other.
 *
 * Return: false if the move should abort.
 */
static bool keep_runs(struct mts_swapped_list *list)
{
	u32 i, j, first = 0;

	for (i = 1; i <= list->n; i++) {
		if (!(i % XA_CHECK_SCHED) && !should_go_on())
			return false;
		if (i < list->n && is_next(&list->entries[i - 1], &list->entries[i]))
			continue;
		if (i - first >= RUN && !mts_swapped_is_scattered(&list->entries[first]))
			for (j = first; j < i; j++)
				list->entries[j].where &= ~MTS_SWAPPED_LOSE_SLOT;
		first = i;
	}
	return true;
}

static int alloc(struct mts_swapped_list *list, u64 wanted)
{
	wanted = clamp_t(u64, wanted, MIN_ENTRIES, READ_ONCE(debug_list_pages) ?: U32_MAX / 2);
	for (; wanted >= MIN_ENTRIES; wanted /= 2) {
		list->entries = kvmalloc_array(wanted, sizeof(*list->entries),
					       GFP_KERNEL | __GFP_NORETRY | __GFP_NOWARN);
		if (list->entries) {
			list->max = wanted;
			list->n = 0;
			return 0;
		}
	}
	return -ENOMEM;
}

int mts_swapped_collect(struct mts_swapped_list *list, const struct mts_move *move, u32 nmms,
			u64 pages)
{
	struct collector *c = &collector;

	if (alloc(list, pages))
		return -ENOMEM;
	c->list = list;
	c->move = move;
	c->nseen = 0;
	for (c->index = 0; c->index < nmms; c->index++) {
		if (mts_move_is_late(move))
			break;
		mts_promise_step("page tables are scanned");
		add_mm(c);
	}
	if (!mts_swap_order(list->entries, list->n, should_go_on) || !keep_runs(list))
		list->n = 0;
	return 0;
}

// SPDX-License-Identifier: GPL-2.0
/*
 * Left to itself each page of an incoming bin is a fault that waits for a
 * request of its own: memory is evicted in the order in which it was touched, so
 * that neighbours in memory lie apart in swap. Here the page tables of the frozen
 * jobs are read, what is swapped is sorted by its place in swap, reads are
 * started in that order without waiting, inside a block plug, where neighbours
 * merge into long requests, and then each page is mapped.
 */
#include "bring_back.h"

#include <linux/bitops.h>
#include <linux/blkdev.h>
#include <linux/cgroup.h>
#include <linux/memcontrol.h>
#include <linux/mm.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/sort.h>
#include <linux/swap.h>

#include "compat/swap_entry.h"
#include "mts.h"
#include "ops.h"
#include "readahead.h"
#include "rotor_private.h"

/* Address spaces that are looked at; their index lies in the low bits of an address. */
#define MAX_MMS PAGE_SIZE
/* Pages whose reads are under way before the first is waited for: 8 MiB. */
#define BATCH 2048u
/* Pages between two looks at the memory that is left. */
#define LOOK 32u
/* Ticks that somebody else may hold an address space's lock. */
#define LOCK_TRIES 10u
/* The list, at 16 bytes a page: as much as fits, or this at least. */
#define MIN_ENTRIES 4096u

struct swapped {
	u64 slot; /* swap entry: device, then offset */
	u64 where; /* address | index of the mm */
};

/* The rotor's thread is the only one here. */
static struct mm_struct *mms[MAX_MMS]; /* NULL: given up */
static u32 nmms;

/* The list of what is swapped. */
struct list {
	struct swapped *entries;
	u32 n;
	u32 max;
	u32 mapped; /* pages that are back */
	bool over; /* no further, whatever is left */
};

/* ---- address spaces -------------------------------------------------------- */

static bool is_among(struct mts_job **jobs, u32 n, const struct mts_job *job)
{
	u32 low = 0, high = n;

	while (low < high) {
		u32 middle = low + (high - low) / 2;

		if (jobs[middle]->id < job->id)
			low = middle + 1;
		else
			high = middle;
	}
	return low < n && jobs[low] == job;
}

static struct mm_struct *mm_of_process(struct task_struct *process)
{
	struct task_struct *task;
	struct mm_struct *mm;

	/* The first thread may have exited before the others. */
	for_each_thread(process, task) {
		mm = get_task_mm(task);
		if (mm)
			return mm;
	}
	return NULL;
}

static int compare_pointers(const void *a, const void *b)
{
	const void *x = *(const void **)a, *y = *(const void **)b;

	return x < y ? -1 : x > y;
}

static void put_mm(u32 index)
{
	if (mms[index])
		mmput(mms[index]);
	mms[index] = NULL;
}

static void put_mms(void)
{
	while (nmms)
		put_mm(--nmms);
}

static void get_mms(struct mts_job **jobs, u32 n)
{
	struct task_struct *process;
	u32 i, kept = 0;

	rcu_read_lock();
	for_each_process(process) {
		struct mts_job *job = mts_job_of_cgroup(task_dfl_cgroup(process));

		if (!job || !is_among(jobs, n, job))
			continue;
		mms[nmms] = mm_of_process(process);
		if (mms[nmms] && ++nmms == MAX_MMS)
			break;
	}
	rcu_read_unlock();

	/* A child of vfork() shares its parent's. */
	sort(mms, nmms, sizeof(mms[0]), compare_pointers, NULL);
	for (i = 0; i < nmms; i++) {
		if (kept && mms[kept - 1] == mms[i])
			mmput(mms[i]);
		else
			mms[kept++] = mms[i];
	}
	nmms = kept;
}

/* ---- the list --------------------------------------------------------------- */

static int list_alloc(struct list *list, u64 wanted)
{
	wanted = clamp_t(u64, wanted, MIN_ENTRIES, U32_MAX / 2);
	for (; wanted >= MIN_ENTRIES; wanted /= 2) {
		list->entries = kvmalloc_array(wanted, sizeof(*list->entries),
					       GFP_KERNEL | __GFP_NORETRY | __GFP_NOWARN);
		if (list->entries) {
			list->max = wanted;
			return 0;
		}
	}
	return -ENOMEM;
}

/* One page table's worth. The RCU lock keeps the table while khugepaged may retract it. */
static void list_page_table(struct list *list, u32 index, pmd_t *pmd, unsigned long addr,
			    unsigned long end)
{
	pmd_t value;
	pte_t *pte;

	rcu_read_lock();
	value = READ_ONCE(*pmd);
	if (!pmd_present(value) || pmd_leaf(value) || pmd_bad(value))
		goto out;
	pte = pte_offset_kernel(&value, addr);
	for (; addr < end && list->n < list->max; pte++, addr += PAGE_SIZE) {
		swp_entry_t entry;

		if (mts_compat_swap_entry(READ_ONCE(*pte), &entry))
			list->entries[list->n++] = (struct swapped){ entry.val, addr | index };
	}
out:
	rcu_read_unlock();
}

/* The page table of @addr if there is one; *next is where the next one begins. */
static pmd_t *find_page_table(struct mm_struct *mm, unsigned long addr, unsigned long end,
			      unsigned long *next)
{
	pgd_t *pgd = pgd_offset(mm, addr);
	p4d_t *p4d;
	pud_t *pud;

	*next = pgd_addr_end(addr, end);
	if (pgd_none(*pgd) || pgd_bad(*pgd))
		return NULL;
	p4d = p4d_offset(pgd, addr);
	*next = p4d_addr_end(addr, end);
	if (p4d_none(*p4d) || p4d_bad(*p4d))
		return NULL;
	pud = pud_offset(p4d, addr);
	*next = pud_addr_end(addr, end);
	if (!pud_present(*pud) || pud_leaf(*pud) || pud_bad(*pud))
		return NULL;
	*next = pmd_addr_end(addr, end);
	return pmd_offset(pud, addr);
}

static void list_vma(struct list *list, u32 index, struct vm_area_struct *vma)
{
	unsigned long addr, next;

	for (addr = vma->vm_start; addr < vma->vm_end && list->n < list->max; addr = next) {
		pmd_t *pmd = find_page_table(vma->vm_mm, addr, vma->vm_end, &next);

		if (pmd)
			list_page_table(list, index, pmd, addr, next);
	}
}

/* Only we still use it: its processes have exited. */
static bool is_dead(struct mm_struct *mm)
{
	return atomic_read(&mm->mm_users) <= 1;
}

static void list_mm(struct list *list, u32 index)
{
	struct mm_struct *mm = mms[index];
	struct vm_area_struct *vma;

	/* Whoever writes it is no frozen task, and may sleep: do not wait for that. */
	if (is_dead(mm) || !mmap_read_trylock(mm))
		return;
	VMA_ITERATOR(vmi, mm, 0);

	for_each_vma(vmi, vma) {
		/* Private memory that has been written to has an anon_vma. */
		if (vma->anon_vma && !(vma->vm_flags & (VM_PFNMAP | VM_IO)) &&
		    !is_vm_hugetlb_page(vma))
			list_vma(list, index, vma);
		if (mts_rotor_is_hurried())
			break;
		cond_resched();
	}
	mmap_read_unlock(mm);
}

static int compare_slots(const void *a, const void *b)
{
	const struct swapped *x = a, *y = b;

	return x->slot < y->slot ? -1 : x->slot > y->slot;
}

/* ---- the passes ---------------------------------------------------------------- */

/* Where a pass is: the address space that is locked, and the area last looked at. */
struct place {
	u32 index;
	struct mm_struct *mm; /* locked; NULL: none */
	struct vm_area_struct *vma;
};

static void leave(struct place *place)
{
	if (place->mm)
		mmap_read_unlock(place->mm);
	*place = (struct place){ 0 };
}

/* What is left of it its processes fault back, if there are any. */
static void give_up(struct place *place, u32 index)
{
	leave(place);
	put_mm(index);
}

/*
 * The memory of a process that was killed is freed when we let go of it: that
 * must not wait for the rest of the bin. One is looked at for each page.
 */
static void give_up_dead(struct place *place, u32 index)
{
	if (mms[index] && is_dead(mms[index]))
		give_up(place, index);
}

/* Who changes an address space is soon done; if not, that is not waited for. */
static bool lock_mm(struct mm_struct *mm)
{
	u32 i;

	for (i = 0; i < LOCK_TRIES && !mts_rotor_is_hurried(); i++) {
		if (mmap_read_trylock(mm))
			return true;
		schedule_timeout_idle(1);
	}
	return false;
}

static struct vm_area_struct *go_to(struct place *place, const struct swapped *entry)
{
	unsigned long addr = entry->where & PAGE_MASK;
	u32 index = entry->where & ~PAGE_MASK;

	/* Whoever wants to change it, and who queues behind that, waits for one page only. */
	if (place->mm && (place->index != index || mmap_lock_is_contended(place->mm)))
		leave(place);
	if (!mms[index])
		return NULL;
	if (!place->mm) {
		if (!lock_mm(mms[index])) {
			give_up(place, index);
			return NULL;
		}
		*place = (struct place){ .index = index, .mm = mms[index] };
	}
	if (!place->vma || addr < place->vma->vm_start || addr >= place->vma->vm_end)
		place->vma = find_vma(place->mm, addr);
	/* It may have been unmapped since; whoever did that is not one of the job's. */
	if (place->vma && addr < place->vma->vm_start)
		place->vma = NULL;
	return place->vma;
}

/* Let @flags say whether the fault only starts the read or waits for it. */
static void fault_in(struct list *list, struct place *place, const struct swapped *entry,
		     unsigned int flags)
{
	struct vm_area_struct *vma = go_to(place, entry);
	vm_fault_t fault;

	if (!vma)
		return;
	fault = handle_mm_fault(vma, entry->where & PAGE_MASK, FAULT_FLAG_REMOTE | flags, NULL);
	/*
	 * What cannot be read may take the disk long to find out, and a long
	 * request fails as a whole: not once more for this process.
	 */
	if (fault & VM_FAULT_OOM)
		list->over = true;
	else if (fault & VM_FAULT_ERROR)
		give_up(place, place->index);
	else if (!flags)
		list->mapped++;
}

/*
 * What is available is an estimate: watermarks can be far above it, and what
 * counts as cache can be held. A fault that finds nothing has somebody killed,
 * in the name of a process that stands still; this only finds nothing.
 */
static bool can_have_page(void)
{
	struct page *page = alloc_page(GFP_HIGHUSER_MOVABLE | __GFP_NORETRY | __GFP_NOWARN);

	if (page)
		__free_page(page);
	return page;
}

static bool is_memory_left(void)
{
	/* A 64th of the memory: what is brought back must not push out what runs. */
	return si_mem_available() > (long)(totalram_pages() / 64) && can_have_page();
}

/* However slow the disk: asked before each page. */
static bool is_to_go_on(u32 page)
{
	if (mts_rotor_is_hurried())
		return false;
	if (page % LOOK)
		return true;
	mts_rotor_step("a bin is brought back");
	cond_resched();
	return is_memory_left();
}

static void pass(struct list *list, u32 from, unsigned int flags)
{
	u32 i, to = min(list->n, from + BATCH);
	struct place place = { 0 };

	for (i = from; i < to && !list->over; i++) {
		list->over = !is_to_go_on(i);
		if (list->over)
			break;
		give_up_dead(&place, i % nmms);
		fault_in(list, &place, &list->entries[i], flags);
	}
	leave(&place);
}

static void start_reads(struct list *list, u32 from)
{
	struct blk_plug plug;

	blk_start_plug(&plug);
	pass(list, from, FAULT_FLAG_ALLOW_RETRY | FAULT_FLAG_RETRY_NOWAIT);
	blk_finish_plug(&plug);
}

static void read_list(struct list *list)
{
	u32 from;

	start_reads(list, 0);
	for (from = 0; from < list->n && !list->over; from += BATCH) {
		/* One batch ahead, so that the disk does not wait for the mapping. */
		start_reads(list, from + BATCH);
		pass(list, from, 0);
	}
}

/* What the limits of a job's cgroup, and of those above it, leave. */
static u64 room_of(struct mts_job *job)
{
	struct cgroup_subsys_state *css = cgroup_get_e_css(job->cgrp, &memory_cgrp_subsys);
	struct mem_cgroup *memcg;
	u64 room = U64_MAX;

	for (memcg = mem_cgroup_from_css(css); memcg; memcg = parent_mem_cgroup(memcg)) {
		u64 limit = min(READ_ONCE(memcg->memory.max), READ_ONCE(memcg->memory.high));

		room = min(room, mts_sub_floor(limit, page_counter_read(&memcg->memory)));
	}
	css_put(css);
	return room;
}

/*
 * Keep the jobs that have something in swap, and room for it: one that is held
 * below its size by a limit of its own would push out what has just come back.
 * Return: pages that are to come back.
 */
static u64 choose(struct mts_job **jobs, u32 *n)
{
	u64 total = 0;
	u32 i, kept = 0;

	for (i = 0; i < *n; i++) {
		struct mts_usage usage;
		u64 pages;

		if (mts_ops->usage(jobs[i], &usage))
			continue;
		pages = usage.swap >> PAGE_SHIFT;
		if (!pages || pages > room_of(jobs[i]))
			continue;
		total += pages;
		jobs[kept++] = jobs[i];
	}
	*n = kept;
	return total;
}

u64 mts_bring_back(struct mts_job **jobs, u32 n)
{
	struct list list = { 0 };
	u64 pages = choose(jobs, &n);
	u32 i;

	if (!pages || list_alloc(&list, pages + pages / 8))
		return 0;
	get_mms(jobs, n);
	mts_rotor_step("a bin is brought back");
	for (i = 0; i < nmms && list.n < list.max && !mts_rotor_is_hurried(); i++)
		list_mm(&list, i);
	sort(list.entries, list.n, sizeof(*list.entries), compare_slots, NULL);
	if (list.n) {
		mts_readahead_begin();
		read_list(&list);
		mts_readahead_end();
	}
	put_mms();
	kvfree(list.entries);
	return list.mapped;
}

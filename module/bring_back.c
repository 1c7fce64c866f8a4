// SPDX-License-Identifier: GPL-2.0
/*
 * Left to itself each page of an incoming bin is a fault that waits for a
 * request of its own: memory is evicted in the order in which it was touched, so
 * that neighbours in memory lie apart in swap. Here what is swapped of the frozen
 * jobs is taken in the order in which it lies there: reads are started without
 * waiting, inside a block plug, where neighbours merge into long requests, and
 * then each page is mapped.
 *
 * Shared memory is read as the reads are "started": shmem_fault() always waits.
 */
#include "bring_back.h"

#include <linux/blkdev.h>
#include <linux/memcontrol.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/swap.h>

#include "mms.h"
#include "mts.h"
#include "ops.h"
#include "readahead.h"
#include "rotor_private.h"
#include "swapped.h"

/* Pages whose reads are under way before the first is waited for: 8 MiB. */
#define BATCH 2048u

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

static struct vm_area_struct *go_to(struct place *place, const struct mts_swapped *entry)
{
	unsigned long addr = mts_swapped_addr(entry);
	u32 index = mts_swapped_mm(entry);

	if (!place->mm || place->index != index) {
		leave(place);
		*place = (struct place){ .index = index, .mm = mts_mms_lock(index) };
		if (!place->mm)
			return NULL;
	}
	if (!place->vma || addr < place->vma->vm_start || addr >= place->vma->vm_end)
		place->vma = find_vma(place->mm, addr);
	/* It may have been unmapped since; whoever did that is not one of the job's. */
	if (place->vma && addr < place->vma->vm_start)
		place->vma = NULL;
	return place->vma;
}

/*
 * Let @flags say whether the fault only starts the read or waits for it.
 * Return: false if memory is out.
 */
static bool fault_in(struct place *place, const struct mts_swapped *entry, unsigned int flags)
{
	struct vm_area_struct *vma = go_to(place, entry);
	vm_fault_t fault;

	if (!vma)
		return true;
	fault = handle_mm_fault(vma, mts_swapped_addr(entry), FAULT_FLAG_REMOTE | flags, NULL);
	return !(fault & VM_FAULT_OOM);
}

static bool pass(const struct mts_swapped_list *list, u32 from, unsigned int flags)
{
	u32 i, to = min(list->n, from + BATCH);
	struct place place = { 0 };
	bool good = true;

	mts_rotor_step("a bin is brought back");
	for (i = from; i < to && good && !mts_rotor_is_hurried(); i++)
		good = fault_in(&place, &list->entries[i], flags);
	leave(&place);
	cond_resched();
	return good && !mts_rotor_is_hurried();
}

static bool start_reads(const struct mts_swapped_list *list, u32 from)
{
	struct blk_plug plug;
	bool good;

	blk_start_plug(&plug);
	good = pass(list, from, FAULT_FLAG_ALLOW_RETRY | FAULT_FLAG_RETRY_NOWAIT);
	blk_finish_plug(&plug);
	return good;
}

static bool is_memory_left(void)
{
	/* A 64th of the memory: what is brought back must not push out what runs. */
	return si_mem_available() > (long)(totalram_pages() / 64);
}

/* Return: pages that were mapped. */
static u32 read_list(const struct mts_swapped_list *list)
{
	u32 from;

	if (!start_reads(list, 0))
		return 0;
	for (from = 0; from < list->n; from += BATCH) {
		if (!is_memory_left())
			return from;
		/* One batch ahead, so that the disk does not wait for the mapping. */
		if (from + BATCH < list->n && !start_reads(list, from + BATCH))
			return from;
		if (!pass(list, from, 0))
			return from;
	}
	return list->n;
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
	struct mts_swapped_list list;
	u64 pages = choose(jobs, &n);
	u32 done = 0;

	if (!pages)
		return 0;
	mts_rotor_step("a bin is brought back");
	/* What is shared is charged to one job, and may be counted short. */
	if (!mts_swapped_collect(&list, mts_mms_get(jobs, n), pages + pages / 8)) {
		mts_readahead_begin();
		if (list.n && !mts_rotor_is_hurried())
			done = read_list(&list);
		mts_readahead_end();
		kvfree(list.entries);
	}
	mts_mms_put();
	return done;
}

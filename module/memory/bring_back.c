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
#include "memory/bring_back.h"

#include <linux/blkdev.h>
#include <linux/memcontrol.h>
#include <linux/mm.h>
#include <linux/sched/mm.h>
#include <linux/swap.h>
#include <linux/userfaultfd_k.h>

#include "compat/swap_entry.h"
#include "events/promise.h"
#include "memory/memory.h"
#include "memory/mms.h"
#include "mts.h"
#include "job.h"
#include "memory/page_tables.h"
#include "memory/readahead.h"
#include "memory/swap_slots.h"
#include "memory/swapped.h"
#include "memory/usage.h"
#include "memory/workers.h"
#include "policy/demand.h"

/* Pages whose reads are under way before the first is waited for: 8 MiB. */
#define BATCH 2048u
/* Pages between two looks at the memory that is left. */
#define LOOK 32u
/* Several workers may be between two looks. */
#define LEAST_ROOM (8 * LOOK)
/* Whoever is thawed out of turn meanwhile waits for the rest for so long; it comes in bulk. */
#define LATE_NS (1 * (u64)NSEC_PER_SEC)
/*
 * A page that takes longer than this on average, over the first SLOW_PAGES and more: many of them
 * are requests of their own, and the disk takes few at a time. 40 MB/s; an SSD takes 10 us.
 */
#define SLOW_NS (100 * (u64)NSEC_PER_USEC)
#define SLOW_PAGES 1024u
/* Where there is a second for it, as at the end of turns: the list must be sorted soon. 1 GiB. */
#define MOST_AT_END (1ull << (30 - PAGE_SHIFT))
/* Without a free page for so long nobody frees any, or others take them all. */
#define PAGE_WAIT_NS (100 * (u64)NSEC_PER_MSEC)

/* ---- the passes ---------------------------------------------------------------- */

/* The workers share it: what each writes of it is a flag, or atomic. */
struct progress {
	const struct mts_swapped_list *list;
	const struct mts_move *move;
	u32 nmms;
	u64 began;
	atomic_t next; /* of the list, for whoever takes a batch */
	atomic_t looked; /* at so many address spaces, whether they are dead */
	atomic64_t late; /* since when somebody runs who waits for it; 0: nobody does */
	atomic_t mapped; /* pages that are back */
	bool slow; /* the disk is, at what lies as this does */
	bool over; /* no further, whatever is left */
};

/* Where a worker is: the address space that is locked, and the area last looked at. */
struct place {
	u32 index;
	struct mm_struct *mm; /* locked; NULL: none */
	struct vm_area_struct *vma;
};

static void leave(struct place *place)
{
	if (place->mm)
		mts_mms_unlock(place->mm);
	*place = (struct place){ 0 };
}

/*
 * Thawed by the watchdog in the middle of it: the switch has taken too long. Whoever runs
 * now faults for itself, page by page, and what it reads lies scattered from then on. If
 * hardly anything was missing it had better come in bulk all the same; else we would wait in line
 * with it.
 */
static bool is_too_late(struct progress *p, u32 index)
{
	const struct mts_job *job = mts_mms_job(index);

	if (!READ_ONCE(job->overdue) || READ_ONCE(job->frozen))
		return false;
	atomic64_cmpxchg(&p->late, 0, ktime_get_ns());
	return ktime_get_ns() > atomic64_read(&p->late) + LATE_NS;
}

/* Pages that the limits of a cgroup leave, and of those above it from the given level on down. */
static u64 room_from(struct mem_cgroup *memcg, int level)
{
	u64 room = U64_MAX;

	for (; memcg && memcg->css.cgroup->level >= level; memcg = parent_mem_cgroup(memcg)) {
		u64 limit = min(READ_ONCE(memcg->memory.max), READ_ONCE(memcg->memory.high));

		room = min(room, mts_sub_floor(limit, page_counter_read(&memcg->memory)));
	}
	return room;
}

/*
 * Cgroups within the job's may have limits of their own, as containers have. Our faults do not
 * stop at them (fault_in()): who is beyond one gives all of it up again as soon as he runs.
 */
static bool has_room(struct mm_struct *mm, const struct mts_job *job)
{
	struct mem_cgroup *memcg = get_mem_cgroup_from_mm(mm);
	bool has = room_from(memcg, job->cgrp->level + 1) >= LEAST_ROOM;

	mem_cgroup_put(memcg);
	return has;
}

/* Asked now and then; what is left of its memory is its own to fault back. */
static void look_for_room(const struct place *place)
{
	if (place->mm && !has_room(place->mm, mts_mms_job(place->index)))
		mts_mms_give_up(place->index);
}

static struct vm_area_struct *go_to(const struct mts_move *move, struct place *place,
				    const struct mts_swapped *entry)
{
	unsigned long addr = mts_swapped_addr(entry);
	u32 index = mts_swapped_mm(entry);

	/* Whoever wants to change it, and who queues behind that, waits for one page only. */
	if (place->mm && (place->index != index || mmap_lock_is_contended(place->mm) ||
			  mts_mms_is_given_up(index)))
		leave(place);
	if (!place->mm) {
		*place = (struct place){ .index = index, .mm = mts_mms_lock(move, index) };
		look_for_room(place);
	}
	/* What is left of it its processes fault back, if there are any. */
	if (!place->mm || mts_mms_is_given_up(index)) {
		mts_mms_give_up(index);
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
 * The list is of a job that stood still, but whoever is thawed meanwhile, or shares its memory and
 * is not of the job, may have made something else of an address: a file on a server that does
 * not answer, or a device. Only the kernel's own memory is asked for.
 */
static bool is_in_swap(struct vm_area_struct *vma, const struct mts_swapped *entry)
{
	swp_entry_t now;

	if (mts_is_shared(vma))
		return true;
	return mts_is_private(vma) &&
	       mts_compat_swap_entry(mts_page_tables_at(vma, mts_swapped_addr(entry)), &now);
}

/*
 * Is it to come back by a writing fault, with which it loses its slot in swap (swap_slots.h)?
 * Where requests cost nothing it had better keep it: it may not have to be written.
 */
static bool is_to_move(const struct progress *p, struct vm_area_struct *vma,
		       const struct mts_swapped *entry)
{
	return (p->slow || mts_swapped_is_scattered(entry)) && mts_swapped_moves(entry) &&
	       !p->move->urgent && vma->vm_flags & VM_WRITE && !userfaultfd_armed(vma);
}

/* Let @flags say whether the fault only starts the read or waits for it. */
static void fault_in(struct progress *p, struct place *place, const struct mts_swapped *entry,
		     unsigned int flags)
{
	struct vm_area_struct *vma = go_to(p->move, place, entry);
	unsigned int write, noreclaim;
	vm_fault_t fault;

	if (!vma)
		return;
	if (!is_in_swap(vma, entry)) {
		/* What is read without waiting, as from zram, the first pass has mapped. */
		if (!flags)
			atomic_inc(&p->mapped);
		return;
	}
	write = is_to_move(p, vma, entry) ? FAULT_FLAG_WRITE : 0;
	mts_swap_slots_lose(&mts_mms_job(mts_swapped_mm(entry))->swap_slots, write);
	noreclaim = memalloc_noreclaim_save();
	fault = handle_mm_fault(vma, mts_swapped_addr(entry), FAULT_FLAG_REMOTE | flags | write,
				NULL);
	memalloc_noreclaim_restore(noreclaim);
	/*
	 * What cannot be read may take the disk long to find out, and a long
	 * request fails as a whole: not once more for this process.
	 */
	if (fault & VM_FAULT_OOM)
		WRITE_ONCE(p->over, true);
	else if (fault & VM_FAULT_ERROR)
		mts_mms_give_up(place->index);
	else if (!flags)
		atomic_inc(&p->mapped);
}

/*
 * What is available is an estimate, which says little near the watermarks. A fault that finds no
 * page there would write out others, to the disk that we read from: thousands have been seen, in
 * five seconds with no look at anything. If that led to nothing it would have somebody killed, in
 * the name of a process that stands still. So faults do not reclaim here (fault_in()): they
 * may go below the watermarks, but by LOOK pages at most. To ask for each page would cost a
 * third of the time: below the low watermark an allocation takes its long way.
 */
static bool can_have_page(void)
{
	struct page *page =
		alloc_page((GFP_HIGHUSER_MOVABLE & ~__GFP_DIRECT_RECLAIM) | __GFP_NOWARN);

	if (page)
		__free_page(page);
	return page;
}

/* kswapd, which that wakes, has freed one in time, or there is one. */
static bool wait_for_page(const struct progress *p, struct place *place)
{
	u64 end = 0;

	while (!can_have_page()) {
		leave(place);
		if (!end)
			end = ktime_get_ns() + PAGE_WAIT_NS;
		else if (p->move->should_abort() || ktime_get_ns() > end)
			return false;
		schedule_timeout_idle(1);
	}
	return true;
}

static bool is_memory_left(void)
{
	u64 pages = max(si_mem_available(), 0L), least = totalram_pages() / 64;

	/* A 64th of the memory: what is brought back must not push out what runs. */
	return pages > least || pages + (mts_memory_listed() >> PAGE_SHIFT) > least;
}

/* Do the pages that come lie so that the disk is slow? */
static bool is_slow(const struct progress *p)
{
	u64 pages = max_t(u64, atomic_read(&p->mapped), SLOW_PAGES);

	return ktime_get_ns() - p->began > SLOW_NS * pages;
}

/* However slow the disk: asked before each page. */
static bool is_to_go_on(struct progress *p, u32 page, struct place *place)
{
	if (p->move->should_abort() || mts_move_is_late(p->move) || mts_move_should_yield(p->move))
		return false;
	if (page % LOOK)
		return true;
	mts_promise_step("a bin is brought back");
	cond_resched();
	WRITE_ONCE(p->slow, is_slow(p));
	/*
	 * The memory of a process that was killed is freed when we let go of it: that must not
	 * wait for the rest of the bin. One is looked at for each page.
	 */
	mts_mms_drop_dead(atomic_fetch_add(LOOK, &p->looked), LOOK);
	mts_workers_call();
	look_for_room(place);
	return is_memory_left() && wait_for_page(p, place);
}

static void pass(struct progress *p, u32 from, unsigned int flags)
{
	u32 i, to = min(p->list->n, from + BATCH);
	struct place place = { 0 };

	for (i = from; i < to && !READ_ONCE(p->over); i++) {
		if (!is_to_go_on(p, i, &place) || is_too_late(p, i % p->nmms)) {
			WRITE_ONCE(p->over, true);
			break;
		}
		fault_in(p, &place, &p->list->entries[i], flags);
	}
	leave(&place);
}

static void start_reads(struct progress *p, u32 from)
{
	struct blk_plug plug;

	blk_start_plug(&plug);
	pass(p, from, FAULT_FLAG_ALLOW_RETRY | FAULT_FLAG_RETRY_NOWAIT);
	blk_finish_plug(&plug);
}

/* The first page of a batch that is this worker's alone; the list's length: there is none. */
static u32 take_batch(struct progress *p)
{
	u32 from = atomic_fetch_add(BATCH, &p->next);

	return min(from, p->list->n);
}

static void read_batches(void *data)
{
	struct progress *p = data;
	u32 from, next = take_batch(p);

	start_reads(p, next);
	while (next < p->list->n && !READ_ONCE(p->over)) {
		from = next;
		/* One batch ahead, so that the disk does not wait for the mapping. */
		next = take_batch(p);
		start_reads(p, next);
		pass(p, from, 0);
	}
}

static void read_list(struct progress *p)
{
	p->began = ktime_get_ns();
	/* The workers may be busy with what was left for this. */
	if (p->move->urgent)
		read_batches(p);
	else
		mts_workers_run(read_batches, p, min(p->move->threads, p->list->n / BATCH + 1));
}

/* What the limits of a job's cgroup, and of those above it, leave. */
static u64 room_of(struct mts_job *job)
{
	struct cgroup_subsys_state *css = cgroup_get_e_css(job->cgrp, &memory_cgrp_subsys);
	u64 room = room_from(mem_cgroup_from_css(css), 0);

	css_put(css);
	return room;
}

/*
 * Keep the jobs that have something in swap, and room for it: one that is held
 * below its size by a limit of its own would push out what has just come back.
 * Return: pages that are to come back.
 */
static u64 choose(struct mts_move *move)
{
	u64 total = 0;
	u32 i, kept = 0;

	for (i = 0; i < move->n; i++) {
		const struct mts_moved *moved = &move->jobs[i];
		struct mts_usage usage;
		u64 pages;

		if (mts_usage_measure(moved->job, &usage))
			continue;
		pages = usage.swap >> PAGE_SHIFT;
		if (!pages || pages > room_of(moved->job) + (moved->skip_bytes >> PAGE_SHIFT))
			continue;
		total += pages;
		move->jobs[kept++] = *moved;
	}
	move->n = kept;
	return total;
}

static void begin(const struct mts_move *move)
{
	u32 i;

	mts_readahead_begin();
	for (i = 0; i < move->n; i++)
		mts_swap_slots_begin(&move->jobs[i].job->swap_slots, move->jobs[i].job->cgrp);
}

static void end(const struct mts_move *move)
{
	u32 i;

	for (i = 0; i < move->n; i++)
		mts_swap_slots_end(&move->jobs[i].job->swap_slots);
	mts_readahead_end();
}

/*
 * Once, as far as that goes. *@cut: there was no room for a list of so many, and most of those on
 * it are back. Return: pages brought back.
 */
static u32 bring(const struct mts_move *move, u64 pages, bool *cut)
{
	struct mts_swapped_list list;
	struct progress progress = { .list = &list, .move = move };

	*cut = false;
	mts_promise_step("a bin is brought back");
	progress.nmms = mts_mms_get(move);
	if (!mts_swapped_collect(&list, move, progress.nmms, pages)) {
		if (list.n) {
			begin(move);
			read_list(&progress);
			end(move);
			*cut = list.n == list.max && list.max < pages && !progress.over &&
			       atomic_read(&progress.mapped) > list.n / 2;
		}
		kvfree(list.entries);
	}
	mts_mms_put();
	return atomic_read(&progress.mapped);
}

static void settle(struct mts_move *move)
{
	u32 i;

	for (i = 0; i < move->n; i++)
		move->jobs[i].job->scattered = false;
}

u64 mts_bring_back(struct mts_move *move)
{
	bool cut;
	u64 back;

	/* What is shared is charged to one job, and may be counted short. */
	if (!move->again)
		move->left = choose(move) * 9 / 8;
	move->again = false;
	if (!move->left)
		return 0;
	if (move->urgent || move->brief)
		move->left = min(move->left, MOST_AT_END);
	back = bring(move, move->left, &cut);
	move->left = mts_sub_floor(move->left, back);
	if (move->urgent)
		return back;
	move->again = move->left && (cut || mts_move_should_yield(move)) && !move->should_abort();
	if (!move->again)
		settle(move);
	return back;
}

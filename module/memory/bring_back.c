// SPDX-License-Identifier: GPL-2.0
/*
 * Brings back a bin in bulk.
 *
 * Page faults alone are slow: each waits for a request of its own. Memory is evicted in the order
 * in which it was touched, so that neighbours in memory lie apart in swap. Here the swapped pages
 * of the frozen jobs are sorted by their position in swap. A first pass starts the reads without
 * waiting, inside a block plug, where neighbours merge into long requests. A second pass maps each
 * page.
 *
 * Shared memory is read in the first pass already: shmem_fault() always waits.
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
#include "memory/disk.h"
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

/*
 * Pages whose reads are started before the second pass waits for the first of them: 8 MiB. A larger
 * batch needs more free memory at once; a smaller one makes shorter requests.
 */
#define BATCH 2048u
/*
 * Pages that a worker may read between two checks of the memory that is left, and the rest of its
 * last readahead. A check before each page would cost a third of the time. Without checks faults
 * use up the memory below the watermarks. Of that, eight workers take 1.25 MiB at most with the
 * kernel's default readahead. The kernel keeps 1.4 MiB on a host of 128 MiB, 64 MiB on one of 256
 * GiB (vm.min_free_kbytes).
 */
#define CHECK_PAGES 32u
/*
 * The watchdog may thaw a job during its bring-back, because the switch takes too long. Then
 * bring-back goes on for this long, ns: in bulk the rest comes faster than by the job's own faults.
 */
#define LATE_NS (1 * (u64)NSEC_PER_SEC)
/*
 * Pages to bring back if little time is left, a second, as at the end of turns: 1 GiB. An SSD reads
 * as much in a second. Sorting it takes 25 to 80 ms (a processor of 2 to 3 GHz, idle and busy); of
 * 4 GiB, a third of the second.
 */
#define BRIEF_PAGES (1ull << (30 - PAGE_SHIFT))
/*
 * Bring-back ends after this long without a free page, ns: then kswapd frees none, or other tasks
 * take them all.
 */
#define PAGE_WAIT_NS (100 * (u64)NSEC_PER_MSEC)
/*
 * Requests that are timed together (time_requests()). A disk that serves as many at a time takes as
 * long for all as for one. A rotating disk takes some 0.1 s for all, which is worth knowing once in
 * ten minutes.
 */
#define REQUESTS 16u
/* How far apart they are at least, pages: more than any readahead. */
#define REQUEST_STEP 64u

#define NO_WAIT (FAULT_FLAG_ALLOW_RETRY | FAULT_FLAG_RETRY_NOWAIT)

/* ---- the passes ---------------------------------------------------------------- */

/* State of one bring-back. Workers share it: all that they write is flags and atomics. */
struct progress {
	const struct mts_swapped_list *list;
	struct mts_move *move;
	u32 nmms;
	u32 around; /* pages that a fault reads at most */
	const struct task_struct *owner; /* the rotor's thread */
	struct mts_disk_mark began; /* of that thread */
	atomic_t next; /* index of the next batch in the list */
	atomic_t checked; /* address spaces checked for dead processes */
	atomic64_t overdue_since; /* when a job was first seen thawed as overdue, ns; 0: not yet */
	atomic_t mapped; /* pages that are back */
	bool slow; /* the disk needs rows for this list */
	bool stopped; /* stop, whatever is left */
};

/*
 * Where a page of an address space could not be read, and how many places of the list behind it are
 * passed over for that address space: a disk may take seconds for a page that it cannot read, and a
 * long request fails as a whole. They are 4, 16, 64, ..., so that an address space of 2^31 pages
 * has at most 16 such errors in one list.
 *
 * Workers write it without a lock: the last error counts.
 */
static struct gap {
	u32 at;
	u32 length;
} gaps[MTS_MAX_MMS];

static bool is_in_gap(u32 index, u32 at)
{
	return at - READ_ONCE(gaps[index].at) < READ_ONCE(gaps[index].length);
}

static void make_gap(u32 index, u32 at)
{
	u32 longer = min(READ_ONCE(gaps[index].length), 1u << 29) * 4;

	WRITE_ONCE(gaps[index].at, at);
	WRITE_ONCE(gaps[index].length, longer ?: 4);
}

/* Position of a worker: the locked address space, and the last area in it. */
struct cursor {
	u32 index;
	struct mm_struct *mm; /* locked; NULL: none */
	struct vm_area_struct *vma;
};

static void unlock(struct cursor *cursor)
{
	if (cursor->mm)
		mts_mms_unlock(cursor->mm);
	*cursor = (struct cursor){ 0 };
}

/*
 * Has the watchdog thawed this job, because the switch takes too long, and has LATE_NS passed? The
 * job then faults page by page. What it reads lies scattered in swap from then on, and our reads
 * would queue behind its faults. Until LATE_NS have passed, bulk reads are faster for it.
 */
static bool is_overdue_for_long(struct progress *p, u32 index)
{
	const struct mts_job *job = mts_mms_job(index);

	if (!READ_ONCE(job->overdue) || READ_ONCE(job->frozen))
		return false;
	atomic64_cmpxchg(&p->overdue_since, 0, ktime_get_ns());
	return ktime_get_ns() > atomic64_read(&p->overdue_since) + LATE_NS;
}

/* Pages that the limits of @memcg leave, and those of its ancestors down from @level. */
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
 * Cgroups below the job's may have limits of their own, as containers have. Our faults ignore these
 * limits (fault_in()), but a process beyond its limit gives up all of that memory when it runs. So
 * leave room for what all workers may read between two checks.
 */
static bool has_room(const struct progress *p, struct mm_struct *mm, const struct mts_job *job)
{
	u64 least = (u64)MTS_MOVERS_MAX * (CHECK_PAGES + p->around);
	struct mem_cgroup *memcg = get_mem_cgroup_from_mm(mm);
	bool has = room_from(memcg, job->cgrp->level + 1) >= least;

	mem_cgroup_put(memcg);
	return has;
}

/* Give up an address space whose cgroup is near its limit: its processes fault the rest back. */
static void check_room(const struct progress *p, const struct cursor *cursor)
{
	if (cursor->mm && !has_room(p, cursor->mm, mts_mms_job(cursor->index)))
		mts_mms_give_up(cursor->index);
}

static struct vm_area_struct *find_area(const struct progress *p, struct cursor *cursor,
					const struct mts_swapped *entry)
{
	unsigned long addr = mts_swapped_addr(entry);
	u32 index = mts_swapped_mm(entry);

	/*
	 * Writers of the address space, and readers queued behind them, must not wait for more than
	 * one page.
	 */
	if (cursor->mm && (cursor->index != index || mmap_lock_is_contended(cursor->mm) ||
			   mts_mms_is_given_up(index)))
		unlock(cursor);
	if (!cursor->mm) {
		*cursor = (struct cursor){ .index = index, .mm = mts_mms_lock(p->move, index) };
		check_room(p, cursor);
	}
	/* The processes of the address space, if any are left, fault the rest back. */
	if (!cursor->mm || mts_mms_is_given_up(index)) {
		mts_mms_give_up(index);
		return NULL;
	}
	if (!cursor->vma || addr < cursor->vma->vm_start || addr >= cursor->vma->vm_end)
		cursor->vma = find_vma(cursor->mm, addr);
	/* A process outside the job that shares the memory may have unmapped the area. */
	if (cursor->vma && addr < cursor->vma->vm_start)
		cursor->vma = NULL;
	return cursor->vma;
}

/*
 * Is the page still in swap? A job that is thawed meanwhile, or a process outside the job that
 * shares its memory, may have changed the mapping: to a file on a server that does not answer, or
 * to a device. Only anonymous and shared memory may be faulted in.
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
 * Should the page come back by a writing fault, which frees its slot in swap (swap_slots.h)? On a
 * fast disk the slot is worth keeping: a page that stays clean need not be written again.
 */
static bool should_lose_slot(const struct progress *p, struct vm_area_struct *vma,
			     const struct mts_swapped *entry)
{
	return (p->slow || mts_swapped_is_scattered(entry)) && mts_swapped_loses_slot(entry) &&
	       !p->move->urgent && vma->vm_flags & VM_WRITE && !userfaultfd_armed(vma);
}

/*
 * Fault in the page at place @at of the list. @flags decide whether the fault only starts the read,
 * or waits for it. Return: pages that it may have read, with those around it.
 */
static u32 fault_in(struct progress *p, struct cursor *cursor, u32 at, unsigned int flags)
{
	const struct mts_swapped *entry = &p->list->entries[at];
	unsigned int write, noreclaim;
	struct vm_area_struct *vma;
	vm_fault_t fault;

	if (is_in_gap(mts_swapped_mm(entry), at))
		return 0;
	vma = find_area(p, cursor, entry);
	if (!vma)
		return 0;
	if (!is_in_swap(vma, entry)) {
		/* The first pass mapped what is read without waiting, as from zram. */
		if (!flags)
			atomic_inc(&p->mapped);
		return 0;
	}
	write = should_lose_slot(p, vma, entry) ? FAULT_FLAG_WRITE : 0;
	mts_swap_slots_lose(&mts_mms_job(mts_swapped_mm(entry))->swap_slots, write);
	noreclaim = memalloc_noreclaim_save();
	fault = handle_mm_fault(vma, mts_swapped_addr(entry), FAULT_FLAG_REMOTE | flags | write,
				NULL);
	memalloc_noreclaim_restore(noreclaim);
	if (fault & VM_FAULT_OOM)
		WRITE_ONCE(p->stopped, true);
	else if (fault & VM_FAULT_ERROR)
		make_gap(mts_swapped_mm(entry), at);
	else if (!flags)
		atomic_inc(&p->mapped);
	return fault & VM_FAULT_MAJOR ? p->around : 1;
}

/*
 * Can a page be allocated without reclaim?
 *
 * si_mem_available() is an estimate, and says little near the watermarks. A fault without a free
 * page would reclaim. It would write other pages to the disk that is being read, and could invoke
 * the OOM killer in the name of a frozen process. So faults must not reclaim here (fault_in()).
 * They may go below the watermarks, as far as CHECK_PAGES says.
 */
static bool can_have_page(void)
{
	struct page *page =
		alloc_page((GFP_HIGHUSER_MOVABLE & ~__GFP_DIRECT_RECLAIM) | __GFP_NOWARN);

	if (page)
		__free_page(page);
	return page;
}

/* The failed allocation wakes kswapd. Return: is there a free page in time? */
static bool wait_for_page(const struct progress *p, struct cursor *cursor)
{
	u64 end = 0;

	while (!can_have_page()) {
		unlock(cursor);
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
	u64 pages = max(si_mem_available(), 0L),
	    least = totalram_pages() / MTS_BRING_BACK_LEAVES_PART;

	return pages > least || pages + (mts_memory_listed() >> PAGE_SHIFT) > least;
}

/* The rotor's thread alone can tell what all threads have worked. */
static void look_at_disk(struct progress *p)
{
	struct mts_disk_sample so_far;

	if (current != p->owner || atomic_read(&p->mapped) < MTS_DISK_LEAST_PAGES)
		return;
	so_far = mts_disk_since(&p->began, atomic_read(&p->mapped));
	WRITE_ONCE(p->slow, mts_disk_needs_rows_for(&so_far, p->move->request_ns));
}

/*
 * Checked before each page, as one page may take a slow disk long. @read: in and out: pages that
 * this worker may have read since memory was checked.
 */
static bool should_go_on(struct progress *p, u32 *read, struct cursor *cursor)
{
	if (p->move->should_abort() || mts_move_is_late(p->move) || mts_move_should_yield(p->move))
		return false;
	if (*read < CHECK_PAGES)
		return true;
	*read = 0;
	mts_promise_step("a bin is brought back");
	cond_resched();
	look_at_disk(p);
	/*
	 * A killed process frees its memory only when its address space is released. It must not
	 * wait for the rest of the bin. On average one address space is checked per page.
	 */
	mts_mms_drop_dead(atomic_fetch_add(CHECK_PAGES, &p->checked), CHECK_PAGES);
	mts_workers_call();
	check_room(p, cursor);
	return is_memory_left() && wait_for_page(p, cursor);
}

static void pass_some(struct progress *p, u32 from, u32 to, u32 step, unsigned int flags)
{
	u32 i, read = CHECK_PAGES;
	struct cursor cursor = { 0 };

	for (i = from; i < to && !READ_ONCE(p->stopped); i += step) {
		if (!should_go_on(p, &read, &cursor) || is_overdue_for_long(p, i % p->nmms)) {
			WRITE_ONCE(p->stopped, true);
			break;
		}
		read += fault_in(p, &cursor, i, flags);
	}
	unlock(&cursor);
}

static void pass(struct progress *p, u32 from, unsigned int flags)
{
	pass_some(p, from, min(p->list->n, from + BATCH), 1, flags);
}

static void start_reads(struct progress *p, u32 from)
{
	struct blk_plug plug;

	blk_start_plug(&plug);
	pass(p, from, NO_WAIT);
	blk_finish_plug(&plug);
}

/*
 * What is a request by itself on this disk? Start some that lie so far apart that they do not merge
 * and that no readahead covers two of them, and wait for all. These pages are back then.
 */
static void time_requests(struct progress *p)
{
	u32 step = p->list->n / REQUESTS;
	struct mts_disk_sample sample;
	struct mts_disk_mark mark;

	if (p->move->request_ns || p->move->urgent || p->move->brief || step < REQUEST_STEP)
		return;
	mark = mts_disk_mark();
	pass_some(p, 0, REQUESTS * step, step, NO_WAIT);
	pass_some(p, 0, REQUESTS * step, step, 0);
	sample = mts_disk_since(&mark, REQUESTS);
	/* The list is gone through again from its beginning. */
	if (atomic_xchg(&p->mapped, 0) == REQUESTS && !p->stopped)
		p->move->request_ns =
			max_t(u64, div_u64(sample.worked_ns + sample.waited_ns, REQUESTS), 1);
}

/*
 * Return: start of a batch that belongs to this worker; the length of the list: none is left.
 */
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
	while (next < p->list->n && !READ_ONCE(p->stopped)) {
		from = next;
		/* Stay one batch ahead, so that the disk does not idle during mapping. */
		next = take_batch(p);
		start_reads(p, next);
		pass(p, from, 0);
	}
}

static void read_list(struct progress *p)
{
	p->owner = current;
	time_requests(p);
	p->began = mts_disk_mark();
	/* Workers may still be busy with a move that was interrupted for this one. */
	if (p->move->urgent)
		read_batches(p);
	else
		mts_workers_run(read_batches, p, min(p->move->threads, p->list->n / BATCH + 1));
}

/* Pages that the limits of a job's cgroup and of its ancestors leave. */
static u64 room_of(struct mts_job *job)
{
	struct cgroup_subsys_state *css = cgroup_get_e_css(job->cgrp, &memory_cgrp_subsys);
	u64 room = room_from(mem_cgroup_from_css(css), 0);

	css_put(css);
	return room;
}

/*
 * Keep only jobs that have pages in swap and room for them. A job held below its size by a limit of
 * its own would push out pages that have just come back.
 *
 * Return: pages that should come back.
 */
static u64 choose_jobs(struct mts_move *move)
{
	u64 total = 0;
	u32 i, kept = 0;

	for (i = 0; i < move->n; i++) {
		const struct mts_moved *moved = &move->jobs[i];
		struct mts_usage usage;
		u64 pages;

		mts_promise_step("memory is measured");
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

static void begin(struct progress *p)
{
	const struct mts_move *move = p->move;
	u32 i;

	memset(gaps, 0, p->nmms * sizeof(gaps[0]));
	p->around = mts_readahead_begin();
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
 * One pass over one list. @cut: result: the list was too short for all pages, and most pages of it
 * are back, so that another pass is worthwhile.
 *
 * Return: pages brought back.
 */
static u32 bring_once(struct mts_move *move, u64 pages, bool *cut)
{
	struct mts_swapped_list list;
	struct progress progress = { .list = &list, .move = move };

	*cut = false;
	mts_promise_step("a bin is brought back");
	progress.nmms = mts_mms_get(move);
	if (!mts_swapped_collect(&list, move, progress.nmms, pages)) {
		if (list.n) {
			begin(&progress);
			read_list(&progress);
			end(move);
			*cut = list.n == list.max && list.max < pages && !progress.stopped &&
			       atomic_read(&progress.mapped) > list.n / 2;
		}
		kvfree(list.entries);
	}
	mts_mms_put();
	return atomic_read(&progress.mapped);
}

static void clear_scattered(struct mts_move *move)
{
	u32 i;

	for (i = 0; i < move->n; i++)
		move->jobs[i].job->scattered = false;
}

u64 mts_bring_back(struct mts_move *move)
{
	bool cut;
	u64 back;

	/* Shared memory is charged to one job only, so the count may be too low. */
	if (!move->again)
		move->left = choose_jobs(move) * 9 / 8;
	move->again = false;
	if (!move->left)
		return 0;
	if (move->urgent || move->brief)
		move->left = min(move->left, BRIEF_PAGES);
	back = bring_once(move, move->left, &cut);
	move->left = mts_sub_floor(move->left, back);
	if (move->urgent)
		return back;
	move->again = move->left && (cut || mts_move_should_yield(move)) && !move->should_abort();
	if (!move->again)
		clear_scattered(move);
	return back;
}

// SPDX-License-Identifier: GPL-2.0
/*
 * memory/bring_back.h in user space. /proc/PID/pagemap says which pages are in swap, and where.
 * process_madvise(MADV_WILLNEED) reads them into the swap cache, in the order of their places. The
 * job maps each page by a minor fault when it runs.
 *
 * Without CAP_SYS_ADMIN pagemap does not say where: then in the order of addresses. Without
 * CAP_SYS_NICE there is no process_madvise(): then process_vm_readv(2) of a byte of each page, for
 * which each page is read and mapped before the next one.
 */
#define _GNU_SOURCE
#include "memory/bring_back.h"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "engine/cgroup.h"
#include "engine/process.h"
#include "engine/rights.h"
#include "events/promise.h"
#include "events/trace.h"
#include "job.h"
#include "memory/memory.h"
#include "memory/workers.h"
#include "policy/pure.h"
#include "policy/swap_order.h"

/* Documentation/admin-guide/mm/pagemap.rst */
#define SWAPPED (1ull << 62)
#define PLACE(entry) ((entry) & ((1ull << 55) - 1)) /* swap type in 5 bits, then the offset */
/* The kernel has the type in the low bits: put it on top, so that places of a device adjoin. */
#define KEY(entry) ((PLACE(entry) >> 5) | (((entry)&31) << 50))

/* Pages between two looks whether to stop: 2 MiB, 4 ms of a disk of 500 MB/s. */
#define BATCH 512u
#define RANGES 512u
/* Without CAP_SYS_NICE, pages of one call: a few ms where each one waits for a disk. */
#define TOUCHES 64u
/* While little time is left. */
#define BRIEF_PAGES 16384u
/* Entries of pagemap in one read. */
#define ENTRIES 4096u

struct process {
	pid_t pid;
	int pidfd;
};

struct list {
	struct mts_swapped *pages; /* @where: address, with the index of the process below */
	u32 n;
	u32 room;
	struct process *processes;
	u32 nprocesses;
};

struct progress {
	const struct list *list;
	struct mts_move *move;
	atomic_t next;
	atomic_t back;
	bool stopped;
};

/* An address is a multiple of the page: the index of the process fits below it, in two words. */
#define WHERE(address, process) ((address) >> PAGE_SHIFT << 20 | (process))
#define ADDRESS(where) ((where) >> 20 << PAGE_SHIFT)
#define PROCESS(where) ((where)&0xfffff)
#define MAX_PROCESSES 0xfffffu

/* ---- the list --------------------------------------------------------------------------- */

static bool add_page(struct list *list, u64 key, u64 where, u64 most)
{
	if (list->n >= most)
		return false;
	if (list->n == list->room) {
		u32 room = list->room ? 2 * list->room : 16384;
		struct mts_swapped *pages = realloc(list->pages, room * sizeof(*pages));

		if (!pages)
			return false;
		list->pages = pages;
		list->room = room;
	}
	list->pages[list->n++] = (struct mts_swapped){ .place = key, .where = where };
	return true;
}

/* Return: false: as add_process(). */
static bool add_range(struct list *list, const struct mts_move *move, int pagemap,
		      const struct mts_range *range, u64 most)
{
	u64 entries[ENTRIES], page = range->start >> PAGE_SHIFT, end = range->end >> PAGE_SHIFT;
	u32 process = list->nprocesses - 1, i;
	u64 key;

	while (page < end) {
		u64 want = min_t(u64, end - page, ENTRIES) * sizeof(*entries);
		ssize_t got;

		if (move->should_abort() || mts_move_is_late(move))
			return false;
		mts_promise_step("a bin is brought back");
		got = pread(pagemap, entries, want, page * sizeof(*entries));

		if (got < (ssize_t)sizeof(*entries))
			return true;
		for (i = 0; i < got / sizeof(*entries); i++, page++) {
			if (!(entries[i] & SWAPPED))
				continue;
			/* The first page of swap holds its header: 0 means that it is hidden. */
			key = PLACE(entries[i]) ? KEY(entries[i]) : list->n;
			if (!add_page(list, key, WHERE(page << PAGE_SHIFT, process), most))
				return false;
		}
	}
	return true;
}

/* Return: false: the list is full, or the move is out of date. */
static bool add_process(struct list *list, const struct mts_move *move, pid_t pid, u64 *room,
			u64 most)
{
	struct mts_range *ranges;
	char file[32];
	bool go_on = true;
	int pagemap;
	u32 i, n;

	snprintf(file, sizeof(file), "/proc/%d/pagemap", pid);
	pagemap = open(file, O_RDONLY | O_CLOEXEC);
	if (pagemap < 0)
		return true;
	n = mts_process_ranges(pid, room, &ranges);
	for (i = 0; i < n && go_on; i++)
		go_on = add_range(list, move, pagemap, &ranges[i], most);
	free(ranges);
	close(pagemap);
	return go_on;
}

static bool add_job(struct list *list, const struct mts_move *move, struct mts_job *job, u64 most)
{
	u64 room = MTS_RANGES_MOST;
	bool go_on = true;
	pid_t *pids;
	u32 i, n = mts_cgroup_pids(job->cgrp, &pids, NULL);
	struct process *processes =
		realloc(list->processes, (list->nprocesses + n) * sizeof(*processes));

	if (n && !processes) {
		free(pids);
		return false;
	}
	list->processes = processes;
	for (i = 0; i < n && go_on && list->nprocesses < MAX_PROCESSES; i++) {
		int pidfd = syscall(SYS_pidfd_open, pids[i], 0);

		if (pidfd < 0)
			continue;
		list->processes[list->nprocesses++] = (struct process){ pids[i], pidfd };
		go_on = add_process(list, move, pids[i], &room, most);
		mts_promise_step("a bin is brought back");
	}
	free(pids);
	return go_on;
}

static void free_list(struct list *list)
{
	u32 i;

	for (i = 0; i < list->nprocesses; i++)
		close(list->processes[i].pidfd);
	free(list->processes);
	free(list->pages);
}

/* ---- the reads -------------------------------------------------------------------------- */

static bool is_memory_left(void)
{
	return mts_memory_available() >> PAGE_SHIFT > totalram_pages() / MTS_BRING_BACK_LEAVES_PART;
}

static bool should_go_on(const struct progress *p)
{
	const struct mts_move *move = p->move;

	return !READ_ONCE(p->stopped) && !move->should_abort() && !mts_move_is_late(move) &&
	       !mts_move_should_yield(move) && is_memory_left();
}

static bool no_advice; /* not permitted, for good: capabilities do not come back */

/* Read a byte of each page. What fails is skipped: the page is gone, or this is not permitted. */
static void touch_pages(pid_t pid, const struct iovec *range)
{
	char bytes[TOUCHES], *at = range->iov_base, *end = at + range->iov_len;
	struct iovec pages[TOUCHES], to = { .iov_base = bytes };
	ssize_t got;
	u32 n;

	while (at < end) {
		for (n = 0; n < TOUCHES && at + n * PAGE_SIZE < end; n++)
			pages[n] = (struct iovec){ at + n * PAGE_SIZE, 1 };
		to.iov_len = n;
		got = process_vm_readv(pid, &to, 1, pages, n, 0);
		if (got < 0 && errno != EFAULT)
			return;
		at += max_t(ssize_t, got, 1) * PAGE_SIZE;
	}
}

static void read_ranges(const struct progress *p, u32 process, struct iovec *ranges, u32 n)
{
	struct iovec *at = ranges;
	ssize_t got;

	for (; n && READ_ONCE(no_advice); n--, at++)
		touch_pages(p->list->processes[process].pid, at);

	/* What fails is skipped: the range is gone, or the process. */
	while (n) {
		size_t first = at->iov_len;

		got = syscall(SYS_process_madvise, p->list->processes[process].pidfd, at, (long)n,
			      MADV_WILLNEED, 0);
		if (got < 0 && errno == EPERM) {
			WRITE_ONCE(no_advice, true);
			read_ranges(p, process, at, n);
			return;
		}
		if (got <= 0)
			got = first;
		while (n && got >= (ssize_t)at->iov_len) {
			got -= at->iov_len;
			at++;
			n--;
		}
		/* A part of a range: the rest of it is not mapped. */
		if (n && got) {
			at++;
			n--;
		}
	}
}

static void read_batch(struct progress *p, u32 from, u32 to)
{
	struct iovec ranges[RANGES];
	u32 i, n = 0, process = 0;

	for (i = from; i < to; i++) {
		u64 where = p->list->pages[i].where, address = ADDRESS(where);
		struct iovec *last = n ? &ranges[n - 1] : NULL;

		if (last && PROCESS(where) == process &&
		    (u64)last->iov_base + last->iov_len == address) {
			last->iov_len += PAGE_SIZE;
			continue;
		}
		if (n && (PROCESS(where) != process || n == RANGES)) {
			read_ranges(p, process, ranges, n);
			n = 0;
		}
		process = PROCESS(where);
		ranges[n++] = (struct iovec){ (void *)address, PAGE_SIZE };
	}
	if (n)
		read_ranges(p, process, ranges, n);
	atomic_add(to - from, &p->back);
}

static void read_batches(void *data)
{
	struct progress *p = data;

	for (;;) {
		u32 from = atomic_add_return(BATCH, &p->next) - BATCH;

		if (from >= p->list->n)
			return;
		if (!should_go_on(p)) {
			WRITE_ONCE(p->stopped, true);
			return;
		}
		mts_promise_step("a bin is brought back");
		read_batch(p, from, min(p->list->n, from + BATCH));
		mts_workers_call();
	}
}

static bool sort_goes_on(void)
{
	mts_promise_step("a bin is brought back");
	return true;
}

u64 mts_bring_back(struct mts_move *move)
{
	u64 most = move->urgent || move->brief ? BRIEF_PAGES : U32_MAX;
	struct list list = { 0 };
	struct progress p = { .list = &list, .move = move };
	bool complete = true;
	u32 i;

	mts_promise_step("a bin is brought back");
	for (i = 0; i < move->n && complete; i++)
		if (mts_may_evict(move->jobs[i].job))
			complete = add_job(&list, move, move->jobs[i].job, most);
	if (list.n && mts_swap_order(list.pages, list.n, sort_goes_on)) {
		if (move->urgent)
			read_batches(&p);
		else
			mts_workers_run(read_batches, &p, min(move->threads, list.n / BATCH + 1));
	}
	free_list(&list);
	move->left = mts_sub_floor(list.n, atomic_read(&p.back));
	move->again =
		!move->urgent && p.stopped && mts_move_should_yield(move) && !move->should_abort();
	return atomic_read(&p.back);
}

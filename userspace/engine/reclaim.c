// SPDX-License-Identifier: GPL-2.0
/*
 * memory/reclaim.h in user space: memory.reclaim where the job's cgroup has the memory controller,
 * else process_madvise(MADV_PAGEOUT) over the job's address spaces, in order of address.
 *
 * MADV_PAGEOUT leaves pages that several processes map, and locked ones. It needs CAP_SYS_NICE.
 */
#define _GNU_SOURCE
#include "memory/reclaim.h"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "engine/cgroup.h"
#include "engine/process.h"
#include "engine/rights.h"
#include "events/promise.h"
#include "events/stats.h"
#include "job.h"
#include "memory/cgroupfs.h"
#include "memory/memory.h"
#include "memory/usage.h"
#include "memory/workers.h"

/*
 * Bytes of one call, about 20 ms on a disk of 500 MB/s: a call cannot be interrupted, and the job
 * may have to run meanwhile.
 */
#define CHUNK (8ull << 20)
/* Pages of swap that may be free although it is full: the kernel keeps some for each processor. */
#define SWAP_FLOOR 64
/* A call may take so long on a slow disk. */
#define PATIENCE_NS (60 * (u64)NSEC_PER_SEC)

bool mts_reclaim_is_swap_full(void)
{
	return get_nr_swap_pages() < SWAP_FLOOR;
}

bool mts_reclaim_is_refused(void)
{
	return false;
}

void mts_reclaim_retry(void)
{
}

static bool may_evict(const struct mts_eviction *e, const struct mts_job *job)
{
	return !mts_reclaim_is_swap_full() && !e->should_abort() && !e->is_to_run(job);
}

static bool should_yield(const struct mts_eviction *e)
{
	return e->should_yield && e->owner == current && e->should_yield();
}

/* Take a chunk off what is left, so that no other thread evicts it. */
static u64 take_chunk(struct mts_eviction *e, u64 most)
{
	s64 chunk, now = atomic64_read(&e->left);

	do {
		chunk = min_t(s64, now, min(most, CHUNK));
		if (chunk <= 0)
			return 0;
	} while (!atomic64_try_cmpxchg(&e->left, &now, now - chunk));
	return chunk;
}

static void settle(struct mts_eviction *e, u64 chunk, u64 freed)
{
	atomic64_add((s64)chunk - (s64)freed, &e->left);
	mts_stats_add(evict_asked, chunk);
	mts_stats_add(evict_got, freed);
	mts_workers_call();
}

/* ---- memory.reclaim -------------------------------------------------------------------- */

static u64 by_controller(struct mts_eviction *e, struct mts_job *job, bool *all, bool *again)
{
	u64 resident, after, got = 0, chunk, freed;
	bool more = !mts_usage_resident(job, &resident) && resident > MTS_EVICT_FLOOR;

	while (more && may_evict(e, job)) {
		if (should_yield(e)) {
			*again = true;
			return got;
		}
		chunk = take_chunk(e, resident - MTS_EVICT_FLOOR);
		if (!chunk)
			return got;
		mts_promise(PATIENCE_NS, "a job is evicted");
		down_read(&job->evict_lock);
		/* EAGAIN also comes when all was evicted: only what is left counts. */
		mts_cgroupfs_write_u64(&job->dir, "memory.reclaim", chunk);
		up_read(&job->evict_lock);
		if (mts_usage_resident(job, &after))
			after = resident;
		freed = mts_sub_floor(resident, after);
		resident = after;
		got += freed;
		settle(e, chunk, freed);
		more = freed >= chunk / 2 && resident > MTS_EVICT_FLOOR;
	}
	*all = !more && may_evict(e, job);
	return got;
}

/* ---- MADV_PAGEOUT ---------------------------------------------------------------------- */

static bool not_permitted; /* for good: capabilities do not come back */

bool mts_may_evict(const struct mts_job *job)
{
	return job->cgrp->memory || !READ_ONCE(not_permitted);
}

static void page_out(int pidfd, u64 start, u64 end)
{
	struct iovec range = { .iov_base = (void *)start, .iov_len = end - start };

	if (syscall(SYS_process_madvise, pidfd, &range, 1l, MADV_PAGEOUT, 0) >= 0 || errno != EPERM)
		return;
	if (!__atomic_exchange_n(&not_permitted, true, __ATOMIC_RELAXED))
		pr_notice("no CAP_SYS_NICE, and no memory controller in cgroup v2: frozen jobs "
			  "leave memory only when the kernel reclaims\n");
}

enum outcome {
	HAS_ALL,
	HAS_ENOUGH,
	STOPS,
	YIELDS
};

/* Evict a range of the process @pid. */
static enum outcome evict_range(struct mts_eviction *e, struct mts_job *job, pid_t pid, int pidfd,
				const struct mts_range *range, u64 *got)
{
	u64 at, end, chunk, before = mts_process_resident(pid), after;

	for (at = range->start; at < range->end; at = end) {
		if (!may_evict(e, job))
			return STOPS;
		if (should_yield(e))
			return YIELDS;
		if (READ_ONCE(not_permitted))
			return HAS_ALL;
		chunk = take_chunk(e, range->end - at);
		if (!chunk)
			return HAS_ENOUGH;
		chunk = (chunk + PAGE_SIZE - 1) & ~(PAGE_SIZE - 1);
		end = min(range->end, at + chunk);
		mts_promise(PATIENCE_NS, "a job is evicted");
		page_out(pidfd, at, end);
		after = mts_process_resident(pid);
		*got += mts_sub_floor(before, after);
		settle(e, chunk, mts_sub_floor(before, after));
		before = after;
	}
	return HAS_ALL;
}

static enum outcome evict_process(struct mts_eviction *e, struct mts_job *job, pid_t pid, u64 *room,
				  u64 *got)
{
	int pidfd = syscall(SYS_pidfd_open, pid, 0);
	enum outcome outcome = HAS_ALL;
	struct mts_range *ranges;
	u32 i, n;

	if (pidfd < 0)
		return HAS_ALL;
	n = mts_process_ranges(pid, room, &ranges);
	for (i = 0; i < n && outcome == HAS_ALL; i++)
		outcome = evict_range(e, job, pid, pidfd, &ranges[i], got);
	free(ranges);
	close(pidfd);
	return outcome;
}

static u64 by_processes(struct mts_eviction *e, struct mts_job *job, bool *all, bool *again)
{
	enum outcome outcome = HAS_ALL;
	u64 got = 0, room = MTS_RANGES_MOST;
	pid_t *pids;
	u32 i, n = mts_cgroup_pids(job->cgrp, &pids, NULL);

	for (i = 0; i < n && outcome == HAS_ALL && !READ_ONCE(not_permitted); i++)
		outcome = evict_process(e, job, pids[i], &room, &got);
	free(pids);
	*all = outcome == HAS_ALL;
	*again = outcome == YIELDS;
	return got;
}

u64 mts_reclaim(struct mts_eviction *e, struct mts_job *job, bool *all, bool *again)
{
	*all = *again = false;
	return job->cgrp->memory ? by_controller(e, job, all, again) :
				   by_processes(e, job, all, again);
}

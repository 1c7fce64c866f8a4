// SPDX-License-Identifier: GPL-2.0
#include "memory/reclaim.h"

#include <linux/delay.h>
#include <linux/mm.h>
#include <linux/sched/signal.h>
#include <linux/swap.h>
#include <linux/timer.h>

#include "compat/compat.h"
#include "events/promise.h"
#include "events/stats.h"
#include "events/trace.h"
#include "job.h"
#include "memory/cgroupfs.h"
#include "memory/memory.h"
#include "memory/usage.h"
#include "memory/workers.h"

/*
 * Evicted at a time: what the disk does in about a quarter of a second, as it
 * is stopped between two looks at all pages only. A slow disk takes 10 s for
 * 8 MiB of single pages.
 */
#define CHUNK_MIN (256ull << 10)
#define CHUNK_MAX (8ull << 20)
#define CHUNK_LONG_NS (500 * (u64)NSEC_PER_MSEC)
#define CHUNK_SHORT_NS (125 * (u64)NSEC_PER_MSEC)
/* Jobs that have been frozen for too long are thawed one by one all the same. */
#define EVICT_PATIENCE_NS (30 * (u64)NSEC_PER_SEC)
/*
 * Slower than this (10 MB/s), its pages lie so in swap that each is a request of its own. A disk
 * that is so slow at its best has them written to new places each time, which costs it nothing.
 */
#define SCATTERED_NS (400 * (u64)NSEC_PER_USEC)
/* kswapd is waited for so long at most: some ten MiB; not again for a while if that was in vain. */
#define KSWAPD_NS (500 * (u64)NSEC_PER_MSEC)
#define KSWAPD_AGAIN_NS (10 * (u64)NSEC_PER_SEC)
/* Not worth another call: per-CPU caches and kernel memory stay. */
#define EVICT_FLOOR (256ull << 10)

/* Whether a call should end is looked at so often; it should after so long a time. */
#define LOOK_JIFFIES msecs_to_jiffies(100)
#define CALL_MAX_NS (5 * (u64)NSEC_PER_SEC)
/* A call that frees less than half of what it asks for, and of the least chunk, is in vain. */
#define PROGRESS (CHUNK_MIN / 2)
/* So is one that takes long, and frees less than one part in so many of what swap refused. */
#define REFUSED 16u
/* A call that is shorter has cost little, whatever it was for. */
#define VAIN_NS (100 * (u64)NSEC_PER_MSEC)
/*
 * Pages are on their way to a disk, if there are more than before by so many. The kernel's count
 * is off by up to 125 for each processor, and some disks are given fewer at a time: then calls are
 * just shorter.
 */
#define WRITES_FLOOR 64u
/*
 * So many calls in a row got none, or one that took its time: swap takes no more, for so long at
 * first, and at most.
 */
#define VAIN_CALLS 2
#define REFUSES_NS (60 * (u64)NSEC_PER_SEC)
#define REFUSES_MAX_NS (600 * (u64)NSEC_PER_SEC)

/**
 * struct refusal - swap has places, and takes no page all the same, as a zram does that is full
 * @vain: calls in a row
 * @before: free places before them, and since any did not, at most: what a refused page has is free
 *	again once it is used
 * @free_slots: the same when nothing was to be evicted any more
 * @until: nothing is evicted, ns; but if there is more room than that
 * @ns: for so long the next time; 0: REFUSES_NS
 *
 * Several workers write it: what they make of it together they could also make one by one.
 */
static struct refusal {
	atomic_t vain;
	s64 before;
	s64 free_slots;
	u64 until;
	u64 ns;
} refusal;

bool mts_reclaim_is_refused(void)
{
	return ktime_get_ns() < READ_ONCE(refusal.until) &&
	       get_nr_swap_pages() <=
		       READ_ONCE(refusal.free_slots) + (s64)(CHUNK_MAX >> PAGE_SHIFT);
}

bool mts_reclaim_is_swap_full(void)
{
	return get_nr_swap_pages() <= EVICT_FLOOR >> PAGE_SHIFT || mts_reclaim_is_refused();
}

/**
 * struct call - one of memory.reclaim
 * @asked: bytes
 * @went: that left the job's memory
 * @moved: or that zswap has made smaller there
 * @took: ns
 * @waited: of that, for the disk; of no meaning once others evict beside
 * @refused: bytes given to swap meanwhile that freed nothing, as far as is known; each time they
 *	were tried
 * @free_slots: of swap before it
 * @writes: pages on their way to a disk before it
 * @cut: it was ended before its time
 */
struct call {
	u64 asked;
	u64 went;
	u64 moved;
	u64 took;
	u64 waited;
	u64 refused;
	s64 free_slots;
	u64 writes;
	bool cut;
};

static bool is_in_vain(const struct call *call)
{
	return call->moved < min(call->asked / 2, PROGRESS);
}

/* What fits a hole goes all the same, after a long search. */
static bool is_hardly_any(const struct call *call)
{
	return call->took >= CHUNK_LONG_NS && mts_memory_written() <= WRITES_FLOOR &&
	       call->moved < call->refused / REFUSED;
}

/* Does swap take anything? */
static void note_call(const struct call *call)
{
	u64 ns = READ_ONCE(refusal.ns) ?: REFUSES_NS;

	if (!is_in_vain(call) && !is_hardly_any(call)) {
		mts_reclaim_retry();
		return;
	}
	/* It was not tried: what there is, is locked, or pinned, or the kernel's. */
	if (call->took < VAIN_NS || call->refused < 2 * call->asked)
		return;
	/* It will have gone. */
	if (call->took < CALL_MAX_NS && mts_memory_written() > call->writes + WRITES_FLOOR)
		return;
	if (call->free_slots > READ_ONCE(refusal.before))
		WRITE_ONCE(refusal.before, call->free_slots);
	if (atomic_add_return(call->took < CALL_MAX_NS ? 1 : VAIN_CALLS, &refusal.vain) <
	    VAIN_CALLS)
		return;
	atomic_set(&refusal.vain, 0);
	WRITE_ONCE(refusal.ns, min(2 * ns, REFUSES_MAX_NS));
	WRITE_ONCE(refusal.free_slots, READ_ONCE(refusal.before));
	WRITE_ONCE(refusal.until, ktime_get_ns() + ns);
}

void mts_reclaim_retry(void)
{
	atomic_set(&refusal.vain, 0);
	WRITE_ONCE(refusal.before, 0);
	WRITE_ONCE(refusal.until, 0);
	WRITE_ONCE(refusal.ns, 0);
}

static u64 evict_chunk = CHUNK_MIN;

/* Threads that evict now: they share the disk. */
static atomic_t evictors;

/* Bytes that all of their calls have moved. */
static atomic64_t moved_by_all;

/*
 * Of what cannot go the kernel looks at each page up to 32 times (memory_reclaim(),
 * mm/memcontrol.c): for a job of 6 GB whose pages a full zram refuses one by one that is minutes.
 * After every other look at all of them it asks for a signal, which a thread of the kernel's is
 * sent by nobody else.
 */
static void look_at_call(struct timer_list *timer)
{
	struct mts_job *job = container_of(timer, struct mts_job, evict_timer);
	u64 elapsed = ktime_get_ns() - job->evict_began;

	if (!job->evict_for->is_to_run(job) && elapsed < CALL_MAX_NS &&
	    (elapsed < CHUNK_LONG_NS || mts_memory_written() > job->evict_writes + WRITES_FLOOR)) {
		mod_timer(timer, jiffies + LOOK_JIFFIES);
		return;
	}
	WRITE_ONCE(job->evict_cut, true);
	set_tsk_thread_flag(job->evictor, TIF_SIGPENDING);
}

static void call_kernel(const struct mts_eviction *e, struct mts_job *job, struct call *call)
{
	mutex_lock(&job->evict_lock);
	job->evict_for = e;
	job->evictor = current;
	job->evict_began = ktime_get_ns();
	job->evict_writes = call->writes;
	job->evict_cut = false;
	timer_setup(&job->evict_timer, look_at_call, 0);
	mod_timer(&job->evict_timer, jiffies + LOOK_JIFFIES);
	/* -EAGAIN comes also when all was done: only what is left counts. */
	mts_cgroupfs_write_u64(&job->dir, "memory.reclaim", call->asked);
	timer_delete_sync(&job->evict_timer);
	clear_thread_flag(TIF_SIGPENDING);
	call->cut = job->evict_cut;
	mutex_unlock(&job->evict_lock);
}

/* What swap was given while so much of it was moved by all; other calls are not through yet. */
static u64 refused(u64 swapouts, u64 moved)
{
	u64 others = (u64)max(atomic_read(&evictors) - 1, 0) * CHUNK_MAX;

	return mts_sub_floor(swapouts << PAGE_SHIFT, moved + others);
}

/* @resident: what it has in memory, bytes, before and after. */
static void evict_some(const struct mts_eviction *e, struct mts_job *job, struct call *call,
		       u64 *resident)
{
	u64 began = ktime_get_ns(), busy = mts_workers_busy();
	u64 zswapped = mts_memory_zswapped(), after;
	u64 swapouts = mts_memory_swapouts(), moved = atomic64_read(&moved_by_all);

	/* However little is asked for, the kernel may write all that the job has. */
	mts_promise(EVICT_PATIENCE_NS, "a job is evicted");
	mts_stats_add(evict_asked, call->asked);
	call->free_slots = get_nr_swap_pages();
	call->writes = mts_memory_written();
	call_kernel(e, job, call);
	call->took = ktime_get_ns() - began;
	call->waited = mts_sub_floor(call->took, mts_workers_busy() - busy);
	/* By what was asked for here: several workers find out the same. */
	if (call->took > CHUNK_LONG_NS)
		WRITE_ONCE(evict_chunk, max(call->asked / 2, CHUNK_MIN));
	else if (!call->cut && call->took < CHUNK_SHORT_NS && call->asked >= READ_ONCE(evict_chunk))
		WRITE_ONCE(evict_chunk, min(call->asked * 2, CHUNK_MAX));
	if (mts_usage_resident(job, &after))
		return;
	call->went = mts_sub_floor(*resident, after);
	*resident = after;
	call->moved = max(call->went, (mts_memory_zswapped() - zswapped) << PAGE_SHIFT);
	moved = atomic64_add_return(call->moved, &moved_by_all) - moved;
	call->refused = refused(mts_memory_swapouts() - swapouts, moved);
	/* Who runs takes back what goes. */
	if (!e->is_to_run(job))
		note_call(call);
}

/* This thread's part of what swap has room for: more is searched for in vain. */
static u64 swap_room(void)
{
	u64 bytes = (u64)get_nr_swap_pages() << PAGE_SHIFT;

	return div_u64(bytes, max(atomic_read(&evictors), 1));
}

/* Of what is @left to evict so much that nobody else is to, 0: nothing is. */
static s64 take_chunk(atomic64_t *left, u64 most)
{
	s64 chunk, now = atomic64_read(left);

	most = min3(most, READ_ONCE(evict_chunk), swap_room());
	do {
		chunk = min_t(s64, now, most);
		if (chunk <= 0)
			return 0;
	} while (!atomic64_try_cmpxchg(left, &now, now - chunk));
	return chunk;
}

static bool may_evict(const struct mts_eviction *e, const struct mts_job *job)
{
	if (e->deadline && ktime_get_ns() >= e->deadline)
		return false;
	return !mts_reclaim_is_swap_full() && !e->should_abort() && !e->is_to_run(job);
}

/*
 * Who writes alone has its pages side by side in swap. Beside kswapd each gets every other place,
 * and every page is a request of its own: 3 MiB took a slow disk 2.7 s, and the next 3 MiB, when
 * kswapd slept again, 0.2. Where jobs stand still it soon does.
 */
static void wait_for_kswapd(const struct mts_eviction *e, const struct mts_job *job)
{
	static u64 not_before;
	u64 now = ktime_get_ns(), until = now + KSWAPD_NS;

	if (!e->waits_for_disk || now < READ_ONCE(not_before))
		return;
	while (!mts_memory_kswapd_sleeps()) {
		if (!may_evict(e, job) || e->should_yield())
			return;
		if (ktime_get_ns() > until) {
			WRITE_ONCE(not_before, until + KSWAPD_AGAIN_NS);
			return;
		}
		usleep_range(USEC_PER_MSEC, 2 * USEC_PER_MSEC);
	}
}

/*
 * Never asks for the last pages: they do not go, and the kernel takes sixteen
 * futile passes over the cgroup to find that out (memory_reclaim(),
 * mm/memcontrol.c). For the same reason the first call that falls short is the
 * last, unless it was cut short; but where zswap keeps what went, it may have made
 * little room. What zswap has of the job counts as memory of the job's here: there it
 * is asked once in vain.
 */
u64 mts_reclaim(struct mts_eviction *e, struct mts_job *job, bool *all, bool *again)
{
	u64 resident, asked = 0, got = 0, took = 0, waited = 0;
	bool more = !mts_usage_resident(job, &resident) && resident > EVICT_FLOOR;
	u32 together = atomic_inc_return(&evictors);
	s64 chunk;

	*again = false;
	if (more)
		wait_for_kswapd(e, job);
	while (more && may_evict(e, job)) {
		struct call call = {};

		if (e->should_yield() && e->owner == current) {
			*again = true;
			break;
		}
		chunk = take_chunk(&e->left, resident - EVICT_FLOOR);
		if (!chunk)
			break;
		call.asked = chunk;
		evict_some(e, job, &call, &resident);
		asked += call.asked;
		took += call.took;
		waited += call.waited;
		got += call.went;
		atomic64_add(chunk - (s64)call.went, &e->left);
		more = call.went && resident > EVICT_FLOOR &&
		       (call.cut ? !is_in_vain(&call) : call.moved >= call.asked / 2);
		/*
		 * Of two that write to a slow disk each gets every other place, as beside kswapd:
		 * first switches took 30 s and more, as for pages in a row it is the processor
		 * that takes most of the time.
		 */
		if (waited <= MTS_SLOW_NS * (got >> PAGE_SHIFT))
			mts_workers_call();
		together = max_t(u32, together, atomic_read(&evictors));
	}
	atomic_dec(&evictors);
	/* To the end, not stopped half-way. */
	*all = !more && may_evict(e, job);
	if (asked)
		trace_mts_evict(job, asked, got, took);
	if (took > together * SCATTERED_NS * max_t(u64, got >> PAGE_SHIFT, 64))
		job->scattered = true;
	mts_stats_add(evict_got, got);
	return got;
}

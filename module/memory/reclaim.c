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
#include "memory/disk.h"
#include "memory/memory.h"
#include "memory/usage.h"
#include "memory/workers.h"

/*
 * Bytes per call of memory.reclaim. The size adapts to what the disk does in about a quarter of a
 * second, as a call stops only between two passes over all pages. A call that takes longer than
 * CHUNK_LONG_NS halves the chunk, one shorter than CHUNK_SHORT_NS doubles it. CHUNK_MIN and
 * MTS_EVICT_CHUNK_MAX bound it: a slow disk takes 10 s for 8 MiB of single pages.
 */
#define CHUNK_MIN (256ull << 10)
#define CHUNK_LONG_NS (500 * (u64)NSEC_PER_MSEC)
#define CHUNK_SHORT_NS (125 * (u64)NSEC_PER_MSEC)
/*
 * Promise for one call, ns. A job that has been frozen for too long is thawed during the call, too.
 */
#define EVICT_PATIENCE_NS (30 * (u64)NSEC_PER_SEC)
/*
 * Longest wait for kswapd to sleep, ns: kswapd frees some ten MiB in it. After a wait in vain
 * the next one comes no sooner than KSWAPD_AGAIN_NS.
 */
#define KSWAPD_NS (500 * (u64)NSEC_PER_MSEC)
#define KSWAPD_AGAIN_NS (10 * (u64)NSEC_PER_SEC)

/*
 * Interval of the checks whether a call should end, and the longest duration of a call, ns: shorter
 * calls repeat the kernel's scan.
 */
#define CHECK_JIFFIES msecs_to_jiffies(100)
#define CALL_MAX_NS (5 * (u64)NSEC_PER_SEC)
/* Bytes: a call that frees less than this, and less than half of what it asks for, is in vain. */
#define VAIN_BYTES (CHUNK_MIN / 2)
/* A long call is in vain, too, if it frees less than 1/16 of what swap refused. */
#define REFUSED_PART 16u
/* A call shorter than this, ns, costs too little to count as in vain, whatever its result. */
#define VAIN_NS (100 * (u64)NSEC_PER_MSEC)
/*
 * Pages under writeback: a larger increase means that pages are on their way to a disk. The
 * kernel's count is off by up to 125 per processor, and some disks are given fewer pages at a time.
 * If that misleads, calls are just shorter.
 */
#define WRITES_FLOOR 64u
/*
 * After this many calls in vain in a row, or after one that took CALL_MAX_NS, swap accepts no more
 * pages. Backoff: eviction is suspended for REFUSES_NS, twice as long each time, at most
 * REFUSES_MAX_NS. A longer time delays eviction after swap has recovered.
 */
#define VAIN_CALLS 2
#define REFUSES_NS (60 * (u64)NSEC_PER_SEC)
#define REFUSES_MAX_NS (600 * (u64)NSEC_PER_SEC)

/**
 * struct refusal - swap has free slots but accepts no page, as a full zram device
 * @vain: calls in vain, in a row
 * @free_before: largest number of free slots before a call, since the last call that was not in
 *	vain; a slot is free again once a refused page is used
 * @free_slots: @free_before when eviction was suspended
 * @until: end of the suspension, ns; it ends earlier if slots are freed
 * @ns: length of the next suspension; 0: REFUSES_NS
 *
 * Several workers write it without a lock. A mix of their results is harmless: a single worker
 * could have written it, too.
 */
static struct refusal {
	atomic_t vain;
	s64 free_before;
	s64 free_slots;
	u64 until;
	u64 ns;
} refusal;

bool mts_reclaim_is_refused(void)
{
	return ktime_get_ns() < READ_ONCE(refusal.until) &&
	       get_nr_swap_pages() <=
		       READ_ONCE(refusal.free_slots) + (s64)(MTS_EVICT_CHUNK_MAX >> PAGE_SHIFT);
}

bool mts_reclaim_is_swap_full(void)
{
	return get_nr_swap_pages() <= MTS_EVICT_FLOOR >> PAGE_SHIFT || mts_reclaim_is_refused();
}

/**
 * struct call - one call of memory.reclaim
 * @evictor: the thread that makes it
 * @job: whose memory it is
 * @e: what it is a part of
 * @timer: ends the call if it is not to go on
 * @began: ktime, ns
 * @asked: bytes
 * @got_all: others evict the job, too, and the kernel says that this call had so many
 * @freed: bytes that left the job's memory
 * @moved: the same, or the bytes that zswap compressed, whichever is more
 * @sample: what it took; its @waited_ns is meaningless while other threads evict
 * @refused: estimate of the bytes written to swap that freed nothing, counted for each attempt
 * @free_slots: free slots of swap before the call
 * @writes: pages under writeback before the call
 * @cut: the timer ended the call
 */
struct call {
	struct task_struct *evictor;
	const struct mts_job *job;
	const struct mts_eviction *e;
	struct timer_list timer;
	u64 began;
	u64 asked;
	bool got_all;
	u64 freed;
	u64 moved;
	struct mts_disk_sample sample;
	u64 refused;
	s64 free_slots;
	u64 writes;
	bool cut;
};

static bool is_in_vain(const struct call *call)
{
	return call->moved < min(call->asked / 2, VAIN_BYTES);
}

/* A full zram still takes a page that fits into a hole, after a long search. */
static bool frees_too_little(const struct call *call)
{
	return call->sample.elapsed_ns >= CHUNK_LONG_NS && mts_memory_written() <= WRITES_FLOOR &&
	       call->moved < call->refused / REFUSED_PART;
}

/* Update the refusal by the result of a call. */
static void note_call(const struct call *call)
{
	u64 ns = READ_ONCE(refusal.ns) ?: REFUSES_NS;

	if (!is_in_vain(call) && !frees_too_little(call)) {
		mts_reclaim_retry();
		return;
	}
	/* Swap was not tried: the remaining pages are locked, pinned, or kernel memory. */
	if (call->sample.elapsed_ns < VAIN_NS || call->refused < 2 * call->asked)
		return;
	/* Writeback is under way: these pages will leave memory soon. */
	if (call->sample.elapsed_ns < CALL_MAX_NS &&
	    mts_memory_written() > call->writes + WRITES_FLOOR)
		return;
	if (call->free_slots > READ_ONCE(refusal.free_before))
		WRITE_ONCE(refusal.free_before, call->free_slots);
	if (atomic_add_return(call->sample.elapsed_ns < CALL_MAX_NS ? 1 : VAIN_CALLS,
			      &refusal.vain) < VAIN_CALLS)
		return;
	atomic_set(&refusal.vain, 0);
	WRITE_ONCE(refusal.ns, min(2 * ns, REFUSES_MAX_NS));
	WRITE_ONCE(refusal.free_slots, READ_ONCE(refusal.free_before));
	WRITE_ONCE(refusal.until, ktime_get_ns() + ns);
}

void mts_reclaim_retry(void)
{
	atomic_set(&refusal.vain, 0);
	WRITE_ONCE(refusal.free_before, 0);
	WRITE_ONCE(refusal.until, 0);
	WRITE_ONCE(refusal.ns, 0);
}

static u64 evict_chunk = CHUNK_MIN;

/* Threads that evict now. They share the disk. */
static atomic_t evictors;

/* Bytes moved by all calls together. */
static atomic64_t moved_by_all;

/*
 * The kernel looks up to 32 times at each page that it cannot evict (memory_reclaim(),
 * mm/memcontrol.c). For a job of 6 GB whose pages a full zram refuses, this takes minutes. After
 * every second pass it checks for a signal. No other code sends signals to kernel threads, so
 * TIF_SIGPENDING ends the call.
 */
static void check_call(struct timer_list *timer)
{
	struct call *call = container_of(timer, struct call, timer);
	u64 elapsed = ktime_get_ns() - call->began;

	if (!call->e->is_to_run(call->job) && elapsed < CALL_MAX_NS &&
	    (elapsed < CHUNK_LONG_NS || mts_memory_written() > call->writes + WRITES_FLOOR)) {
		mod_timer(timer, jiffies + CHECK_JIFFIES);
		return;
	}
	WRITE_ONCE(call->cut, true);
	set_tsk_thread_flag(call->evictor, TIF_SIGPENDING);
}

/* Several threads may evict one job at a time. */
static void call_kernel(const struct mts_eviction *e, struct mts_job *job, struct call *call)
{
	down_read(&job->evict_lock);
	call->e = e;
	call->job = job;
	call->evictor = current;
	call->began = ktime_get_ns();
	timer_setup_on_stack(&call->timer, check_call, 0);
	mod_timer(&call->timer, jiffies + CHECK_JIFFIES);
	/* -EAGAIN says little: it also comes when all was evicted. */
	call->got_all = !mts_cgroupfs_write_u64(&job->dir, "memory.reclaim", call->asked) &&
			atomic_read(&job->evictors) > 1;
	timer_delete_sync(&call->timer);
	timer_destroy_on_stack(&call->timer);
	clear_thread_flag(TIF_SIGPENDING);
	up_read(&job->evict_lock);
}

/*
 * What the job has in memory now. Return: the bytes that it has less than any thread that evicts it
 * has seen: each byte is counted by one of them.
 */
static u64 count_freed(struct mts_job *job, u64 resident)
{
	s64 seen = atomic64_read(&job->evict_resident);

	do {
		if ((s64)resident >= seen)
			return 0;
	} while (!atomic64_try_cmpxchg(&job->evict_resident, &seen, resident));
	return seen - resident;
}

/*
 * Bytes given to swap that freed nothing. @swapouts: pages given to swap, @moved: bytes freed by
 * all threads meanwhile. Calls of other threads that are still under way are not counted as
 * refused.
 */
static u64 refused(u64 swapouts, u64 moved)
{
	u64 others = (u64)max(atomic_read(&evictors) - 1, 0) * MTS_EVICT_CHUNK_MAX;

	return mts_sub_floor(swapouts << PAGE_SHIFT, moved + others);
}

/* @resident: result: bytes of the job in memory. */
static void evict_some(const struct mts_eviction *e, struct mts_job *job, struct call *call,
		       u64 *resident)
{
	struct mts_disk_mark mark = mts_disk_mark();
	u64 zswapped = mts_memory_zswapped(), after;
	u64 swapouts = mts_memory_swapouts(), moved = atomic64_read(&moved_by_all);

	/* Even a small request may make the kernel write all memory of the job. */
	mts_promise(EVICT_PATIENCE_NS, "a job is evicted");
	mts_stats_add(evict_asked, call->asked);
	call->free_slots = get_nr_swap_pages();
	call->writes = mts_memory_written();
	call_kernel(e, job, call);
	call->sample = mts_disk_since(&mark, 0);
	/* Based on this call's size, because several workers adapt it at the same time. */
	if (call->sample.elapsed_ns > CHUNK_LONG_NS)
		WRITE_ONCE(evict_chunk, max(call->asked / 2, CHUNK_MIN));
	else if (!call->cut && call->sample.elapsed_ns < CHUNK_SHORT_NS &&
		 call->asked >= READ_ONCE(evict_chunk))
		WRITE_ONCE(evict_chunk, min(call->asked * 2, MTS_EVICT_CHUNK_MAX));
	if (mts_usage_resident(job, &after))
		return;
	call->freed = count_freed(job, after);
	*resident = after;
	call->moved = max3(call->freed, (mts_memory_zswapped() - zswapped) << PAGE_SHIFT,
			   call->got_all ? call->asked : 0);
	moved = atomic64_add_return(call->moved, &moved_by_all) - moved;
	call->refused = refused(mts_memory_swapouts() - swapouts, moved);
	/* A running job faults its pages back: that says nothing about swap. */
	if (!e->is_to_run(job))
		note_call(call);
}

/* This thread's part of the free slots: the kernel would search in vain for more. */
static u64 swap_room(void)
{
	u64 bytes = (u64)get_nr_swap_pages() << PAGE_SHIFT;

	return div_u64(bytes, max(atomic_read(&evictors), 1));
}

/* Take a chunk off @left, so that no other thread evicts it. Return: bytes; 0: nothing is left. */
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
	return !mts_reclaim_is_swap_full() && !e->should_abort() && !e->is_to_run(job);
}

/*
 * Wait until kswapd sleeps. A thread that writes to swap alone gets adjacent slots. Beside kswapd
 * it gets every other slot, so that each page becomes a request of its own. That makes a slow disk
 * ten times slower. Where jobs are frozen kswapd soon sleeps.
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
 * Leaves MTS_EVICT_FLOOR in the job: those pages cannot go, and the kernel takes sixteen futile
 * passes over the cgroup to find that out (memory_reclaim(), mm/memcontrol.c). For the same reason
 * the first call that falls short is the last one, unless the timer cut it. Where others evict the
 * job, too, what a call has freed is known to the kernel alone.
 *
 * zswap may have freed little memory, so there @moved counts instead. What zswap holds of the job
 * counts as memory of the job here: with zswap the last call is in vain.
 */
u64 mts_reclaim(struct mts_eviction *e, struct mts_job *job, bool *all, bool *again)
{
	u64 resident = 0, asked = 0, got = 0;
	struct mts_disk_sample sum = {};
	bool more = !mts_usage_resident(job, &resident) && resident > MTS_EVICT_FLOOR;
	u32 together = atomic_inc_return(&evictors);
	s64 chunk;

	*again = false;
	if (atomic_inc_return(&job->evictors) == 1)
		atomic64_set(&job->evict_resident, resident);
	if (more)
		wait_for_kswapd(e, job);
	while (more && may_evict(e, job)) {
		struct call call = {};

		if (e->should_yield() && e->owner == current) {
			*again = true;
			break;
		}
		chunk = take_chunk(&e->left, resident - MTS_EVICT_FLOOR);
		if (!chunk)
			break;
		call.asked = chunk;
		evict_some(e, job, &call, &resident);
		asked += call.asked;
		call.sample.pages = call.freed >> PAGE_SHIFT;
		mts_disk_add(&sum, &call.sample);
		got += call.freed;
		atomic64_add(chunk - (s64)call.freed, &e->left);
		more = (call.freed || call.got_all) && resident > MTS_EVICT_FLOOR &&
		       (call.cut ? !is_in_vain(&call) : call.moved >= call.asked / 2);
		/*
		 * Do not call workers if the disk is the bottleneck. Two threads that write to a
		 * slow disk get every other slot, as beside kswapd.
		 */
		if (!mts_disk_limits(sum.worked_ns, sum.waited_ns))
			mts_workers_call();
		together = max_t(u32, together, atomic_read(&evictors));
	}
	atomic_dec(&evictors);
	atomic_dec(&job->evictors);
	/* Finished, not interrupted. */
	*all = !more && may_evict(e, job);
	if (asked)
		trace_mts_evict(job, asked, got, sum.elapsed_ns);
	/* Its pages get new slots when they come back. */
	if (mts_disk_is_scattered(&sum, e->row_ns * together))
		job->scattered = true;
	mts_stats_add(evict_got, got);
	return got;
}

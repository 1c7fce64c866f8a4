// SPDX-License-Identifier: GPL-2.0
/* Eviction and bringing back, and the threads that do it. */
#include "context/virtual/machine.h"
#include "events/promise.h"
#include "events/stats.h"
#include "memory/move.h"
#include "memory/reclaim.h"
#include "memory/workers.h"
#include "simulator.h"

/* A move looks this often whether it is to be given up. */
#define LOOK_NS (100 * (u64)NSEC_PER_MSEC)

static DECLARE_WAIT_QUEUE_HEAD(move_wait);

void move_wake(void)
{
	wake_up(&move_wait);
}

/* ---- more threads ------------------------------------------------------------------------ */

/**
 * struct run - what several threads do
 * @most: others that may be called
 * @called: that have been
 * @active: of these, that are at it
 * @began, @busy: the machine's clock, and mts_workers_busy() then
 */
static struct run {
	void (*does)(void *data);
	void *data;
	u32 most;
	u32 called;
	u32 active;
	u64 began;
	u64 busy;
	struct task_struct *workers[MTS_MOVERS_MAX];
} run;

static DECLARE_WAIT_QUEUE_HEAD(run_wait);

u64 mts_workers_busy(void)
{
	host_advance();
	return (u64)(host.busy >> FIX) + machine_busy();
}

u64 mts_workers_delayed(void)
{
	host_advance();
	return (u64)(host.delayed >> FIX);
}

/* Are more threads of use: is it the processor that has taken the time? */
static bool is_processor_slow(u64 began, u64 busy)
{
	u64 elapsed = machine_now() - began;

	return elapsed >= MTS_WORKERS_ALONE_NS && mts_workers_busy() - busy >= elapsed / 2;
}

static int worker(void *unused)
{
	run.does(run.data);
	run.active--;
	wake_up(&run_wait);
	return 0;
}

void mts_workers_call(void)
{
	if (run.called >= run.most || !is_processor_slow(run.began, run.busy))
		return;
	for (; run.called < run.most; run.called++) {
		run.workers[run.called] = kthread_create(worker, NULL, "worker");
		run.active++;
		wake_up_process(run.workers[run.called]);
	}
}

void mts_workers_run(void (*does)(void *data), void *data, u32 wanted)
{
	run = (struct run){
		.does = does,
		.data = data,
		.most = min3(host.scenario->threads, MTS_MOVERS_MAX, max(wanted, 1u)) - 1,
		.began = machine_now(),
		.busy = mts_workers_busy(),
	};
	does(data);
	run.most = 0;
	/* The rotor's thread may be one that is to stop: without a limit it would not sleep. */
	while (run.active)
		wait_event_idle_timeout(run_wait, !run.active, HZ);
	while (run.called)
		kthread_stop(run.workers[--run.called]);
}

/* ---- one move ----------------------------------------------------------------------------- */

/* Does it take no time at all? */
static bool is_free(const struct mover *mover)
{
	return !mover->page_ns && (!mover->disk || !host_disk_page());
}

static void begin(struct mover *mover, u64 pages)
{
	host_advance();
	mover->left = is_free(mover) ? 0 : (u128)pages << FIX;
	list_add_tail(&mover->node, &host.movers);
	host_changes();
}

static void end(struct mover *mover)
{
	host_advance();
	list_del_rcu(&mover->node);
	host_changes();
}

/* Of @pages, how many have not been moved yet; a part of a page counts as one. */
static u64 pages_left(const struct mover *mover)
{
	return (u64)((mover->left + ((u128)1 << FIX) - 1) >> FIX);
}

/* Until it is done, or has to be looked at. */
static void wait_for(struct mover *mover, u64 until)
{
	u128 ns;

	host_advance();
	if (!mover->left)
		return;
	ns = host_rate(mover) ? mover->left / mover->rate + 1 : LOOK_NS;
	until = mts_min(until, machine_now() + LOOK_NS);
	if (ns < until - machine_now())
		until = machine_now() + (u64)ns;
	mts_user_wait_on(&move_wait);
	mts_user_sleep(until);
	mts_user_wait_on(NULL);
	host_advance();
}

void move_work(u64 ns)
{
	struct mover mover = { .threads = 1, .page_ns = ns, .first = true };

	begin(&mover, 1);
	while (mover.left)
		wait_for(&mover, NEVER);
	end(&mover);
}

/* When the rotor's thread asks for others, if it has not yet; else the deadline. */
static u64 look_at(u64 began, bool called, u64 deadline)
{
	u64 at = began + MTS_WORKERS_ALONE_NS;

	deadline = deadline ?: NEVER;
	return !called && machine_now() < at ? mts_min(at, deadline) : deadline;
}

/* The rotor's thread goes before the jobs, unless it has lowered its priority. */
static bool goes_first(void)
{
	return task_nice(current) < 0;
}

/* ---- eviction ----------------------------------------------------------------------------- */

static bool may_go_on(struct mts_eviction *e, const struct mts_job *job)
{
	return !e->should_abort() && !e->is_to_run(job) && atomic64_read(&e->left) > 0;
}

static u64 evictable(const struct job *job)
{
	return mts_sub_floor(job->resident, MTS_EVICT_FLOOR) / PAGE_SIZE;
}

u64 move_evict(struct mts_eviction *e, struct mts_job *mts, bool *all, bool *again)
{
	struct mover mover = { .threads = 1,
			       .page_ns = host.scenario->costs.evict,
			       .disk = true,
			       .first = goes_first() };
	struct job *job = job_of(mts);
	u64 before, bytes, got = 0;

	*all = false;
	*again = false;
	host_advance();
	if (!may_go_on(e, mts))
		return 0;
	before = mts_min(evictable(job), (atomic64_read(&e->left) + PAGE_SIZE - 1) / PAGE_SIZE);
	/* Others may help, or it helps them: what one of them has moved the others need not. */
	atomic_inc(&mts->evictors);
	begin(&mover, before);
	while (before && evictable(job) && may_go_on(e, mts)) {
		mts_promise_step("memory is evicted");
		wait_for(&mover, look_at(run.began, run.called >= run.most, 0));
		mts_workers_call();
		/* The job has been thawed meanwhile. */
		if (!job->is_frozen)
			break;
		bytes = mts_min(before - pages_left(&mover), evictable(job)) * PAGE_SIZE;
		before = pages_left(&mover);
		host_move_out(job, bytes);
		atomic64_add(-(s64)bytes, &e->left);
		got += bytes;
	}
	end(&mover);
	atomic_dec(&mts->evictors);
	*all = !evictable(job);
	mts_stats_add(evict_got, got);
	return got;
}

/* ---- bringing back ------------------------------------------------------------------------ */

/* Pages that this job lacks, and that are to come. */
static u64 lacking(const struct mts_moved *moved)
{
	const struct job *job = job_of(moved->job);

	if (!job->is_frozen)
		return 0;
	return mts_sub_floor(job->touched - job->resident, moved->skip_bytes) / PAGE_SIZE;
}

/* So many have come, of one job after the other; *at is the first that lacks some. */
static u64 take_back(struct mts_move *move, u32 *at, u64 pages)
{
	u64 part, back = 0;

	while (*at < move->n && pages) {
		part = min3(lacking(&move->jobs[*at]), pages, host_room() / PAGE_SIZE);
		if (part)
			host_move_in(job_of(move->jobs[*at].job), part * PAGE_SIZE);
		back += part;
		pages -= part;
		if (part && lacking(&move->jobs[*at]))
			break;
		++*at;
	}
	return back;
}

u64 move_bring_back(struct mts_move *move)
{
	struct mover mover = { .threads = 1,
			       .page_ns = host.scenario->costs.back,
			       .disk = true,
			       .first = goes_first() };
	u32 most = min3(host.scenario->threads, MTS_MOVERS_MAX, max(move->threads, 1u)), at = 0, i;
	u64 began = machine_now(), busy = mts_workers_busy(), before = 0, pages = 0;

	move->again = false;
	for (i = 0; i < move->n; i++)
		before += lacking(&move->jobs[i]);
	/* In bulk as far as there is room; the rest then comes by faults. */
	before = mts_min(before, host_room() / PAGE_SIZE);
	begin(&mover, before);
	/* Those that run may have taken the room meanwhile. */
	while (before && at < move->n && !move->should_abort() && !mts_move_is_late(move)) {
		mts_promise_step("memory is brought back");
		wait_for(&mover, look_at(began, mover.threads == most, move->deadline));
		if (mover.threads < most && is_processor_slow(began, busy)) {
			mover.threads = most;
			host_changes();
		}
		/* It takes no time here. */
		move->request_ns = move->request_ns ?: (u64)(host_disk_fault() >> FIX);
		pages += take_back(move, &at, before - pages_left(&mover));
		before = pages_left(&mover);
	}
	end(&mover);
	return pages;
}

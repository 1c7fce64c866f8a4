// SPDX-License-Identifier: GPL-2.0
/* Which frozen jobs are pushed out of memory, and how much of each. */
#include "rotor/evict.h"

#include "context.h"
#include "events/promise.h"
#include "events/stats.h"
#include "jobs/freezer.h"
#include "jobs/ops.h"
#include "memory/memory.h"
#include "memory/reclaim.h"
#include "memory/workers.h"
#include "policy/demand.h"
#include "policy/evict.h"
#include "rotor/bring.h"
#include "rotor/costs.h"
#include "rotor/roster.h"
#include "rotor/state.h"
#include "rotor/turn.h"

/* It is frozen, its memory need not stay, and there is something to get from it. */
static bool may_evict(const struct mts_job *job)
{
	return job->ran_since_evict && !job->kept_bytes && READ_ONCE(job->frozen);
}

/* Any context. */
static bool is_to_run(const struct mts_job *job)
{
	return mts_gate_reason() || !READ_ONCE(job->frozen) ||
	       test_bit(MTS_JOB_EV_EMPTIED, &job->events);
}

static struct mts_eviction new_eviction(u64 bytes)
{
	return (struct mts_eviction){
		.left = ATOMIC64_INIT(min_t(u64, bytes, S64_MAX)),
		.waits_for_disk = mts_rotor_waits_for_disk(),
		.row_ns = mts_disk_row_ns(&mts_rotor.costs.disk, ktime_get_ns()),
		.owner = current,
		.should_abort = mts_rotor_should_abort,
		.should_yield = mts_rotor_is_wanted,
		.is_to_run = is_to_run,
	};
}

static u64 left_of(const struct mts_eviction *e)
{
	return max_t(s64, atomic64_read(&e->left), 0);
}

/* For the rotor's thread and for workers. */
static void evict_if_any(struct mts_eviction *e, struct mts_job *job)
{
	bool all, again;
	u64 got;

	if (!may_evict(job))
		return;
	do {
		got = mts_ops->evict(e, job, &all, &again);
		mutex_lock(&mts_lock);
		job->evicted += got;
		mutex_unlock(&mts_lock);
		if (all)
			job->ran_since_evict = false;
		if (again)
			mts_bring_wanted();
	} while (again);
}

void mts_evict_job(struct mts_job *job, u64 want)
{
	struct mts_eviction e = new_eviction(want);
	struct mts_costs_move move = mts_costs_begin();

	evict_if_any(&e, job);
	mts_costs_out(&move, (want - left_of(&e)) >> PAGE_SHIFT);
}

/* ---- the bins that do not run ------------------------------------------------- */

/* The roster's jobs in that order, without those that run. Return: how many. */
static u32 list_outgoing(void)
{
	u32 i, *end = mts_rotor.evict.end_of_bin;

	memset(end, 0, (mts_rotor.round.nbins + 1) * sizeof(*end));
	for (i = 0; i < mts_rotor.roster.n; i++)
		if (!mts_rotor.roster.jobs[i]->runs)
			end[mts_turn_rank(mts_rotor.roster.jobs[i]) + 1]++;
	/* Where each rank begins, … */
	for (i = 1; i <= mts_rotor.round.nbins; i++)
		end[i] += end[i - 1];
	/* … and then where the next one of it goes. */
	for (i = 0; i < mts_rotor.roster.n; i++)
		if (!mts_rotor.roster.jobs[i]->runs)
			mts_rotor.evict.outgoing[end[mts_turn_rank(mts_rotor.roster.jobs[i])]++] =
				i;
	return end[mts_rotor.round.nbins];
}

/* Shared by the workers: each takes the next job; the bytes left to evict are common. */
struct outgoing {
	u32 n;
	atomic_t next;
	struct mts_eviction e;
};

static struct mts_job *outgoing_job(u32 i)
{
	return mts_rotor.roster.jobs[mts_rotor.evict.outgoing[i]];
}

/* A job for each thread; then those that have none left help with the others' jobs. */
static void evict_outgoing(void *data)
{
	struct outgoing *out = data;
	u32 i;

	while (left_of(&out->e)) {
		i = atomic_fetch_inc(&out->next);
		if (i >= out->n)
			break;
		evict_if_any(&out->e, outgoing_job(i));
	}
	/* While there is a chunk for each of them. */
	for (i = 0; i < out->n && left_of(&out->e) >= 2 * MTS_EVICT_CHUNK_MAX; i++)
		if (atomic_read(&outgoing_job(i)->evictors))
			evict_if_any(&out->e, outgoing_job(i));
}

/* What the jobs that are to run need in memory, and have. */
static void measure_running(u64 *demand, u64 *resident)
{
	u64 needs, has;
	u32 i;

	*demand = 0;
	*resident = 0;
	for (i = 0; i < mts_rotor.roster.n; i++) {
		if (!mts_rotor.roster.jobs[i]->runs ||
		    mts_roster_peek(mts_rotor.roster.jobs[i], &needs, &has))
			continue;
		*demand = mts_add_sat(*demand, needs);
		*resident = mts_add_sat(*resident, has);
	}
}

/* Bytes that can be evicted from a job. */
static u64 evictable(struct mts_job *job)
{
	u64 bytes;

	if (!may_evict(job))
		return 0;
	mts_promise_step("memory is measured");
	return mts_ops->resident(job, &bytes) ? 0 : bytes;
}

/* What list_outgoing() lists, in whatever order. */
static u64 all_evictable(void)
{
	u64 sum = 0;
	u32 i;

	for (i = 0; i < mts_rotor.roster.n; i++)
		if (!mts_rotor.roster.jobs[i]->runs)
			sum = mts_add_sat(sum, evictable(mts_rotor.roster.jobs[i]));
	return sum;
}

/* Logged once while it lasts: it lasts while it happens at least once a round. */
static void note_full(void)
{
	if (!mts_reclaim_is_swap_full())
		return;
	if (!mts_rotor_is_swap_full())
		pr_notice_ratelimited("swap %s: bins that wait stay in memory in part\n",
				      mts_reclaim_is_refused() ? "takes no more (a full zram?)" :
								 "is full");
	mutex_lock(&mts_lock);
	mts_rotor.evict.swap_full_in = mts_rotor.phase.round;
	mutex_unlock(&mts_lock);
}

/* How many of the first @n outgoing jobs together have @want bytes in memory. */
static u32 count_enough(u32 n, u64 want)
{
	u64 sum = 0;
	u32 i;

	for (i = 0; i < n && sum < want; i++)
		sum = mts_add_sat(sum, evictable(outgoing_job(i)));
	return i;
}

/*
 * Up to @want bytes of what is frozen and waits: the bin that runs again last goes first, which is
 * the one that has just run. Return: bytes that left memory.
 */
static u64 evict_frozen(u64 want)
{
	struct outgoing out = { .e = new_eviction(want) };
	u64 most = left_of(&out.e), got, threads;
	u32 n = list_outgoing();
	struct mts_costs_move move;

	out.n = count_enough(n, want);
	move = mts_costs_begin();
	threads = max_t(u64, out.n, div_u64(most, MTS_EVICT_CHUNK_MAX));
	mts_workers_run(evict_outgoing, &out, min_t(u64, mts_bring_threads(), threads));
	/*
	 * They fell short: go on with the next jobs. Asking a job twice is in vain where swap is
	 * full.
	 */
	atomic_set(&out.next, out.n);
	out.n = n;
	evict_outgoing(&out);
	got = most - left_of(&out.e);
	mts_costs_out(&move, got >> PAGE_SHIFT);
	return got;
}

void mts_evict_forget_full(void)
{
	mts_rotor.evict.swap_full_in = 0;
}

void mts_evict_for_running(void)
{
	u64 began = ktime_get_ns(), demand, resident, waiting, available, want, got;
	u32 evict = mts_rotor.costs.switches.evict;
	bool bounded = false;

	/* Of overlapping bins as much as comes in, and no more, changes hands. */
	if (mts_rotor.round.plan.overlaps && evict == MTS_EVICT_FULL) {
		evict = MTS_EVICT_NEED;
		bounded = mts_rotor.planning.capacity_is_set;
	}
	/* The running bin lacks nothing yet, and is about to need more. */
	if (mts_rotor.onset.is_on && evict == MTS_EVICT_NEED)
		evict = MTS_EVICT_FULL;
	mts_rotor.evict.fell_short = false;
	if (evict == MTS_EVICT_OFF)
		return;
	measure_running(&demand, &resident);
	waiting = all_evictable();
	available = mts_memory_available();
	/* evict=full with bin= keeps jobs within it, however much memory the host has. */
	if (bounded)
		available = min(available, mts_sub_floor(mts_rotor.round.plan.capacity,
							 mts_add_sat(resident, waiting)));
	want = mts_policy_evict(evict, waiting, demand, resident, available);
	got = evict_frozen(want);
	/* A little of each job cannot be evicted. */
	mts_rotor.evict.fell_short = got < want - want / 8;
	if (got < want)
		note_full();
	mts_stats_add(evict_ns, ktime_get_ns() - began);
}

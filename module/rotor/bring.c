// SPDX-License-Identifier: GPL-2.0
#include "rotor/bring.h"

#include "context.h"
#include "events/stats.h"
#include "events/trace.h"
#include "jobs/ops.h"
#include "memory/memory.h"
#include "policy/window.h"
#include "rotor/costs.h"
#include "rotor/fit.h"
#include "rotor/roster.h"
#include "rotor/state.h"

/* An urgent bring-back takes this long at most: the bins wait for it. */
#define URGENT_NS (1 * (u64)NSEC_PER_SEC)
/* Jobs in one urgent bring-back. The move lies on the stack; more jobs fault their pages in. */
#define WANTED_MOST 16u

/* Of no jobs yet; there is one at a time, but for an urgent one. */
static struct mts_move new_move(void)
{
	return (struct mts_move){
		.jobs = mts_rotor.bring.moved,
		.threads = mts_bring_threads(),
		.request_ns = mts_disk_request_ns(&mts_rotor.costs.disk, ktime_get_ns()),
		.should_abort = mts_rotor_should_abort,
		.should_yield = mts_rotor_is_wanted,
	};
}

static void add_to_move(struct mts_move *move, struct mts_job *job)
{
	move->jobs[move->n++] = (struct mts_moved){
		.job = job,
		.skip_bytes = mts_roster_unused(job, &job->usage),
	};
}

/* The frozen jobs that are to run; @all: also those that are to wait. */
static struct mts_move frozen_jobs(bool all)
{
	struct mts_move move = new_move();
	u32 i;

	for (i = 0; i < mts_rotor.roster.n; i++) {
		struct mts_job *job = mts_rotor.roster.jobs[i];

		if ((all || job->runs) && READ_ONCE(job->frozen))
			add_to_move(&move, job);
	}
	return move;
}

struct mts_move mts_bring_frozen(void)
{
	return frozen_jobs(true);
}

static void bring(u32 to, struct mts_move *move)
{
	u64 began = ktime_get_ns(), lent = mts_rotor.bring.urgent_ns, pages = 0, took;
	struct mts_costs_move cost = mts_costs_begin();
	u32 n = move->n;

	do {
		if (mts_move_should_yield(move))
			mts_bring_wanted();
		pages += mts_ops->bring_back(move);
	} while (move->again);
	took = ktime_get_ns() - began - (mts_rotor.bring.urgent_ns - lent);
	trace_mts_bring_back(to, n, pages, took);
	if (move->urgent) {
		mts_rotor.bring.urgent_ns += took;
	} else {
		mts_costs_in(&cost, pages);
		mts_costs_note_request(move->request_ns);
		mts_stats_add(brought_back, pages);
		mts_stats_add(bring_back_ns, took);
	}
}

/* Add the jobs that were thawed as wanted since the last call, up to WANTED_MOST. */
static void add_wanted(struct mts_move *move)
{
	u32 i;

	mts_rotor_note_wanted();
	for (i = 0; i < mts_rotor.roster.n; i++) {
		struct mts_job *job = mts_rotor.roster.jobs[i];

		if (!READ_ONCE(job->needs_bring_back))
			continue;
		WRITE_ONCE(job->needs_bring_back, false);
		/* It runs, whatever was evicted of it. */
		job->ran_since_evict = true;
		if (!READ_ONCE(job->frozen) && move->n < WANTED_MOST)
			add_to_move(move, job);
	}
}

void mts_bring_wanted(void)
{
	/* Another move may be under way, which uses the rotor's own room for jobs. */
	struct mts_moved jobs[WANTED_MOST];
	struct mts_move move = {
		.jobs = jobs,
		.deadline = ktime_get_ns() + URGENT_NS,
		.urgent = true,
		.should_abort = mts_rotor_should_abort,
	};
	u64 swapins = mts_memory_swapins();
	int nice = task_nice(current);

	add_wanted(&move);
	if (!move.n || !mts_rotor_disk_is_slow())
		return;
	/* Drop to nice 0 so that interactive tasks get the CPU. */
	set_user_nice(current, 0);
	bring(MTS_BIN_EVERY, &move);
	set_user_nice(current, nice);
	/* It is not the running bin that swaps. */
	mts_fit_excuse_swapins(mts_memory_swapins() - swapins);
}

void mts_bring_running(void)
{
	struct mts_move move = frozen_jobs(false);
	u32 i;

	for (i = 0; i < move.n; i++) {
		move.jobs[i].job->turn_ns = 0;
		move.jobs[i].job->turn_was_short = false;
	}
	bring(mts_rotor.phase.running, &move);
	if (!mts_rotor.planning.by_use || !mts_rotor_should_run())
		return;
	move = frozen_jobs(false);
	mts_ops->use_begins(&move);
}

/* Turns are over, or not begun: as far as it is back by @end. */
void mts_bring_until(struct mts_move *move, u64 end)
{
	move->deadline = end;
	move->brief = !mts_rotor_disk_is_slow();
	set_user_nice(current, 0);
	bring(MTS_BIN_NONE, move);
	mts_costs_note_disk();
	set_user_nice(current, MIN_NICE);
}

void mts_bring_job(struct mts_job *job, u64 end)
{
	struct mts_move move = new_move();

	add_to_move(&move, job);
	mts_bring_until(&move, end);
}

void mts_bring_note_use(void)
{
	struct mts_move move = frozen_jobs(true);

	mts_ops->use_ends(&move);
}

/* Where the disk takes the time, more of us would only make its heads go back and forth. */
u32 mts_bring_threads(void)
{
	if (mts_rotor_waits_for_disk())
		return 1;
	/* Of overlapping bins some run on meanwhile. */
	return mts_rotor.round.plan.overlaps ? mts_window_movers(num_online_cpus()) : U32_MAX;
}

// SPDX-License-Identifier: GPL-2.0
/*
 * An overlapped switch. A switch that mostly waits for the disk leaves the processors idle. So it
 * is done in steps: some jobs of the outgoing bin are frozen and evicted, as much of the incoming
 * bin is brought back and thawed, and so on. A job runs unless it is being moved. Jobs leave and
 * come in the same order, so each is frozen for the same time: a slice and one switch, not two.
 */
#include "rotor/overlap.h"

#include "context.h"
#include "events/promise.h"
#include "events/stats.h"
#include "events/words.h"
#include "jobs/ops.h"
#include "jobs/tasks.h"
#include "rotor/bring.h"
#include "rotor/evict.h"
#include "rotor/freeze.h"
#include "rotor/roster.h"
#include "rotor/round.h"
#include "rotor/state.h"
#include "sched_hooks/hooks.h"

/* Steps for a full bin. The jobs of a step are frozen while they are moved. */
#define STEPS 8u
/* A spill aims to freeze the jobs of bins for no longer than this, or to the end of the slice. */
#define SPILL_MOST_NS (1 * (u64)NSEC_PER_SEC)

/**
 * struct passing
 * @out: index into the roster: the next job that may have to leave
 * @in: index into the roster: the next job that may have to come back
 * @room: bytes that were evicted and not yet filled again
 * @leaving: bytes that the frozen jobs had; @left: that were evicted of them
 * @began: when the switch began; ktime, ns
 * @last: when the last part of it ended; ktime, ns
 * @stands: all jobs are frozen until the switch ends
 * @counted_ns: of the time of freezing, what freeze.c has counted already
 */
struct passing {
	u32 out;
	u32 in;
	u64 room;
	u64 leaving;
	u64 left;
	u64 began;
	u64 last;
	bool stands;
	u64 counted_ns;
	struct mts_switch_parts *parts;
};

bool mts_overlap_is_for(u32 to)
{
	u32 i;

	if (!mts_rotor_waits_for_disk() || mts_rotor.onset.is_on || mts_rotor.round.plan.overlaps)
		return false;
	if (mts_rotor.costs.switches.evict != MTS_EVICT_FULL)
		return false;
	for (i = 0; i < mts_rotor.roster.n; i++)
		if (mts_rotor.roster.jobs[i]->bin == to && !mts_rotor.roster.jobs[i]->slices)
			return false;
	return true;
}

/*
 * If the host reclaims meanwhile, there is less room than was thought, or the running jobs grow
 * into it. They would write to swap at the same time, and no job's pages would lie together. So
 * stop overlapping: freeze every job, finish the eviction, then bring the new bin back.
 */
static int stand_if_short(struct passing *p)
{
	int err;

	if (p->stands || mts_hooks_last_reclaim() < p->began)
		return 0;
	p->stands = true;
	err = mts_freeze_stop(U64_MAX);
	p->counted_ns = mts_freeze_lap(&p->last);
	p->parts->freeze_ns += p->counted_ns;
	return err;
}

/* Not 0, where residents have all of the capacity: then a step is one job. */
static u64 step_bytes(const struct passing *p)
{
	return p->stands ? U64_MAX : max_t(u64, mts_rotor.round.plan.capacity / STEPS, PAGE_SIZE);
}

/* Freeze the next outgoing jobs, up to a step's bytes. */
static int freeze_some(struct passing *p)
{
	u64 sum = 0, bytes, most = step_bytes(p);
	int err = 0;

	/* A job that has become real-time since the last step must not be frozen: look anew. */
	mts_promise_step("tasks are looked at");
	mts_tasks_scan();
	for (; p->out < mts_rotor.roster.n && sum < most && !err; p->out++) {
		struct mts_job *job = mts_rotor.roster.jobs[p->out];

		if (job->runs)
			continue;
		err = mts_freeze_ask(job);
		if (mts_evict_may(job) && !mts_ops->resident(job, &bytes))
			sum = mts_add_sat(sum, bytes);
	}
	p->leaving = mts_add_sat(p->leaving, sum);
	if (!err)
		err = mts_freeze_wait(U64_MAX);
	p->parts->freeze_ns += mts_freeze_lap(&p->last);
	return err;
}

/* Freeze and evict outgoing jobs until there is room for @bytes, or none is left. */
static int make_room(struct passing *p, u64 bytes)
{
	u32 first;
	u64 got;
	int err;

	/* Eight ninths will do: a little of each job cannot be evicted. */
	while (p->room + p->room / 8 < bytes && p->out < mts_rotor.roster.n) {
		first = p->out;
		err = freeze_some(p);
		if (err)
			return err;
		/* Drop to nice 0 so that interactive tasks get the CPU. */
		set_user_nice(current, 0);
		mts_bring_note_use(p->in);
		for (; first < p->out; first++) {
			if (mts_rotor.roster.jobs[first]->runs)
				continue;
			got = mts_evict_job(mts_rotor.roster.jobs[first], U64_MAX, 0);
			p->room += got;
			p->left += got;
		}
		set_user_nice(current, MIN_NICE);
		p->parts->evict_ns += mts_freeze_lap(&p->last);
		if (!mts_rotor_should_run())
			return -ECANCELED;
	}
	return 0;
}

/* Bytes that the next incoming jobs lack, up to a step's; *end is the index after the last one. */
static u64 next_lack(const struct passing *p, u32 *end)
{
	u64 sum = 0, demand, resident, most = step_bytes(p);

	for (*end = p->in; *end < mts_rotor.roster.n && sum < most; ++*end) {
		struct mts_job *job = mts_rotor.roster.jobs[*end];

		if (job->runs && READ_ONCE(job->frozen) &&
		    !mts_roster_peek(job, &demand, &resident))
			sum = mts_add_sat(sum, mts_sub_floor(demand, resident));
	}
	return sum;
}

/* Bring back those before @end, and let them run. */
static int let_in(struct passing *p, u32 end)
{
	set_user_nice(current, 0);
	mts_bring_running(p->in, end);
	set_user_nice(current, MIN_NICE);
	p->parts->bring_back_ns += mts_freeze_lap(&p->last);
	if (!mts_rotor_should_run())
		return -ECANCELED;
	if (!p->stands)
		mts_freeze_thaw(p->in, end);
	p->in = end;
	return 0;
}

static int pass_some(struct passing *p)
{
	int err = stand_if_short(p);
	u64 lack;
	u32 end;

	if (err)
		return err;
	lack = next_lack(p, &end);
	err = make_room(p, lack);
	if (err)
		return err;
	p->room = mts_sub_floor(p->room, lack);
	return let_in(p, end);
}

int mts_overlap_switch(struct mts_switch_parts *parts)
{
	u64 now = ktime_get_ns();
	struct passing p = { .began = now, .last = now, .parts = parts };
	int err = 0;

	while (!err && p.in < mts_rotor.roster.n) {
		err = pass_some(&p);
		cond_resched();
	}
	/* Evict what is left of the outgoing bin. */
	if (!err)
		err = make_room(&p, U64_MAX);
	if (!err && p.stands)
		err = mts_freeze_apply_bins(U64_MAX);
	mts_evict_note_short(p.leaving, p.left);
	mts_evict_note_full();
	mts_stats_add(freeze_ns, parts->freeze_ns - p.counted_ns);
	mts_stats_add(evict_ns, parts->evict_ns);
	mts_stats_inc(passes);
	return err;
}

/* ---- a bin that grows ---------------------------------------------------------- */

static void move(struct mts_job *job, u32 to)
{
	mutex_lock(&mts_lock);
	mts_round_move(job, to, job->planned_bytes);
	mts_jobs_changed();
	mutex_unlock(&mts_lock);
}

static void send_away(u64 deadline)
{
	struct mts_job *job;
	u32 n;

	/* The largest job makes most room. A job that is alone in its bin stays. */
	job = mts_roster_largest(mts_rotor.phase.running, &n);
	if (n < 2)
		return;
	move(job, (mts_rotor.phase.running + mts_rotor.round.nbins - 1) % mts_rotor.round.nbins);
	mts_bring_note_use(U32_MAX);
	mts_evict_job(job, U64_MAX, deadline);
	mts_stats_inc(spills);
}

int mts_overlap_spill(void)
{
	u64 began = ktime_get_ns(), want = mts_rotor.round.plan.capacity / STEPS;
	/*
	 * All jobs are frozen meanwhile, and a disk with heads needs minutes for an eighth of 64
	 * GiB.
	 */
	u64 deadline = min(began + SPILL_MOST_NS, mts_rotor.phase.slice_ends);
	int err;

	/* Capacity is 0: nothing to spill. */
	if (!want)
		return 0;
	err = mts_freeze_stop(deadline);
	if (err)
		return err;
	began = ktime_get_ns();
	set_user_nice(current, 0);
	if (mts_evict_frozen(want, deadline) < want / 2 && mts_rotor_should_run())
		send_away(deadline);
	set_user_nice(current, MIN_NICE);
	mts_stats_add(evict_ns, ktime_get_ns() - began);
	return mts_freeze_apply_bins(mts_rotor.phase.slice_ends);
}

// SPDX-License-Identifier: GPL-2.0
/* A switch: from one bin to the next. */
#include "mts.h"

#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/swap.h>

#include "config.h"
#include "freezer.h"
#include "interactive.h"
#include "ops.h"
#include "rotor.h"
#include "rotor_private.h"
#include "stats.h"
#include "tasks.h"
#include "trace.h"

/*
 * A cgroup that has not frozen this long after the last one that did is thawed
 * and left out. Where many wait for a slow disk they freeze one by one.
 */
#define FREEZE_LIMIT_NS (1 * (u64)NSEC_PER_SEC)
#define FREEZE_TOTAL_NS (5 * (u64)NSEC_PER_SEC)
/*
 * Evicted at a time: what the disk does in about a quarter of a second, as
 * nothing can stop it meanwhile. A slow disk takes 10 s for 8 MiB of single pages.
 */
#define CHUNK_MIN (256ull << 10)
#define CHUNK_MAX (8ull << 20)
#define CHUNK_LONG_NS (500 * (u64)NSEC_PER_MSEC)
#define CHUNK_SHORT_NS (125 * (u64)NSEC_PER_MSEC)
/* Jobs that have been frozen for too long are thawed one by one all the same. */
#define EVICT_PATIENCE_NS (30 * (u64)NSEC_PER_SEC)
/* Not worth another call: per-CPU caches and kernel memory stay. */
#define EVICT_FLOOR (256ull << 10)

/* Return: does this job stand still while bin @to runs? */
static bool is_to_freeze(const struct mts_job *job, u32 to)
{
	if (job->bin == to || job->bin == MTS_BIN_EVERY)
		return false;
	/* What has become so since the round was planned. */
	if (READ_ONCE(job->flags) & MTS_JOB_PIN || job->realtime || job->untouchable)
		return false;
	return !job->foreign && !READ_ONCE(job->overdue) && !mts_job_left_out(job) &&
	       !mts_job_is_wanted(job);
}

/* In time, not in rounds: there may be no rounds without it. */
static void leave_out(struct mts_job *job, u64 rounds)
{
	u64 round_ns = max_t(u64, mts_rotor.plan.round_ns, NSEC_PER_SEC);

	mutex_lock(&mts_lock);
	job->left_out_until = ktime_get_ns() + rounds * round_ns;
	mutex_unlock(&mts_lock);
}

static int ask_to_freeze(u32 to)
{
	u32 i;
	int err;

	for (i = 0; i < mts_rotor.roster_size; i++) {
		struct mts_job *job = mts_rotor.roster[i];

		mts_rotor_step("jobs are frozen");
		if (!is_to_freeze(job, to)) {
			/* It may have become real-time, or pinned, while frozen. */
			if (job->bin != to)
				mts_freezer_thaw(job);
			continue;
		}
		/* Somebody wants it to run, now: so be it, for this round. */
		if (mts_freezer_lost(job)) {
			leave_out(job, 1);
			continue;
		}
		err = mts_freezer_freeze(job);
		if (err == -ECANCELED)
			return err;
		if (err == -EBUSY)
			job->foreign = true;
		else if (err && err != -ENODEV && err != -EAGAIN)
			pr_warn_ratelimited("job %s: cannot be frozen: error %d\n", job->name, err);
	}
	return 0;
}

static bool is_freezing(const struct mts_job *job)
{
	return READ_ONCE(job->frozen) && !mts_ops->is_frozen((struct mts_job *)job);
}

/*
 * A task that waits for memory freezes as soon as it has it, and does nothing until
 * then: that can take long, and evicting is what helps.
 */
static bool is_waited_for(const struct mts_job *job)
{
	return is_freezing(job) && !mts_ops->stalls((struct mts_job *)job);
}

static u32 count_waited_for(void)
{
	u32 i, n = 0;

	for (i = 0; i < mts_rotor.roster_size; i++)
		n += is_waited_for(mts_rotor.roster[i]);
	return n;
}

/* Left out for 1, 2, 4 … 64 rounds: each attempt may cost a second. */
static void give_up(struct mts_job *job)
{
	mts_freezer_thaw(job);
	leave_out(job, 1ull << min(job->backoff, 6U));
	job->backoff++;
	job->freeze_failures++;
	mts_stats_inc(freeze_timeouts);
	pr_notice_ratelimited("job %s: did not freeze in 1 s: runs on, is tried again later\n",
			      job->name);
}

static int wait_until_frozen(void)
{
	u64 began = ktime_get_ns(), now = began, last = began;
	u32 i, left, before = U32_MAX;

	while ((left = count_waited_for()) && now - last < FREEZE_LIMIT_NS &&
	       now - began < FREEZE_TOTAL_NS) {
		mts_rotor_step("jobs are frozen");
		mts_rotor_wait(BIT(MTS_ROTOR_EV_FROZEN), FREEZE_LIMIT_NS - (now - last));
		if (!mts_rotor_may_go_on())
			return -ECANCELED;
		now = ktime_get_ns();
		if (left < before)
			last = now;
		before = left;
	}
	for (i = 0; i < mts_rotor.roster_size; i++) {
		mts_rotor_step("jobs are frozen");
		if (is_waited_for(mts_rotor.roster[i]))
			give_up(mts_rotor.roster[i]);
		else
			mts_rotor.roster[i]->backoff = 0;
	}
	return 0;
}

static int freeze_others(u32 to)
{
	u64 began = ktime_get_ns();
	int err;

	mts_rotor_step("tasks are looked at");
	mts_tasks_scan();
	err = ask_to_freeze(to);
	if (!err)
		err = wait_until_frozen();
	mts_stats_add(freeze_ns, ktime_get_ns() - began);
	return err;
}

static void thaw_bin(u32 bin)
{
	u32 i;

	for (i = 0; i < mts_rotor.roster_size; i++) {
		struct mts_job *job = mts_rotor.roster[i];

		if (job->bin != bin)
			continue;
		mts_rotor_step("jobs are thawed");
		mts_freezer_thaw(job);
		job->warm = true;
	}
}

/* ---- eviction ------------------------------------------------------------ */

/* No place for anonymous memory: whoever asks for some to be evicted has it searched in vain. */
static bool is_swap_full(void)
{
	return get_nr_swap_pages() <= EVICT_FLOOR >> PAGE_SHIFT;
}

static u64 evict_chunk = CHUNK_MIN;

/* Return: how long it took, in ns. */
static u64 evict_some(struct mts_job *job, u64 bytes)
{
	u64 began = ktime_get_ns(), took;

	/* However little is asked for, the kernel may write all that the job has. */
	mts_failsafe_promise(EVICT_PATIENCE_NS, "a job is evicted");
	mts_stats_add(evict_asked, bytes);
	/* -EAGAIN comes also when all was done: only what is left counts. */
	mts_ops->evict(job, bytes);
	took = ktime_get_ns() - began;
	if (took > CHUNK_LONG_NS)
		evict_chunk = max(evict_chunk / 2, CHUNK_MIN);
	else if (took < CHUNK_SHORT_NS)
		evict_chunk = min(evict_chunk * 2, CHUNK_MAX);
	return took;
}

/*
 * Evict up to @want from a frozen job. Return: bytes that left memory.
 *
 * Never asks for the last pages: they do not go, and the kernel takes sixteen
 * futile passes over the cgroup to find that out (memory_reclaim(),
 * mm/memcontrol.c). For the same reason the first call that falls short is the
 * last.
 */
static u64 evict_job(struct mts_job *job, u64 want)
{
	u64 before, after, chunk, asked = 0, got = 0, went, took = 0;

	if (mts_ops->resident(job, &before))
		return 0;
	while (got < want && before > EVICT_FLOOR && !is_swap_full() && !mts_rotor_is_hurried() &&
	       READ_ONCE(job->frozen)) {
		chunk = min3(want - got, before - EVICT_FLOOR, evict_chunk);
		asked += chunk;
		took += evict_some(job, chunk);
		if (mts_ops->resident(job, &after))
			break;
		went = mts_sub_floor(before, after);
		got += went;
		if (!went || went < chunk / 2)
			break;
		before = after;
	}
	if (asked)
		trace_mts_evict(job, asked, got, took);
	mts_stats_add(evict_got, got);
	mutex_lock(&mts_lock);
	job->evicted += got;
	mutex_unlock(&mts_lock);
	return got;
}

/* The roster's jobs by their bins; those of no bin come after the last. */
static void list_bins(void)
{
	u32 i;

	for (i = 0; i <= mts_rotor.nbins; i++)
		mts_rotor.first_of_bin[i] = MTS_BIN_NONE;
	for (i = mts_rotor.roster_size; i--;) {
		u32 *first =
			&mts_rotor.first_of_bin[min(mts_rotor.roster[i]->bin, mts_rotor.nbins)];

		mts_rotor.next_of_bin[i] = *first;
		*first = i;
	}
}

static u64 evict_bin(u32 bin, u64 want)
{
	u64 got = 0;
	u32 i;

	for (i = mts_rotor.first_of_bin[bin]; i != MTS_BIN_NONE && got < want;
	     i = mts_rotor.next_of_bin[i]) {
		struct mts_job *job = mts_rotor.roster[i];

		if (!job->warm || !READ_ONCE(job->frozen))
			continue;
		/* Whoever removes an emptied cgroup waits for our eviction, cgroup_mutex held. */
		if (test_bit(MTS_JOB_EV_EMPTIED, &job->events))
			continue;
		got += evict_job(job, want - got);
		/* Evicted to the end, not stopped half-way: nothing more to get from it. */
		if (got < want && !is_swap_full() && !mts_rotor_is_hurried() &&
		    READ_ONCE(job->frozen))
			job->warm = false;
	}
	return got;
}

/* What bin @to needs in memory, and has. */
static void measure_bin(u32 to, u64 *demand, u64 *resident)
{
	u32 i;

	*demand = 0;
	*resident = 0;
	for (i = 0; i < mts_rotor.roster_size; i++) {
		struct mts_job *job = mts_rotor.roster[i];
		struct mts_usage usage;

		if (job->bin != to)
			continue;
		mts_rotor_step("memory is measured");
		if (mts_ops->usage(job, &usage))
			continue;
		*demand = mts_add_sat(*demand,
				      mts_policy_demand(&usage) - mts_round_unused(job, &usage));
		*resident = mts_add_sat(*resident, mts_policy_resident(&usage));
	}
}

static u64 frozen_resident(void)
{
	u64 sum = 0;
	u32 i;

	for (i = 0; i < mts_rotor.roster_size; i++) {
		struct mts_job *job = mts_rotor.roster[i];
		u64 bytes;

		if (!job->frozen || !job->warm)
			continue;
		mts_rotor_step("memory is measured");
		if (!mts_ops->resident(job, &bytes))
			sum = mts_add_sat(sum, bytes);
	}
	return sum;
}

/* It is said once while it lasts, which is while it is so once in a round. */
static void note_swap_full(void)
{
	if (!mts_rotor_is_swap_full())
		pr_notice_ratelimited("swap is full: bins that wait stay in memory in part\n");
	mutex_lock(&mts_lock);
	mts_rotor.swap_full_in = mts_rotor.round;
	mutex_unlock(&mts_lock);
}

/* The bin that runs again last is evicted first: the one that has just run. */
static void evict_for(u32 to)
{
	u64 began = ktime_get_ns(), demand, resident, want;
	u32 evict, distance;

	mutex_lock(&mts_lock);
	evict = mts_config()->evict;
	mutex_unlock(&mts_lock);
	if (evict == MTS_EVICT_OFF)
		return;
	measure_bin(to, &demand, &resident);
	want = mts_policy_evict(evict, frozen_resident(), demand, resident,
				(u64)max(si_mem_available(), 0L) << PAGE_SHIFT);
	list_bins();
	for (distance = mts_rotor.nbins - 1; distance && want; distance--)
		want = mts_sub_floor(want, evict_bin((to + distance) % mts_rotor.nbins, want));
	want = mts_sub_floor(want, evict_bin(mts_rotor.nbins, want));
	if (want && is_swap_full())
		note_swap_full();
	mts_stats_add(evict_ns, ktime_get_ns() - began);
}

/* The frozen jobs of bin @to. Return: how many; they are in mts_rotor.incoming. */
static u32 list_incoming(u32 to)
{
	u32 i, n = 0;

	for (i = 0; i < mts_rotor.roster_size; i++)
		if (mts_rotor.roster[i]->bin == to && READ_ONCE(mts_rotor.roster[i]->frozen))
			mts_rotor.incoming[n++] = mts_rotor.roster[i];
	return n;
}

static void bring_back(u32 to)
{
	u64 began = ktime_get_ns(), pages, took;
	u32 i, n = list_incoming(to);

	for (i = 0; i < n; i++) {
		struct mts_job *job = mts_rotor.incoming[i];

		job->leaves = mts_round_unused(job, &job->usage);
	}
	pages = mts_ops->bring_back(mts_rotor.incoming, n);
	if (mts_rotor.by_use && mts_rotor_may_go_on())
		mts_ops->use_begins(mts_rotor.incoming, list_incoming(to));
	took = ktime_get_ns() - began;
	trace_mts_bring_back(to, n, pages, took);
	mts_stats_add(brought_back, pages);
	mts_stats_add(bring_back_ns, took);
}

/* Whoever stands still now has had its slice. */
static void note_use(void)
{
	u32 i, n = 0;

	for (i = 0; i < mts_rotor.roster_size; i++)
		if (READ_ONCE(mts_rotor.roster[i]->frozen))
			mts_rotor.incoming[n++] = mts_rotor.roster[i];
	mts_ops->use_ends(mts_rotor.incoming, n);
}

/* ---- the switch ------------------------------------------------------------ */

static void begin_switch(u32 to)
{
	mutex_lock(&mts_lock);
	mts_rotor.state = MTS_STATE_SWITCHING;
	mts_rotor.running = to;
	mts_rotor.generation++;
	mutex_unlock(&mts_lock);
}

/* The time since *last, which becomes now. */
static u64 lap(u64 *last)
{
	u64 now = ktime_get_ns(), took = now - *last;

	*last = now;
	return took;
}

static int exchange(u32 to, u64 *last, struct mts_switch_parts *parts)
{
	note_use();
	evict_for(to);
	parts->evict_ns = lap(last);
	if (!mts_rotor_may_go_on())
		return -ECANCELED;
	bring_back(to);
	parts->bring_back_ns = lap(last);
	return 0;
}

static int switch_to_bin(u32 from, u32 to, struct mts_switch_parts *parts)
{
	u64 last = ktime_get_ns();
	int err;

	/* When turns begin the first bin is in memory in part: it comes back like any other. */
	err = freeze_others(from == MTS_BIN_NONE ? MTS_BIN_NONE : to);
	parts->freeze_ns = lap(&last);
	if (err)
		return err;
	/* Work of the jobs', not of the host's: a shell that runs beside it gets its share. */
	set_user_nice(current, 0);
	err = exchange(to, &last, parts);
	set_user_nice(current, MIN_NICE);
	if (!err)
		thaw_bin(to);
	return err;
}

int mts_switch_to(u32 to)
{
	u64 began = ktime_get_ns(), took;
	struct mts_switch_parts parts = { 0 };
	u32 from = mts_rotor.running;
	int err;

	begin_switch(to);
	trace_mts_switch_begin(mts_rotor.round, from, to);
	mts_stats_inc(switches);
	err = switch_to_bin(from, to, &parts);
	took = ktime_get_ns() - began;
	trace_mts_switch_end(mts_rotor.round, from, to, took, &parts, err);
	if (err)
		return err;
	mts_rotor.switch_ns = mts_rotor.switch_ns ? (3 * mts_rotor.switch_ns + took) / 4 : took;
	return 0;
}

int mts_switch_settle(void)
{
	int err = freeze_others(mts_rotor.running);

	if (!err)
		thaw_bin(mts_rotor.running);
	return err;
}

void mts_switch_thaw_all(void)
{
	u32 i;

	for (i = 0; i < mts_rotor.roster_size; i++) {
		mts_rotor_step("jobs are thawed");
		mts_freezer_thaw(mts_rotor.roster[i]);
		mts_rotor.roster[i]->warm = true;
		mts_rotor.roster[i]->overdue = false;
	}
}

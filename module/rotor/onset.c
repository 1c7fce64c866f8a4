// SPDX-License-Identifier: GPL-2.0
/*
 * Turns that begin before the jobs thrash. When memory is short on a slow disk, every process
 * reclaims for itself and pages go out one by one. A process that reclaims cannot freeze, which can
 * last minutes. So when the jobs are about to fill the memory of a host whose disk is known to be
 * slow, turns begin at once: the first switch evicts about half of the jobs, in bulk. A little
 * evicted memory tells how slow a disk is that is not known.
 */
#include "rotor/onset.h"

#include "context.h"
#include "events/stats.h"
#include "jobs/ops.h"
#include "memory/memory.h"
#include "policy/admission.h"
#include "policy/fit.h"
#include "policy/verdict.h"
#include "rotor/bring.h"
#include "rotor/costs.h"
#include "rotor/evict.h"
#include "rotor/freeze.h"
#include "rotor/roster.h"
#include "rotor/spent.h"
#include "rotor/state.h"
#include "sched_hooks/hooks.h"

/*
 * FASTEST_NS: jobs may fill all of the memory within this time. Waiting for the kernel to reclaim
 * is too late: milliseconds later the jobs reclaim for themselves. So the rotor samples growth
 * before half of the memory that is left can be gone. It samples for WATCH_NS after a job has come,
 * or after growth that would use up what is left within GROWS_NS. At other times it waits for the
 * kernel to reclaim.
 */
#define FASTEST_NS (1 * (u64)NSEC_PER_SEC)
#define WATCH_NS (4 * (u64)NSEC_PER_SEC)
#define GROWS_NS (60 * (u64)NSEC_PER_SEC)
/* Growth is measured over this time at least, and at most 1/LOOK_SHARE of the time goes into it. */
#define SAMPLE_NS (8 * (u64)NSEC_PER_MSEC)
#define LOOK_SHARE 64u
/*
 * Each processor charges so many pages to a cgroup at once (MEMCG_CHARGE_BATCH in
 * include/linux/memcontrol.h): growth may be seen as that much more. It is measured until that is
 * 1/ERROR of it: 64 MiB with 64 processors, a 16th of a second at 1 GiB/s. Without it jobs
 * that thrash began turns in 3 of 3 runs of the guest's test_auto.
 */
#define CHARGED_AT_ONCE 64u
#define ERROR 4u
/* 1/EDGE of the memory is for what the jobs fill until they are frozen. */
#define EDGE 64u
/*
 * Available memory is an estimate: where the kernel reclaims already, or has within RECLAIMS_NS (of
 * kswapd it is known when it was woken), memory is about to be full if what is left would last no
 * longer than FILLS_NS.
 */
#define RECLAIMS_NS (1 * (u64)NSEC_PER_SEC)
#define FILLS_NS (100 * (u64)NSEC_PER_MSEC)
/* The jobs are not stopped again within this time, unless others have come. */
#define HOLD_NS (60 * (u64)NSEC_PER_SEC)
/* Evicted to see how fast swap is: twice what a sample needs, as the kernel may evict less. */
#define PROBE_BYTES (2ull * MTS_DISK_LEAST_PAGES << PAGE_SHIFT)
/* The jobs wait this long for it to come back. */
#define BACK_NS (100 * (u64)NSEC_PER_MSEC)

/*
 * A job that mostly sleeps wastes its turns, and hardly loads the disk. If jobs that sleep have
 * 1/MOST of the memory, turns do not begin before the kernel reclaims. That holds while they still
 * have 1/STILL of it.
 */
#define MOST 2u
#define STILL 4u

/* What the jobs had in memory (bytes), and the host had swapped in (pages); ktime, ns. */
struct sample {
	u64 at;
	u64 bytes;
	u64 swapins;
};

/**
 * struct onset
 * @now: the last sample
 * @base: an earlier one, since which growth is measured
 * @took: what the last one took, as of spent.h, ns
 * @grew: by how much @now exceeds @base at least, without what came back from swap: jobs that
 *	thrash do not grow, bytes
 * @is_enough: growth is measured anew, since the last sample
 * @left: what the kernel could give the jobs before it reclaims, bytes
 * @jobs: number of jobs
 * @watch_until: growth is sampled until then; ktime, ns
 * @next_look: no onset before; ktime, ns
 * @believed_until: that jobs which sleep have most memory counts until then; ktime, ns; 0: they do
 *	not
 */
static struct onset {
	struct sample now;
	struct sample base;
	u64 took;
	u64 grew;
	bool is_enough;
	u64 left;
	u32 jobs;
	u64 watch_until;
	u64 next_look;
	u64 believed_until;
} onset;

static u64 elapsed(void)
{
	return onset.now.at - onset.base.at;
}

static u64 sample_jobs(void)
{
	struct mts_mem_limits limits;
	u64 sum = 0, bytes;
	u32 i;

	for (i = 0; i < mts_rotor.roster.n; i++) {
		struct mts_job *job = mts_rotor.roster.jobs[i];

		if (onset.is_enough)
			job->base = job->sampled;
		if (mts_ops->resident(job, &bytes))
			continue;
		mts_ops->limits(job, &limits);
		job->room = limits.room;
		job->sampled = bytes;
		sum = mts_add_sat(sum, bytes);
	}
	return sum;
}

/*
 * A job with no thread awake sleeps. A job with one may be waiting for memory, unless some is
 * @left. Without the kernel's accounts all jobs are awake.
 */
static void note_who_sleeps(u64 left)
{
	u32 i;

	for (i = 0; i < mts_rotor.roster.n; i++) {
		struct mts_job *job = mts_rotor.roster.jobs[i];

		if (!mts_ops->awake(job))
			job->slept = true;
		else if (left)
			job->slept = false;
	}
}

/* What the jobs may fill before they have to be frozen, bytes. */
static u64 room(void)
{
	return mts_sub_floor(onset.left, mts_add_sat(onset.left, onset.now.bytes) / EDGE);
}

/* What the jobs may have read from swap since: the host's count has other processes' pages, too. */
static u64 came_back(void)
{
	u64 swapped = 0;
	u32 i;

	for (i = 0; i < mts_rotor.roster.n; i++)
		swapped = mts_add_sat(swapped, mts_rotor.roster.jobs[i]->usage.swap);
	return min((onset.now.swapins - onset.base.swapins) << PAGE_SHIFT, swapped);
}

static void measure_growth(void)
{
	u64 error = (u64)CHARGED_AT_ONCE * num_online_cpus() << PAGE_SHIFT;
	u64 grew = mts_sub_floor(onset.now.bytes, mts_add_sat(onset.base.bytes, came_back()));

	onset.grew = mts_sub_floor(grew, error);
	onset.is_enough = !grew || grew > ERROR * error || elapsed() > WATCH_NS;
}

static void take_sample(void)
{
	if (onset.is_enough)
		onset.base = onset.now;
	onset.now.at = ktime_get_ns();
	onset.now.swapins = mts_memory_swapins();
	onset.now.bytes = sample_jobs();
	onset.left = mts_memory_available();
	measure_growth();
}

/*
 * Will the jobs have @bytes more by then, if they go on as since the sample before? Each of
 * them stops at the first limit of its cgroup, or of a cgroup above it.
 */
static bool fills(u64 bytes, u64 within_ns)
{
	u64 sum = 0;
	u32 i;

	if (bytes >= mts_policy_grows(onset.grew, elapsed(), within_ns))
		return false;
	for (i = 0; i < mts_rotor.roster.n; i++) {
		const struct mts_job *job = mts_rotor.roster.jobs[i];
		u64 grew = mts_sub_floor(job->sampled, job->base);
		u64 grows = mts_policy_grows(grew, elapsed(), within_ns);

		sum = mts_add_sat(sum, min(job->room, grows));
	}
	return bytes < sum;
}

void mts_onset_sample(void)
{
	struct mts_spent spent = mts_spent_begin();
	u64 now = spent.began;

	take_sample();
	/* While turns are taken, frozen jobs are asleep because of mts. */
	if (mts_rotor.round.nbins < 2)
		note_who_sleeps(room());
	/* Nothing is known of jobs that have come since. */
	if (mts_rotor.roster.n > onset.jobs)
		onset.next_look = 0;
	if (onset.jobs != mts_rotor.roster.n || fills(onset.left, GROWS_NS))
		onset.watch_until = now + WATCH_NS;
	onset.jobs = mts_rotor.roster.n;
	onset.took = mts_spent_since(&spent);
}

/* Growth is not measured over less, nor more often. */
static u64 least_interval(void)
{
	return max(SAMPLE_NS, LOOK_SHARE * onset.took);
}

/* Half of what is left cannot be gone before. */
static u64 interval(void)
{
	u64 total = (u64)totalram_pages() << PAGE_SHIFT, least = least_interval();
	u64 ns = mul_u64_u64_div_u64(onset.left, FASTEST_NS / 2, total);

	while (ns > least && fills(onset.left / 2, ns))
		ns /= 2;
	return max(least, ns);
}

u64 mts_onset_interval(void)
{
	u64 now = ktime_get_ns();

	if (now >= onset.watch_until)
		return U64_MAX;
	return now < onset.next_look ? onset.next_look - now : interval();
}

/* Will memory be full before the next look? Not if the jobs do not grow. */
static bool is_filling(void)
{
	u64 reclaim = mts_hooks_last_reclaim();

	/* Growth since an old sample may be over. */
	if (elapsed() > WATCH_NS)
		return false;
	if (reclaim && onset.now.at < reclaim + RECLAIMS_NS && fills(onset.left, FILLS_NS))
		return true;
	return fills(room(), least_interval());
}

static bool is_new(void)
{
	if (ktime_get_ns() - onset.now.at < least_interval())
		return false;
	mts_onset_sample();
	return true;
}

static bool may_be_early_in(u32 modes)
{
	const struct mts_config *config;
	bool may;

	mutex_lock(&mts_lock);
	config = mts_rotor_config();
	may = BIT(config->mode) & modes && mts_policy_may_turn(config->policy) &&
	      !config->bin_bytes &&
	      !mts_verdict_holds(&mts_rotor.admission.verdict, ktime_get_ns());
	mutex_unlock(&mts_lock);
	return may && mts_rotor.roster.n >= 2 && get_nr_swap_pages() > 0;
}

bool mts_onset_watches(void)
{
	return mts_rotor.round.nbins < 2 &&
	       may_be_early_in(BIT(MTS_MODE_AUTO) | BIT(MTS_MODE_SHADOW));
}

/* Do jobs that slept have more than 1/@part of the memory of all jobs that take turns? */
static bool sleepers_have(u32 part)
{
	u64 bytes, all = 0, theirs = 0;
	u32 i;

	for (i = 0; i < mts_rotor.roster.n; i++) {
		struct mts_job *job = mts_rotor.roster.jobs[i];

		if (mts_roster_is_resident(job) || mts_ops->resident(job, &bytes))
			continue;
		all = mts_add_sat(all, bytes);
		if (job->slept)
			theirs = mts_add_sat(theirs, bytes);
	}
	return theirs > div_u64(all, part);
}

bool mts_onset_most_sleep(void)
{
	return ktime_get_ns() < onset.believed_until && sleepers_have(STILL);
}

/* Memory is about to be full: do jobs that sleep have most of it? Decided once in HOLD_NS. */
static bool most_sleep(u64 now)
{
	if (!sleepers_have(MOST)) {
		onset.believed_until = 0;
		return false;
	}
	if (now >= onset.believed_until)
		onset.believed_until = now + HOLD_NS;
	onset.next_look = onset.believed_until;
	return true;
}

/* Not known, or known to be slow: a fast one is no reason to stop the jobs. */
static bool disk_may_be_slow(u64 now)
{
	return !mts_disk_is_known(&mts_rotor.costs.disk.out, now) || mts_rotor_disk_is_slow();
}

bool mts_onset_is_due(void)
{
	u64 now = ktime_get_ns();

	if (!mts_onset_watches() || now < onset.next_look || !is_new() || !is_filling() ||
	    !disk_may_be_slow(now))
		return false;
	/*
	 * Jobs that slept have had their time: the admission decides about the shortage that came.
	 */
	if (onset.believed_until && now >= onset.believed_until &&
	    mts_rotor.admission.past.short_of_memory)
		return false;
	return !most_sleep(now) && may_be_early_in(BIT(MTS_MODE_AUTO));
}

static void probe_disk(void)
{
	struct mts_job *job;
	u32 n;

	job = mts_roster_largest(MTS_BIN_NONE, &n);
	if (!job)
		return;
	mts_evict_job(job, PROBE_BYTES);
	mts_costs_note_disk();
	/* That tells of the way in, too; else the job would fault it in. */
	if (job->usage.swap < 2 * PROBE_BYTES)
		mts_bring_job(job, ktime_get_ns() + BACK_NS);
}

static bool look(void)
{
	/* The gate has been closed: what there is to see will be seen when it is open. */
	if (mts_freeze_stop(U64_MAX))
		return false;
	if (!mts_disk_is_known(&mts_rotor.costs.disk.out, ktime_get_ns()))
		probe_disk();
	if (mts_rotor_should_abort())
		return false;
	onset.next_look = ktime_get_ns() + HOLD_NS;
	return mts_rotor_disk_is_slow();
}

void mts_onset_begin(bool filling)
{
	mts_rotor.onset.is_on = filling && look();
	if (mts_rotor.onset.is_on)
		mts_stats_inc(early_begins);
}

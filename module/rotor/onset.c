// SPDX-License-Identifier: GPL-2.0
/*
 * Turns that begin before the jobs thrash. When memory is short on a slow disk, every process
 * reclaims for itself and pages go out one by one. A process that reclaims cannot freeze, which can
 * last minutes. So when the jobs are about to fill the memory, freeze them for a moment and evict a
 * little. If that is slow, let the jobs fill the rest in short steps, and begin turns when memory
 * is almost full.
 */
#include "rotor/onset.h"

#include "context.h"
#include "events/promise.h"
#include "events/stats.h"
#include "jobs/ops.h"
#include "memory/memory.h"
#include "policy/admission.h"
#include "policy/demand.h"
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
/* Memory is about to be full if what is left lasts no longer than this. */
#define FILLS_NS (100 * (u64)NSEC_PER_MSEC)
/* And it is full if what is left lasts no longer than this, … */
#define NEAR_NS (FILLS_NS / 16)
/* … or if 1/EDGE of it is left. */
#define EDGE 64u
/* kswapd may still be at work within this time after it was woken. */
#define RECLAIMS_NS (1 * (u64)NSEC_PER_SEC)
/* If memory does not become full within this time, the jobs have stopped growing. */
#define NEARS_NS (1 * (u64)NSEC_PER_SEC)
/* Growth is measured over this time at least; while the jobs do not grow, over SETTLED_NS. */
#define SAMPLE_NS (8 * (u64)NSEC_PER_MSEC)
#define SETTLED_NS (32 * (u64)NSEC_PER_MSEC)
/* At most 1/LOOK_SHARE of the time goes into looking. */
#define LOOK_SHARE 64u
/* What was seen of the disk or the jobs expires after this time. */
#define BELIEVED_NS (60 * (u64)NSEC_PER_SEC)
/*
 * A probe evicts this much to see how fast swap is: little, as memory may suffice, and twice what a
 * sample needs, as the kernel may evict less. A slow result is checked by another probe, as a fast
 * disk may have been busy once.
 */
#define PROBE_BYTES (2ull * MTS_DISK_LEAST_PAGES << PAGE_SHIFT)
#define PROBES 2u
/* The jobs wait this long for it to come back. A job with more than BACK_BYTES in swap faults. */
#define BACK_NS (100 * (u64)NSEC_PER_MSEC)
#define BACK_BYTES (1024ull << 10)
/* Jobs that have not grown by 1/GROWTH within this time have what they need. */
#define GROWN_NS (100 * (u64)NSEC_PER_MSEC)
#define GROWTH 128u

/*
 * A job that mostly sleeps wastes its turns, and hardly loads the disk. If jobs that sleep have
 * 1/MOST of the memory, turns do not begin before the kernel reclaims. That holds while they still
 * have 1/STILL of it.
 */
#define MOST 2u
#define STILL 4u

/**
 * struct onset
 * @sampled: ktime of the last sample, ns
 * @took: what it took, as of spent.h, ns
 * @sample: what the jobs had in memory then, bytes
 * @before: the same at the sample before
 * @elapsed: time between the two, ns
 * @left: what the kernel could give the jobs before it reclaims, bytes
 * @planned: the part of @left that a bin may have, bytes
 * @jobs: number of jobs
 * @grew: @sample exceeds @before
 * @watch_until: growth is sampled until then; ktime, ns
 * @next_look: no onset before; ktime, ns
 * @believed_until: that jobs which sleep have most memory counts until then; ktime, ns; 0: they do
 *	not
 * @most: the jobs' demand in the last slice of an early round, bytes
 * @most_since: when it had grown to that; ktime, ns
 * @next_measure: the demand is not measured before; ktime, ns
 * @fit_until: the jobs count as fitting until then, if their demand does not exceed @most; ktime,
 *	ns
 */
static struct onset {
	u64 sampled;
	u64 took;
	u64 sample;
	u64 before;
	u64 elapsed;
	u64 left;
	u64 planned;
	u32 jobs;
	bool grew;
	u64 watch_until;
	u64 next_look;
	u64 believed_until;
	u64 most;
	u64 most_since;
	u64 next_measure;
	u64 fit_until;
} onset;

static u64 sample_jobs(void)
{
	struct mts_mem_limits limits;
	u64 sum = 0, bytes;
	u32 i;

	for (i = 0; i < mts_rotor.roster.n; i++) {
		struct mts_job *job = mts_rotor.roster.jobs[i];

		job->grew = 0;
		if (mts_ops->resident(job, &bytes))
			continue;
		mts_ops->limits(job, &limits);
		job->room = limits.room;
		job->grew = mts_sub_floor(bytes, job->sampled);
		job->sampled = bytes;
		sum = mts_add_sat(sum, bytes);
	}
	return sum;
}

/* In memory, and with what is in swap: what comes back from there is no growth. */
static u64 jobs_demand(u64 *resident)
{
	struct mts_usage usage;
	u64 sum = 0;
	u32 i;

	*resident = 0;
	for (i = 0; i < mts_rotor.roster.n; i++) {
		if (mts_ops->usage(mts_rotor.roster.jobs[i], &usage))
			continue;
		sum = mts_add_sat(sum, min(mts_policy_demand(&usage),
					   mts_rotor.roster.jobs[i]->limits.most));
		*resident = mts_add_sat(*resident, mts_policy_resident(&usage));
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

static void take_sample(void)
{
	u64 now = ktime_get_ns(), total = (u64)totalram_pages() << PAGE_SHIFT;

	onset.elapsed = now - onset.sampled;
	onset.before = onset.sample;
	onset.sampled = now;
	onset.sample = sample_jobs();
	onset.left = mts_memory_available();
	onset.planned =
		mts_sub_floor(mts_policy_capacity(onset.left, onset.sample, total), onset.sample);
}

/*
 * Will the jobs have @bytes more by then, if they go on as between the last two samples? Each of
 * them stops at the first limit of its cgroup, or of a cgroup above it.
 */
static bool fills(u64 bytes, u64 within_ns)
{
	u64 sum = 0;
	u32 i;

	if (!mts_policy_fills(bytes, onset.before, onset.sample, onset.elapsed, within_ns))
		return false;
	for (i = 0; i < mts_rotor.roster.n; i++) {
		const struct mts_job *job = mts_rotor.roster.jobs[i];
		u64 grows = mts_policy_grows(job->grew, onset.elapsed, within_ns);

		sum = mts_add_sat(sum, min(job->room, grows));
	}
	return bytes < sum;
}

void mts_onset_sample(void)
{
	struct mts_spent spent = mts_spent_begin();
	u64 now = spent.began;

	take_sample();
	onset.grew = onset.sample > onset.before;
	/* While turns are taken, frozen jobs are asleep because of mts. */
	if (mts_rotor.round.nbins < 2)
		note_who_sleeps(onset.planned);
	/* Nothing is known of jobs that have come since. */
	if (now < onset.believed_until && mts_rotor.roster.n > onset.jobs)
		onset.next_look = 0;
	if (onset.jobs != mts_rotor.roster.n)
		onset.fit_until = 0;
	if (onset.jobs != mts_rotor.roster.n || fills(onset.left, GROWS_NS))
		onset.watch_until = now + WATCH_NS;
	onset.jobs = mts_rotor.roster.n;
	onset.took = mts_spent_since(&spent);
}

u64 mts_onset_interval(void)
{
	u64 total = (u64)totalram_pages() << PAGE_SHIFT, now = ktime_get_ns();
	u64 least = max(onset.grew ? SAMPLE_NS : SETTLED_NS, LOOK_SHARE * onset.took);

	if (now >= onset.watch_until)
		return U64_MAX;
	if (now < onset.next_look)
		return onset.next_look - now;
	return max(least, mul_u64_u64_div_u64(onset.left, FASTEST_NS / 2, total));
}

/*
 * Hardly any is left, by an estimate of the kernel's that is not exact; or it reclaims, and has
 * little that it could take from others.
 */
static bool is_full(void)
{
	u64 reclaim = mts_hooks_last_reclaim();

	if (onset.left < mts_add_sat(onset.left, onset.sample) / EDGE)
		return true;
	return !onset.planned && reclaim && onset.sampled < reclaim + RECLAIMS_NS;
}

/* Will the jobs use up what is left within @within_ns? Not if they do not grow. */
static bool is_filling(u64 within_ns)
{
	return fills(is_full() ? 0 : onset.left, within_ns);
}

static bool is_new(void)
{
	if (ktime_get_ns() - onset.sampled < max(SAMPLE_NS, LOOK_SHARE * onset.took))
		return false;
	mts_onset_sample();
	return true;
}

u64 mts_onset_planned(void)
{
	take_sample();
	return onset.planned;
}

bool mts_onset_bin_fills(u64 within_ns)
{
	return is_new() && fills(onset.planned, within_ns);
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

bool mts_onset_may_begin(void)
{
	return may_be_early_in(BIT(MTS_MODE_AUTO) | BIT(MTS_MODE_SHADOW));
}

bool mts_onset_may_stop(void)
{
	return may_be_early_in(BIT(MTS_MODE_AUTO));
}

bool mts_onset_watches(void)
{
	return mts_rotor.round.nbins < 2 && mts_onset_may_begin();
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

/* Memory is about to be full: do jobs that sleep have most of it? Decided once in BELIEVED_NS. */
static bool most_sleep(u64 now)
{
	if (!sleepers_have(MOST)) {
		onset.believed_until = 0;
		return false;
	}
	if (now >= onset.believed_until)
		onset.believed_until = now + BELIEVED_NS;
	onset.next_look = onset.believed_until;
	return true;
}

static bool has_grown(u64 demand)
{
	return demand > onset.most + onset.most / GROWTH;
}

/*
 * Turns began before the jobs' demand was known. It is known when the running bin has grown into
 * what the others gave up, and grows no more. If all of it fits, by an estimate, the round is in
 * vain: its other bins would be evicted and brought back for nothing.
 */
bool mts_onset_all_fit(void)
{
	struct mts_spent spent = mts_spent_begin();
	u64 now = spent.began, demand, resident, room;

	/*
	 * The demand of newcomers is not known. And if all jobs fitted a while ago, they have grown
	 * since: ending every early round would each time cost a whole onset.
	 */
	if (mts_rotor.round.newcomers || now < onset.fit_until || now < onset.next_measure)
		return false;
	demand = jobs_demand(&resident);
	onset.next_measure = now + LOOK_SHARE * mts_spent_since(&spent);
	if (onset.most_since < mts_rotor.phase.slice_began || has_grown(demand)) {
		onset.most = demand;
		onset.most_since = now;
	}
	room = mts_add_sat(resident, mts_memory_available());
	if (now < onset.most_since + GROWN_NS || demand > room + room / EDGE)
		return false;
	onset.fit_until = now + BELIEVED_NS;
	mts_rotor.onset.all_fit = true;
	return true;
}

/* All jobs were seen to fit within the last BELIEVED_NS, and have hardly grown. */
static bool fit_still(u64 now)
{
	u64 resident;

	return now < onset.fit_until && !has_grown(jobs_demand(&resident));
}

bool mts_onset_is_due(void)
{
	u64 now = ktime_get_ns();

	if (!mts_onset_watches() || now < onset.next_look || !is_new() || !is_filling(FILLS_NS))
		return false;
	/*
	 * Jobs that slept have had their time: the admission decides about the shortage that came.
	 */
	if (onset.believed_until && now >= onset.believed_until &&
	    mts_rotor.admission.past.short_of_memory)
		return false;
	return !fit_still(now) && !most_sleep(now) && mts_onset_may_stop();
}

/*
 * Measure what a page costs on its way out. A slow result counts for BELIEVED_NS. Return: the probe
 * was interrupted, so nothing is known.
 */
static bool probe_disk(void)
{
	u64 now = ktime_get_ns();
	struct mts_job *job;
	u32 i, n;

	if (mts_rotor_disk_is_slow() && now < mts_rotor.costs.disk.out.at_ns + BELIEVED_NS)
		return false;
	job = mts_roster_largest(MTS_BIN_NONE, &n);
	if (!job)
		return false;
	for (i = 0; i < PROBES; i++) {
		mts_evict_job(job, PROBE_BYTES, 0);
		mts_costs_note_probe();
		if (mts_rotor_should_abort())
			return true;
		if (!mts_rotor_disk_is_slow())
			break;
	}
	/* What went is what had been used longest ago: it would come back page by page. */
	if (job->usage.swap < BACK_BYTES)
		mts_bring_job(job, ktime_get_ns() + BACK_NS);
	return false;
}

/* How long half of what is left lasts; 0: less than NEAR_NS / 2. */
static u64 burst(void)
{
	u64 ns = FILLS_NS / 2;

	while (ns >= NEAR_NS / 2 && is_filling(2 * ns))
		ns /= 2;
	return ns >= NEAR_NS / 2 ? ns : 0;
}

/*
 * All jobs are frozen, and would soon use up what is left. But their demand is not known: jobs that
 * just fit fill nearly all memory, too, and turns would cost them most of their work. So let them
 * run in steps, each as long as half of what is left lasts. Return: memory is almost full, or the
 * kernel reclaims already; the jobs are frozen then.
 */
static bool approach_full(void)
{
	u64 until = ktime_get_ns() + NEARS_NS, began, ns;

	while ((ns = burst())) {
		if (!is_filling(FILLS_NS) || ktime_get_ns() >= until)
			return false;
		take_sample();
		began = onset.sampled;
		mts_freeze_thaw_all();
		mts_promise_step("the jobs fill the memory");
		usleep_range(div_u64(ns, NSEC_PER_USEC), div_u64(ns + ns / 8, NSEC_PER_USEC));
		if (mts_rotor_should_abort() || mts_freeze_stop(U64_MAX))
			return false;
		take_sample();
		if (mts_hooks_last_reclaim() > began)
			return true;
	}
	return true;
}

static bool look(void)
{
	/* The gate has been closed: what there is to see will be seen when it is open. */
	if (mts_freeze_stop(U64_MAX))
		return false;
	onset.next_look = 0;
	if (probe_disk())
		return false;
	if (!mts_rotor_disk_is_slow()) {
		onset.next_look = ktime_get_ns() + BELIEVED_NS;
		return false;
	}
	if (!approach_full()) {
		onset.next_look = ktime_get_ns() + FILLS_NS / 2;
		/* Now: else all jobs would wait while the memory of one comes back. */
		mts_freeze_thaw_all();
		return false;
	}
	mts_stats_inc(early_begins);
	return true;
}

void mts_onset_begin(bool filling)
{
	mts_rotor.onset.is_on = filling && look();
}

void mts_onset_forget_fit(void)
{
	mts_rotor.onset.all_fit = false;
}

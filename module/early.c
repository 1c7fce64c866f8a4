// SPDX-License-Identifier: GPL-2.0
/*
 * Turns that begin before the first storm. On a slow disk, as soon as memory is short, every
 * process reclaims for itself: pages go out one by one, and whoever reclaims does not freeze until
 * it is through, which can take minutes. So where the jobs are about to fill the memory all stand
 * still for a moment, some of it is evicted, and if that goes slowly turns begin there and then.
 */
#include "mts.h"

#include <linux/mm.h>

#include "memory.h"
#include "ops.h"
#include "rotor.h"
#include "rotor_private.h"
#include "stats.h"
#include "workers.h"

/*
 * Jobs may fill all of the memory in so short a time. By when the kernel begins to reclaim it is
 * too late: a few milliseconds later they do so themselves. So growth is looked at before half of
 * what is left can be gone: for so long after jobs have come, or have grown so fast that what is
 * left would last no longer than a minute. Else nobody looks before the kernel reclaims.
 */
#define FASTEST_NS (1 * (u64)NSEC_PER_SEC)
#define WATCH_NS (4 * (u64)NSEC_PER_SEC)
#define GROWS_NS (60 * (u64)NSEC_PER_SEC)
/* It is about to be full if what is left lasts no longer than this. */
#define FILLS_NS (100 * (u64)NSEC_PER_MSEC)
/* Growth is measured over this at least; and this for who does not grow at present. */
#define SAMPLE_NS (8 * (u64)NSEC_PER_MSEC)
#define SETTLED_NS (32 * (u64)NSEC_PER_MSEC)
/* At most so much of the time goes into looking. */
#define LOOK_SHARE 64u
/* What the disk has shown, or the jobs, is believed for so long. */
#define BELIEVED_NS (60 * (u64)NSEC_PER_SEC)
/* So much is evicted to see how fast it is, and this is slow: 80 MB/s. */
#define PROBE_BYTES (2ull << 20)
#define SLOW_NS (50 * (u64)NSEC_PER_USEC)

/*
 * Who sleeps most of the time loses its turn by turns, and does not storm the disk: of Maziero's
 * consumers one in fifty is awake when memory is about to be full, of programs that work all are.
 * One part in so many belongs to those who sleep: most; and so much that they are still in it.
 */
#define MOST 2u
#define STILL 4u

/**
 * struct early
 * @sampled: when, ns
 * @took: to take it, ns
 * @sample: what the jobs had in memory then, bytes
 * @left: that they could have had, bytes
 * @jobs: how many they were
 * @grew: they had less before
 * @watch_until: so long they are looked at, ns
 * @next_look: not before, ns
 * @believed_until: so long what was seen of who sleeps is, ns; 0: nobody did who had much
 */
static struct early {
	u64 sampled;
	u64 took;
	u64 sample;
	u64 left;
	u32 jobs;
	bool grew;
	u64 watch_until;
	u64 next_look;
	u64 believed_until;
} early;

static u64 jobs_resident(void)
{
	u64 sum = 0, bytes;
	u32 i;

	for (i = 0; i < mts_rotor.roster_size; i++)
		if (!mts_ops->resident(mts_rotor.roster[i], &bytes))
			sum = mts_add_sat(sum, bytes);
	return sum;
}

/*
 * Who is seen asleep sleeps. Who is not may be waiting for memory, unless some is @left. Without
 * the kernel's accounts all are awake.
 */
static void note_who_sleeps(u64 left)
{
	u32 i;

	for (i = 0; i < mts_rotor.roster_size; i++) {
		struct mts_job *job = mts_rotor.roster[i];

		if (!mts_ops->awake(job))
			job->slept = true;
		else if (left)
			job->slept = false;
	}
}

void mts_early_sample(void)
{
	u64 before = early.sample, now = ktime_get_ns(), elapsed = now - early.sampled;
	u64 total = (u64)totalram_pages() << PAGE_SHIFT;

	early.sampled = now;
	early.sample = jobs_resident();
	early.grew = early.sample > before;
	early.left = mts_sub_floor(mts_policy_capacity(mts_memory_available(), early.sample, total),
				   early.sample);
	/* In turns it is we who let them sleep. */
	if (mts_rotor.nbins < 2)
		note_who_sleeps(early.left);
	/* Nothing is known of who has come since. */
	if (now < early.believed_until && mts_rotor.roster_size > early.jobs)
		early.next_look = 0;
	if (early.jobs != mts_rotor.roster_size ||
	    mts_policy_fills(early.left, before, early.sample, elapsed, GROWS_NS))
		early.watch_until = now + WATCH_NS;
	early.jobs = mts_rotor.roster_size;
	early.took = ktime_get_ns() - now;
}

u64 mts_early_interval(void)
{
	u64 total = (u64)totalram_pages() << PAGE_SHIFT, now = ktime_get_ns();
	u64 least = max(early.grew ? SAMPLE_NS : SETTLED_NS, LOOK_SHARE * early.took);

	if (now >= early.watch_until)
		return U64_MAX;
	if (now < early.next_look)
		return early.next_look - now;
	return max(least, mul_u64_u64_div_u64(early.left, FASTEST_NS / 2, total));
}

bool mts_early_fills(u64 within_ns)
{
	u64 before = early.sample, elapsed = ktime_get_ns() - early.sampled;

	if (elapsed < max(SAMPLE_NS, LOOK_SHARE * early.took))
		return false;
	mts_early_sample();
	return mts_policy_fills(early.left, before, early.sample, elapsed, within_ns);
}

bool mts_early_watches(void)
{
	return mts_rotor.nbins < 2 && mts_round_may_be_early();
}

/* Does more than one in @part of the pages of those that take turns belong to who slept? */
static bool sleepers_have(u32 part)
{
	u64 bytes, all = 0, theirs = 0;
	u32 i;

	for (i = 0; i < mts_rotor.roster_size; i++) {
		struct mts_job *job = mts_rotor.roster[i];

		if (mts_round_is_resident(job) || mts_ops->resident(job, &bytes))
			continue;
		all = mts_add_sat(all, bytes);
		if (job->slept)
			theirs = mts_add_sat(theirs, bytes);
	}
	return theirs > div_u64(all, part);
}

bool mts_early_most_sleep(void)
{
	return ktime_get_ns() < early.believed_until && sleepers_have(STILL);
}

/* Memory is about to be full: does most of it belong to who sleeps? Once in a while. */
static bool most_sleep(u64 now)
{
	if (!sleepers_have(MOST)) {
		early.believed_until = 0;
		return false;
	}
	if (now >= early.believed_until)
		early.believed_until = now + BELIEVED_NS;
	early.next_look = early.believed_until;
	return true;
}

bool mts_early_is_due(void)
{
	u64 now = ktime_get_ns();

	if (!mts_early_watches() || now < early.next_look || !mts_early_fills(FILLS_NS))
		return false;
	/* Those who slept have had their time: the admission decides about the storm that came. */
	if (early.believed_until && now >= early.believed_until &&
	    mts_rotor.admission.short_of_memory)
		return false;
	return !most_sleep(now) && mts_round_may_stop();
}

bool mts_early_look(void)
{
	u64 began, busy, got, waited;
	struct mts_job *job;
	u32 n;

	/* The gate has been closed: what there is to see will be seen when it is open. */
	if (mts_switch_stop())
		return false;
	early.next_look = ktime_get_ns() + BELIEVED_NS;
	job = mts_round_largest(MTS_BIN_NONE, &n);
	if (!job)
		return false;
	began = ktime_get_ns();
	busy = mts_workers_busy();
	got = mts_evict_job(job, PROBE_BYTES);
	waited = mts_sub_floor(ktime_get_ns() - began, mts_workers_busy() - busy);
	/* Not all of it was asked for: the disk has shown nothing. */
	if (mts_rotor_is_hurried()) {
		early.next_look = 0;
		return false;
	}
	/* Where hardly anything went it is not the disk that was slow. */
	mts_rotor.disk_is_slow = got >= PROBE_BYTES / 4 && waited > SLOW_NS * (got >> PAGE_SHIFT);
	if (!mts_rotor.disk_is_slow) {
		/* What a switch took once says less than that. */
		mts_rotor.slow_swap = false;
		return false;
	}
	early.next_look = 0;
	mts_stats_inc(early_begins);
	return true;
}

// SPDX-License-Identifier: GPL-2.0
/*
 * Turns that begin before the first storm. On a slow disk, as soon as memory is short, every
 * process reclaims for itself: pages go out one by one, and whoever reclaims does not freeze until
 * it is through, which can take minutes. So where the jobs are about to fill the memory all stand
 * still for a moment, some of it is evicted, and if that goes slowly turns begin there and then.
 */
#include "mts.h"

#include <linux/mm.h>

#include "ops.h"
#include "rotor.h"
#include "rotor_private.h"
#include "sched_hooks/hooks.h"
#include "stats.h"

/* Memory fills as long as the host has reclaimed within this time. */
#define ECHO_NS (1 * (u64)NSEC_PER_SEC)
/* It is about to be full if what is left lasts no longer than this. */
#define FILLS_NS (100 * (u64)NSEC_PER_MSEC)
/* Growth is measured over this at least. */
#define SAMPLE_NS (8 * (u64)NSEC_PER_MSEC)
/* What the disk has shown is believed for so long. */
#define BELIEVED_NS (60 * (u64)NSEC_PER_SEC)
/* So much is evicted to see how fast it is, and this is slow: 80 MB/s. */
#define PROBE_BYTES (2ull << 20)
#define SLOW_NS (50 * (u64)NSEC_PER_USEC)

/**
 * struct early
 * @sampled: when, ns
 * @sample: what the jobs had in memory then, bytes
 * @next_look: not before, ns
 */
static struct early {
	u64 sampled;
	u64 sample;
	u64 next_look;
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

void mts_early_sample(void)
{
	early.sampled = ktime_get_ns();
	early.sample = jobs_resident();
}

bool mts_early_watches(void)
{
	u64 now = ktime_get_ns();

	return mts_rotor.nbins < 2 && now >= early.next_look &&
	       now - mts_hooks_last_reclaim() < ECHO_NS && mts_round_may_be_early();
}

bool mts_early_fills(u64 within_ns)
{
	u64 before = early.sample, elapsed = ktime_get_ns() - early.sampled, capacity;

	if (elapsed < SAMPLE_NS)
		return false;
	mts_early_sample();
	capacity = mts_policy_capacity((u64)max(si_mem_available(), 0L) << PAGE_SHIFT, early.sample,
				       (u64)totalram_pages() << PAGE_SHIFT);
	return mts_policy_fills(capacity, before, early.sample, elapsed, within_ns);
}

bool mts_early_is_due(void)
{
	return mts_early_watches() && mts_early_fills(FILLS_NS);
}

bool mts_early_look(void)
{
	u64 began, busy, got, waited;
	struct mts_job *job;
	bool slow;
	u32 n;

	early.next_look = ktime_get_ns() + BELIEVED_NS;
	if (mts_switch_stop())
		return false;
	job = mts_round_largest(MTS_BIN_NONE, &n);
	if (!job)
		return false;
	began = ktime_get_ns();
	busy = mts_switch_busy();
	got = mts_evict_job(job, PROBE_BYTES);
	waited = mts_sub_floor(ktime_get_ns() - began, mts_switch_busy() - busy);
	/* Where hardly anything went it is not the disk that was slow. */
	slow = got >= PROBE_BYTES / 4 && waited > SLOW_NS * (got >> PAGE_SHIFT);
	if (slow)
		mts_stats_inc(early_begins);
	return slow;
}

// SPDX-License-Identifier: GPL-2.0
#include "sched_hooks/pressure.h"

#include <linux/atomic.h>
#include <linux/ktime.h>

#include "events/stats.h"
#include "events/wake.h"

/* Reclaim comes in bursts, and each wake-up costs time: wake the rotor at most this often. */
#define RECLAIM_WAKE_NS (100 * NSEC_PER_MSEC)

static atomic64_t last_reclaim;
static atomic64_t last_reclaim_wake;

u64 mts_pressure_last_reclaim(void)
{
	return atomic64_read(&last_reclaim);
}

void mts_pressure_note(void)
{
	u64 now = ktime_get_ns();
	s64 woken = atomic64_read(&last_reclaim_wake);

	atomic64_set(&last_reclaim, now);
	if (now - woken < RECLAIM_WAKE_NS ||
	    atomic64_cmpxchg(&last_reclaim_wake, woken, now) != woken)
		return;
	mts_stats_inc(reclaim_wakeups);
	mts_wake_rotor(MTS_ROTOR_EV_RECLAIM);
}

// SPDX-License-Identifier: GPL-2.0
#include "events/stats.h"

struct mts_stats_counters mts_stats_counters;

void mts_stats_get(struct mts_stats *stats)
{
	u64 *v = (u64 *)stats;
	int i;

	for (i = 0; i < ARRAY_SIZE(mts_stats_counters.v); i++)
		v[i] = atomic64_read(&mts_stats_counters.v[i]);
}

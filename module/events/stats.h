/* SPDX-License-Identifier: GPL-2.0 */
/* Counters since load: struct mts_stats, with each field as an atomic. */
#ifndef _MTS_STATS_H
#define _MTS_STATS_H

#include "context.h"
#include "mts.h"

extern struct mts_stats_counters {
	atomic64_t v[sizeof(struct mts_stats) / sizeof(u64)];
} mts_stats_counters;

#define mts_stats_counter(field) \
	(&mts_stats_counters.v[offsetof(struct mts_stats, field) / sizeof(u64)])
#define mts_stats_add(field, n) atomic64_add(n, mts_stats_counter(field))
#define mts_stats_read(field) ((u64)atomic64_read(mts_stats_counter(field)))
#define mts_stats_inc(field) mts_stats_add(field, 1)

void mts_stats_get(struct mts_stats *stats);

#endif /* _MTS_STATS_H */

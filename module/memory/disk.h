/* SPDX-License-Identifier: GPL-2.0 */
/* Measures moves of memory for policy/disk.h. */
#ifndef _MTS_MEMORY_DISK_H
#define _MTS_MEMORY_DISK_H

#include "context.h"
#include "memory/workers.h"
#include "policy/disk.h"

/* When a move began: ktime, mts_workers_busy() and mts_workers_delayed() of the calling thread. */
struct mts_disk_mark {
	u64 began;
	u64 busy;
	u64 delayed;
};

static inline struct mts_disk_mark mts_disk_mark(void)
{
	return (struct mts_disk_mark){
		.busy = mts_workers_busy(),
		.delayed = mts_workers_delayed(),
		.began = ktime_get_ns(),
	};
}

/* What the move has been so far, which is at @pages. In the thread that took the mark. */
static inline struct mts_disk_sample mts_disk_since(const struct mts_disk_mark *mark, u64 pages)
{
	u64 busy = mts_workers_busy() - mark->busy, elapsed = ktime_get_ns() - mark->began;

	return (struct mts_disk_sample){
		.elapsed_ns = elapsed,
		.worked_ns = mts_sub_floor(busy, mts_workers_delayed() - mark->delayed),
		.waited_ns = mts_sub_floor(elapsed, busy),
		.pages = pages,
	};
}

#endif /* _MTS_MEMORY_DISK_H */

// SPDX-License-Identifier: GPL-2.0
#include "jobs/swap_waits.h"

#include "jobs/tasks.h"

/* A task that came, or had its page, within a step of rotor/fair.c counts as one that waits: ns. */
#define LATELY_NS (100 * (u64)NSEC_PER_MSEC)

static bool are_seen;

void mts_swap_waits_set_seen(bool seen)
{
	WRITE_ONCE(are_seen, seen);
}

void mts_swap_waits_read(struct mts_job *job, struct mts_swap_waits *waits)
{
	u64 at = atomic64_read(&job->swapin_at);

	if (READ_ONCE(are_seen))
		*waits = (struct mts_swap_waits){
			.waited_ns = atomic64_read(&job->swapin_ns),
			.waiting = at && mts_sub_floor(ktime_get_ns(), at) < LATELY_NS,
		};
	else
		*waits = (struct mts_swap_waits){
			.waited_ns = mts_tasks_stalled_total(job->cgrp),
			.waiting = mts_tasks_stalls(job->cgrp),
		};
}

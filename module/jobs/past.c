// SPDX-License-Identifier: GPL-2.0
#include "jobs/past.h"

#include "context.h"
#include "memory/cgroupfs.h"
#include "policy/past.h"

static struct mts_past past;
static DEFINE_MUTEX(past_lock);

void mts_past_ask(struct mts_job *job)
{
	struct mts_past_run run;
	bool known;

	job->size_from = job->size ? MTS_SIZE_GIVEN : MTS_SIZE_UNKNOWN;
	job->runs_ns = U64_MAX;
	mutex_lock(&past_lock);
	known = mts_past_expect(&past, job->command, &run);
	mutex_unlock(&past_lock);
	if (!known)
		return;
	job->runs_ns = run.ran_ns;
	if (job->size)
		return;
	job->size = run.need;
	job->size_from = MTS_SIZE_COMMAND;
}

/*
 * The rotor measures a job's demand only while that matters. What a job needed that it did not
 * measure is the peak of the cgroup, without what is left in it when its processes are gone: files.
 */
static u64 needed(struct mts_job *job)
{
	u64 peak, left;

	if (mts_cgroupfs_read_u64(&job->dir, "memory.peak", &peak) ||
	    mts_cgroupfs_read_u64(&job->dir, "memory.current", &left))
		return job->most;
	return max(job->most, mts_sub_floor(peak, left));
}

void mts_past_tell(struct mts_job *job)
{
	struct mts_past_run run;

	/* It has left the queue without having begun, or its processes have moved elsewhere. */
	if (!job->command || READ_ONCE(job->held) || READ_ONCE(job->moved_to))
		return;
	run.need = needed(job);
	run.ran_ns = mts_sub_floor(ktime_get_ns() - job->began, job->frozen_total);
	mutex_lock(&past_lock);
	mts_past_note(&past, job->command, &run);
	mutex_unlock(&past_lock);
}

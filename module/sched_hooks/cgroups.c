// SPDX-License-Identifier: GPL-2.0
#include "sched_hooks/cgroups.h"

#include <linux/cgroup.h>

#include "jobs/enrol.h"
#include "events/trace.h"
#include "events/wake.h"
#include "sched_hooks/moves.h"

static void mark_job(struct cgroup *cgrp)
{
	struct mts_job *job;

	rcu_read_lock();
	job = mts_job_at_cgroup(cgrp);
	if (job) {
		mts_moves_emptied(job);
		set_bit(MTS_JOB_EV_EMPTIED, &job->events);
		atomic_inc(&mts_job_marked);
		mts_wake_rotor(MTS_ROTOR_EV_JOBS);
	}
	rcu_read_unlock();
}

void mts_hook_populated(void *data, struct cgroup *cgrp, const char *path, int populated)
{
	if (populated)
		mts_moves_filled(cgrp);
	else
		mark_job(cgrp);
}

void mts_hook_rmdir(void *data, struct cgroup *cgrp, const char *path)
{
	mark_job(cgrp);
}

/* Only of jobs: the rotor waits for others as long as this comes (freeze.c). */
void mts_hook_frozen(void *data, struct cgroup *cgrp, const char *path, int frozen)
{
	struct mts_job *job;

	rcu_read_lock();
	job = mts_job_at_cgroup(cgrp);
	if (job) {
		if (frozen)
			trace_mts_frozen(job);
		else
			trace_mts_thawed(job);
		mts_wake_rotor(MTS_ROTOR_EV_FROZEN);
	}
	rcu_read_unlock();
}

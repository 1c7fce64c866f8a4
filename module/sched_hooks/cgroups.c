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

static void trace_frozen(struct cgroup *cgrp, bool frozen)
{
	struct mts_job *job;

	if (!trace_mts_frozen_enabled() && !trace_mts_thawed_enabled())
		return;
	rcu_read_lock();
	job = mts_job_at_cgroup(cgrp);
	if (job && frozen)
		trace_mts_frozen(job);
	else if (job)
		trace_mts_thawed(job);
	rcu_read_unlock();
}

void mts_hook_frozen(void *data, struct cgroup *cgrp, const char *path, int frozen)
{
	trace_frozen(cgrp, frozen);
	mts_wake_rotor(MTS_ROTOR_EV_FROZEN);
}

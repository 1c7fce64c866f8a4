// SPDX-License-Identifier: GPL-2.0
#include "mtsd/rights.h"

#include <errno.h>

#include "mtsd/wire.h"

static bool makes_job(unsigned int cmd)
{
	return cmd == MTS_IOC_JOB_ADD || cmd == MTS_IOC_JOB_SUBMIT;
}

bool rights_need_object(unsigned int cmd)
{
	return makes_job(cmd) || cmd == MTS_IOC_JOB_REMOVE || cmd == MTS_IOC_JOB_SET ||
	       cmd == MTS_IOC_JOB_PAUSE || cmd == MTS_IOC_JOB_WEIGHT;
}

static bool reads(unsigned int cmd)
{
	switch (cmd) {
	case MTS_IOC_CONFIG_GET:
	case MTS_IOC_STATUS:
	case MTS_IOC_DISK:
	case MTS_IOC_JOBS:
	case MTS_IOC_BINS:
	case MTS_IOC_GONE:
		return true;
	}
	return cmd == MTS_IOC_STATS_OF(_IOC_SIZE(cmd));
}

int rights_of_caller(const struct rights_ask *ask)
{
	if (reads(ask->cmd))
		return 0;
	if (!ask->is_member || !rights_need_object(ask->cmd))
		return -EPERM;
	if (ask->flags & MTS_JOB_USER && ask->user != ask->uid)
		return -EPERM;
	/*
	 * Jobs of children are cgroups below cgroup_base, out of what the user owns and of the
	 * limits of the user's slice.
	 */
	if (ask->flags & (MTS_JOB_EACH | MTS_JOB_EACH_LEAF | MTS_JOB_QUEUE))
		return -EOPNOTSUPP;
	return 0;
}

int rights_of_object(u32 uid, u32 cgroup_uid, u32 job_uid)
{
	if (cgroup_uid != uid || uid == RIGHTS_NOBODY)
		return -EACCES;
	return job_uid == uid || job_uid == RIGHTS_NOBODY ? 0 : -EACCES;
}

int rights_within(const struct rights_limits *limits, const struct rights_ask *ask, u32 jobs,
		  u32 pins, u64 max_pause_ns)
{
	bool pins_one = ask->flags & MTS_JOB_PIN;

	if (makes_job(ask->cmd) && jobs > limits->jobs)
		return -MTS_WIRE_TOO_MANY_JOBS;
	if (pins_one && pins > limits->pins)
		return -MTS_WIRE_TOO_MANY_PINS;
	if (max_pause_ns && max_pause_ns < limits->max_pause_ns)
		return -MTS_WIRE_TOO_SHORT_PAUSE;
	if (ask->weight > MTS_WEIGHT_DEFAULT)
		return -MTS_WIRE_TOO_MUCH_WEIGHT;
	return 0;
}

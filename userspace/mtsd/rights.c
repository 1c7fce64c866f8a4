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
	case MTS_IOC_POLICY:
	case MTS_IOC_JOBS:
	case MTS_IOC_BINS:
	case MTS_IOC_GONE:
	case MTS_IOC_USERS:
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
	 * The cgroups of children are made where the job is made (MTS_JOB_HERE). Later there is no
	 * place for them but cgroup_base, out of the limits of the user's slice.
	 */
	if (!makes_job(ask->cmd) && ask->flags & (MTS_JOB_EACH | MTS_JOB_EACH_LEAF))
		return -EOPNOTSUPP;
	return 0;
}

int rights_of_object(u32 uid, u32 cgroup_uid, u32 job_uid)
{
	if (cgroup_uid != uid || uid == RIGHTS_NOBODY)
		return -EACCES;
	return job_uid == uid || job_uid == RIGHTS_NOBODY ? 0 : -EACCES;
}

int rights_within(const struct rights_limits *limits, const struct rights_ask *ask,
		  const struct rights_has *has, u64 max_pause_ns)
{
	if (makes_job(ask->cmd) && has->jobs >= limits->jobs)
		return -MTS_WIRE_TOO_MANY_JOBS;
	if (ask->flags & MTS_JOB_PIN && has->pins >= limits->pins)
		return -MTS_WIRE_TOO_MANY_PINS;
	if (ask->flags & MTS_JOB_QUEUE && has->queued >= limits->queue)
		return -MTS_WIRE_TOO_MANY_QUEUED;
	if (ask->size && mts_add_sat(has->size, ask->size) > limits->size)
		return -MTS_WIRE_TOO_LARGE;
	if (max_pause_ns && max_pause_ns < limits->max_pause_ns)
		return -MTS_WIRE_TOO_SHORT_PAUSE;
	if (ask->weight > MTS_WEIGHT_DEFAULT)
		return -MTS_WIRE_TOO_MUCH_WEIGHT;
	return 0;
}

u32 rights_children(const struct rights_limits *limits, const struct rights_has *has)
{
	return has->jobs < limits->jobs ? (limits->jobs - has->jobs) / 2 : 0;
}

u64 rights_command(u64 command, u32 uid)
{
	return command ? 1ull << 63 | (u64)uid << 31 | (command & 0x7fffffff) : 0;
}

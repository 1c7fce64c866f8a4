// SPDX-License-Identifier: GPL-2.0
#include "context/virtual/enrol.h"

struct mts_job *mts_user_job_new(u32 flags, u64 max_pause_ns, struct cgroup *cgrp)
{
	struct mts_job *job = calloc(1, sizeof(*job));

	MTS_USER_ASSERT(job);
	kref_init(&job->ref);
	job->flags = flags;
	job->max_pause_ns = max_pause_ns;
	job->weight = MTS_WEIGHT_DEFAULT;
	job->bin = MTS_BIN_NONE;
	job->runs_ns = U64_MAX;
	job->ran_since_evict = true;
	job->cgrp = cgrp;
	return job;
}

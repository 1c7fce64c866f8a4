/* SPDX-License-Identifier: GPL-2.0 */
/* A job, as jobs/enrol.c makes one, without a directory. */
#ifndef MTS_CONTEXT_ENROL_H
#define MTS_CONTEXT_ENROL_H

#include "job.h"

/* With one reference, of the caller's, for the table of jobs; without id and name. */
struct mts_job *mts_user_job_new(u32 flags, u64 max_pause_ns, struct cgroup *cgrp);

#endif /* MTS_CONTEXT_ENROL_H */

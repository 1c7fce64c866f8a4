/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the commands of jobs needed, since load (policy/past.h). It is kept here, and not in a file:
 * mtsctl, which knows the command, is the command by the time that this is measured.
 */
#ifndef _MTS_JOBS_PAST_H
#define _MTS_JOBS_PAST_H

#include "job.h"

/* Before the job is published: if its size is not given, take that of its command's last runs. */
void mts_past_ask(struct mts_job *job);

/* The last process of a job has exited, and its cgroup is still there. Sleeps. */
void mts_past_tell(struct mts_job *job);

#endif /* _MTS_JOBS_PAST_H */

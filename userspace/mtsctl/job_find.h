/* SPDX-License-Identifier: GPL-2.0 */
/* The job that an argument of remove, pin, unpin or pause means. */
#ifndef MTSCTL_JOB_FIND_H
#define MTSCTL_JOB_FIND_H

#include "mtsctl.h"

/*
 * An argument has one meaning only, so that it cannot name another job than the user means:
 *  - id=N is an id; name=NAME is a name; container=NAME is the name of the job's container, or
 *    the first 12 digits of its id, or more;
 *  - with a slash it is the path of a cgroup, as `add` takes it. The cgroup's id is compared;
 *  - digits alone are an id, and refused if another job has that name;
 *  - everything else is a name, of the job or of its container. The module keeps the first 63
 *    bytes of a longer name of a job. So the directory of its cgroup must have the whole name.
 *
 * Return: an exit status. The function prints an error unless it is EXIT_OK.
 */
int job_find(const struct command *command, const struct mts_job_info *jobs, u32 count,
	     const char *text, const struct mts_job_info **found);

#endif /* MTSCTL_JOB_FIND_H */

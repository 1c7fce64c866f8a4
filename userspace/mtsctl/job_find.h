/* SPDX-License-Identifier: GPL-2.0 */
/* The job that an argument of remove, pin, unpin or pause means. */
#ifndef MTSCTL_JOB_FIND_H
#define MTSCTL_JOB_FIND_H

#include "mtsctl.h"

/*
 * An argument is read in one way only, so that it cannot hit another job than the user means:
 *  - id=N is an id; name=NAME is a name;
 *  - with a slash it is the path of a cgroup, as `add` takes it: the id of the cgroup decides;
 *  - digits alone are an id, and refused if another job has that name;
 *  - all else is a name. Of a name of 64 bytes or more the module keeps the first 63: the
 *    directory of the job's cgroup must have the whole name.
 *
 * Return: an exit status; if it is not EXIT_OK, the function has said why.
 */
int job_find(const struct command *command, const struct mts_job_info *jobs, u32 count,
	     const char *text, const struct mts_job_info **found);

#endif /* MTSCTL_JOB_FIND_H */

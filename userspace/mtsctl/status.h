/* SPDX-License-Identifier: GPL-2.0 */
#ifndef MTSCTL_STATUS_H
#define MTSCTL_STATUS_H

#include <jansson.h>

#include "groups.h"
#include "snapshot.h"

/* More jobs than that are summed up by bin, unless --all is given. */
#define STATUS_JOBS_SHOWN 40

/* @by: what jobs are summed up by; BY_JOB: list them, @all: also if there are many. */
void status_show(const struct snapshot *s, bool all, enum group_by by);

/* What a page costs in JSON; each way is null if it is not known. */
json_t *status_disk_json(const struct mts_disk_info *disk);

/* Return: an exit status. */
int status_show_json(const struct snapshot *s);

/* A bin in JSON: its number, "every", or null for none. */
json_t *status_bin_json(const struct snapshot *s, u32 bin);

/* The name of the job's container; null: it is none, or its name is not known. */
json_t *status_container_json(const struct snapshot *s, const struct mts_job_info *job);

/* The job's unit; null: none, or not known. */
json_t *status_unit_json(const struct snapshot *s, const struct mts_job_info *job);

/* When a job of the queue starts, in JSON; null: it is not in the queue. */
json_t *status_queue_json(const struct snapshot *s, const struct mts_job_info *job);

/* The last call of a job in JSON; null: there was none. */
json_t *status_call_json(const struct mts_job_info *job);

#endif /* MTSCTL_STATUS_H */

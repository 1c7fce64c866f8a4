/* SPDX-License-Identifier: GPL-2.0 */
#ifndef LABDRIVE_REPORT_JOBS_H
#define LABDRIVE_REPORT_JOBS_H

#include <jansson.h>

#include "jobs.h"

/* The outcome's "jobs"; times in it are seconds since start_ns. */
json_t *report_jobs(const struct jobs *jobs, uint64_t start_ns);

#endif

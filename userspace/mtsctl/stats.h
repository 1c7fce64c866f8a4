/* SPDX-License-Identifier: GPL-2.0 */
#ifndef MTSCTL_STATS_H
#define MTSCTL_STATS_H

#include "snapshot.h"

struct stats_line {
	const char *name; /* of the field in struct mts_stats */
	size_t offset;
	enum stats_unit {
		COUNT,
		BYTES,
		PAGES,
		TIME,
	} unit;
	const char *text; /* printed after the value */
};

/* Ends with a NULL name. */
extern const struct stats_line stats_lines[];

/* Pages as bytes. */
u64 stats_value(const struct mts_stats *stats, const struct stats_line *line);

/* All that metrics are made of. */
struct stats_all {
	struct mts_stats stats;
	struct mts_config config;
	struct snapshot snapshot;
};

/* The device is open. Return: 0, or a negative errno. In both cases stats_free() follows. */
int stats_take(struct stats_all *all);
void stats_free(struct stats_all *all);

/* Without --per-job=COUNT, and most jobs that can have metrics of their own. */
#define PER_JOB_DEFAULT 100u
#define PER_JOB_MAX MTS_MAX_JOBS

/* Metrics. At most @jobs_max jobs have some of their own, which are 16 each. */
void stats_show_prometheus(const struct stats_all *all, u32 jobs_max);
/* Neither the module nor mtsd answers. */
void stats_show_absent(void);
/* Parts of these. */
void stats_show_jobs(const struct snapshot *s, u32 jobs_max);
void stats_show_host(void);

/* Answers the HTTP request on standard input. Return: an exit status. */
int stats_answer_http(u32 jobs_max);

#endif /* MTSCTL_STATS_H */

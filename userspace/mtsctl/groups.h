/* SPDX-License-Identifier: GPL-2.0 */
/* Jobs by what people think in: users, units and containers. */
#ifndef MTSCTL_GROUPS_H
#define MTSCTL_GROUPS_H

#include "snapshot.h"
#include "words.h"

enum group_by {
	BY_JOB, /* no groups */
	BY_USER,
	BY_UNIT, /* of each user: users have units of the same names */
	BY_CONTAINER, /* likewise */
	BY_END,
};

extern const struct word group_by_words[];

/* "JOB", "USER", "UNIT", "CONTAINER" */
const char *group_heading(enum group_by by);

/* Are the jobs of one group? Return: 0, or which one comes first, as strcmp(). */
int group_compare(const struct snapshot *s, enum group_by by, const struct mts_job_info *a,
		  const struct mts_job_info *b);

/* The name of a job's group, "-" for those in none; valid until the next call. */
const char *group_name(const struct snapshot *s, enum group_by by, const struct mts_job_info *job);

/* Its user, "-" if that is not known; valid until the next call. */
const char *group_user(const struct snapshot *s, const struct mts_job_info *job);

#endif /* MTSCTL_GROUPS_H */

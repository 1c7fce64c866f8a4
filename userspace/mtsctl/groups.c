// SPDX-License-Identifier: GPL-2.0
#include "groups.h"

#include <string.h>

#include "accounts.h"

const struct word group_by_words[] = {
	{ "job", BY_JOB, NULL },
	{ "user", BY_USER, NULL },
	{ "unit", BY_UNIT, NULL },
	{ "container", BY_CONTAINER, NULL },
	{ 0 },
};

const char *group_heading(enum group_by by)
{
	static const char *const headings[] = { "JOB", "USER", "UNIT", "CONTAINER" };

	return headings[by];
}

/* NULL: in none. */
static const char *place_of(const struct snapshot *s, enum group_by by,
			    const struct mts_job_info *job)
{
	return by == BY_UNIT ? snapshot_unit(s, job) : snapshot_container(s, job);
}

static int compare_users(const struct snapshot *s, const struct mts_job_info *a,
			 const struct mts_job_info *b)
{
	if (!snapshot_knows_users(s) || a->user == b->user)
		return 0;
	return a->user < b->user ? -1 : 1;
}

/* Those in none come last. */
static int compare_places(const char *a, const char *b)
{
	if (!a || !b)
		return !a - !b;
	return strcmp(a, b);
}

int group_compare(const struct snapshot *s, enum group_by by, const struct mts_job_info *a,
		  const struct mts_job_info *b)
{
	int places = 0;

	if (by == BY_JOB)
		return a->id < b->id ? -1 : a->id > b->id;
	if (by != BY_USER)
		places = compare_places(place_of(s, by, a), place_of(s, by, b));
	return places ? places : compare_users(s, a, b);
}

const char *group_name(const struct snapshot *s, enum group_by by, const struct mts_job_info *job)
{
	if (by == BY_JOB)
		return snapshot_label(s, job);
	if (by == BY_USER)
		return group_user(s, job);
	return place_of(s, by, job) ?: "-";
}

const char *group_user(const struct snapshot *s, const struct mts_job_info *job)
{
	return snapshot_knows_users(s) ? account_name(job->user) : "-";
}

// SPDX-License-Identifier: GPL-2.0
/* The table of jobs: one for each directory below the base that has processes in it. */
#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "rotator.h"

struct job jobs[MAX_JOBS];
u32 job_count;

struct job *jobs_find(const char *name)
{
	for (u32 i = 0; i < job_count; i++)
		if (!strcmp(jobs[i].name, name))
			return &jobs[i];
	return NULL;
}

struct job *jobs_add(const char *name, const struct job *parent)
{
	struct job *job = &jobs[job_count];

	if (job_count == MAX_JOBS)
		return NULL;
	*job = (struct job){ .bin = MTS_BIN_NONE, .warm = true, .seen = true, .new = true };
	snprintf(job->name, sizeof(job->name), "%s", name);
	if (parent)
		snprintf(job->parent, sizeof(job->parent), "%s", parent->name);
	job->each = names_hold(&options.each, name);
	/* The parent of --each stays: it has work only for as long as its children have. */
	job->pinned = job->each || names_hold(&options.resident, name);
	job_count++;
	return job;
}

static void remove_job(u32 index)
{
	jobs[index] = jobs[--job_count];
}

/* A cgroup without processes is not a job: not yet, or no longer. */
static bool has_ended(const struct job *job)
{
	if (job->seen && cgroup_is_populated(job))
		return false;
	/* otherwise the next process in the cgroup would be frozen */
	if (job->frozen)
		cgroup_freeze(job, false);
	/* a cgroup that another process made is not the rotator's to remove */
	if (job->parent[0])
		rmdir(host_path("%s/%s", options.base, job->name));
	return true;
}

static struct job *add_if_populated(const char *name)
{
	struct job probe = { 0 };

	snprintf(probe.name, sizeof(probe.name), "%s", name);
	return cgroup_is_populated(&probe) ? jobs_add(name, NULL) : NULL;
}

bool jobs_scan(void)
{
	struct dirent *entry;
	bool changed = false;
	DIR *base = opendir(host_path("%s", options.base));

	for (u32 i = 0; i < job_count; i++)
		jobs[i].seen = false;
	while (base && (entry = readdir(base))) {
		struct job *job;

		if (entry->d_type != DT_DIR || entry->d_name[0] == '.' ||
		    strlen(entry->d_name) >= NAME_SIZE)
			continue;
		job = jobs_find(entry->d_name);
		if (!job) {
			job = add_if_populated(entry->d_name);
			changed |= !!job;
		}
		if (job)
			job->seen = true;
	}
	if (base)
		closedir(base);
	for (u32 i = job_count; i-- > 0;) {
		if (!has_ended(&jobs[i]))
			continue;
		remove_job(i);
		changed = true;
	}
	return changed;
}

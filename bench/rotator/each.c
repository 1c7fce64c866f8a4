// SPDX-License-Identifier: GPL-2.0
/*
 * --each: children of a job's first process get cgroups of their own, NAME.1, NAME.2, ...
 *
 * This is what user space cannot do well. cgroup v2 does not move charges: whatever a child
 * has touched before it is moved stays charged to its parent's cgroup for good, is never
 * evicted by a memory.reclaim of its own, and what it swaps in again is charged there too. A
 * module catches the child before its first instruction; a daemon comes when it is scheduled.
 */
#include <stdio.h>

#include "rotator.h"

/* Faults of a process that has run, but has not got anywhere. */
#define UNTOUCHED 16u

static struct job *new_job(const struct job *parent)
{
	static unsigned int number;
	char name[NAME_SIZE];

	/* A number may be taken by a job of the user's own. */
	for (unsigned int attempt = 0; attempt < 16; attempt++) {
		int length = snprintf(name, sizeof(name), "%s.%u", parent->name, ++number);

		if (length >= (int)sizeof(name))
			return NULL;
		if (cgroup_make(name))
			return jobs_add(name, parent);
	}
	return NULL;
}

/* A fork begins with no faults: each is a page that the child has touched where it was. */
static void count_late(pid_t child)
{
	uint64_t faults = host_faults(child);

	stats.split++;
	if (faults <= UNTOUCHED)
		return;
	stats.split_late++;
	stats.split_late_bytes += faults * PAGE;
}

static void split_off(struct job *parent, pid_t child)
{
	const struct job *job = new_job(parent);

	if (job && cgroup_move(job->name, child))
		count_late(child);
	/* Otherwise it stays where it is. A cgroup left empty goes at the next scan. */
}

void each_forked(pid_t parent, pid_t child)
{
	char name[NAME_SIZE];
	struct job *job;

	if (!options.each.count || !cgroup_of(parent, name) || !names_hold(&options.each, name))
		return;
	job = jobs_find(name);
	if (!job)
		job = jobs_add(name, NULL);
	if (!job)
		return;
	if (!job->first)
		job->first = parent;
	if (parent == job->first)
		split_off(job, child);
}

/*
 * The first process is the one whose parent is not in the cgroup. The other processes are those
 * that it has started before the daemon saw the cgroup.
 */
static pid_t first_of(const pid_t *pids, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		pid_t parent = host_parent(pids[i]);
		bool inside = false;

		for (size_t j = 0; j < count; j++)
			inside |= pids[j] == parent;
		if (parent && !inside)
			return pids[i];
	}
	return 0;
}

static void poll_job(struct job *job)
{
	static pid_t pids[MAX_PIDS];
	size_t count = cgroup_pids(job, pids, MAX_PIDS);

	if (!job->first)
		job->first = first_of(pids, count);
	for (size_t i = 0; i < count && job->first; i++) {
		char name[NAME_SIZE];
		pid_t parent;

		if (pids[i] == job->first)
			continue;
		parent = host_parent(pids[i]);
		if (parent == job->first)
			split_off(job, pids[i]);
		/* a grandchild that was forked before its parent was moved follows it */
		else if (parent && cgroup_of(parent, name) && jobs_find(name) &&
			 jobs_find(name) != job)
			cgroup_move(name, pids[i]);
	}
}

void each_poll(void)
{
	/* by index: splitting adds to the table */
	for (u32 i = 0; i < job_count; i++)
		if (jobs[i].each)
			poll_job(&jobs[i]);
}

// SPDX-License-Identifier: GPL-2.0
#include "labels.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cgroup_paths.h"
#include "container.h"
#include "unit.h"

/* Jobs are in order of id, and a job is older than those that come from it. */
static const struct mts_job_info *parent_of(const struct snapshot *s, u32 job)
{
	u32 id = s->jobs[job].parent, from = 0, to = job;

	while (id && from < to) {
		u32 middle = from + (to - from) / 2;

		if (s->jobs[middle].id == id)
			return &s->jobs[middle];
		if (s->jobs[middle].id < id)
			from = middle + 1;
		else
			to = middle;
	}
	return NULL;
}

/*
 * The unit that the name of a job begins with: children are PARENT.NUMBER, also where the parent
 * has ended. A long name is cut, and then tells no unit.
 */
static bool unit_of_name(const char *job, char unit[NAME_MAX + 1])
{
	char name[MTS_NAME_SIZE];
	size_t length;

	snprintf(name, sizeof(name), "%s", job);
	for (length = strlen(name); length && strchr("0123456789.", name[length - 1]); length--)
		name[length - 1] = '\0';
	return unit_of_path(name, unit);
}

static void label(struct label *its, const struct mts_job_info *job, const char *path)
{
	char container[CONTAINER_NAME_SIZE], unit[NAME_MAX + 1];

	if ((job->parent && unit_of_name(job->name, unit)) || unit_of_path(path, unit))
		its->unit = strdup(unit);
	if (container_may_be(job->name) && container_name(path, container))
		its->container = strdup(container);
}

void labels_find(struct snapshot *s)
{
	struct cgroup_path *paths = calloc((size_t)s->njobs + 1, sizeof(*paths));
	u32 n = 0;

	s->labels = calloc((size_t)s->njobs + 1, sizeof(*s->labels));
	for (u32 i = 0; s->labels && paths && i < s->njobs; i++) {
		s->labels[i].parent = parent_of(s, i);
		/* The others have what their parents have. */
		if (!s->labels[i].parent || container_may_be(s->jobs[i].name))
			paths[n++] = (struct cgroup_path){ .id = s->jobs[i].cgroup_id, .of = i };
	}
	if (n)
		cgroup_paths_find(paths, n);
	for (u32 i = 0; i < n; i++)
		if (paths[i].path)
			label(&s->labels[paths[i].of], &s->jobs[paths[i].of], paths[i].path);
	cgroup_paths_free(paths, n);
	free(paths);
}

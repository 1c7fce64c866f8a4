// SPDX-License-Identifier: GPL-2.0
#include "cgroup_paths.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cgroup.h"
#include "host.h"
#include "uapi/mts.h"

/* Paths of cgroups that have ended are kept until there are so many. */
#define REMEMBERED_MAX (2 * MTS_MAX_JOBS)

/* What is looked for below the cgroup root; sorted by id. */
struct wanted {
	struct cgroup_path *paths;
	u32 n, left;
};

/* What calls have found, or not: a cgroup keeps its path, and its id is not given again. */
static struct {
	struct cgroup_path *paths;
	u32 n;
} known;

static int by_id(const void *a, const void *b)
{
	const struct cgroup_path *x = a, *y = b;

	return x->id < y->id ? -1 : x->id > y->id;
}

static struct cgroup_path *find(struct cgroup_path *paths, u32 n, u64 id)
{
	struct cgroup_path key = { .id = id };

	return n ? bsearch(&key, paths, n, sizeof(key), by_id) : NULL;
}

static char *copy(const char *path)
{
	return path ? strdup(path) : NULL;
}

static void look_at(struct wanted *wanted, u64 id, const char *path)
{
	struct cgroup_path *found = find(wanted->paths, wanted->n, id);

	if (!found || found->is_known || found->path)
		return;
	found->path = strdup(path);
	wanted->left--;
}

/*
 * A directory says which of its entries are directories, and their inode numbers: none of the sixty
 * files of each cgroup is looked at.
 */
static void walk(struct wanted *wanted, char path[PATH_MAX], size_t length)
{
	DIR *dir = opendir(path);
	struct dirent *entry;
	int added;

	while (dir && wanted->left && (entry = readdir(dir))) {
		if (entry->d_type != DT_DIR || !strcmp(entry->d_name, ".") ||
		    !strcmp(entry->d_name, ".."))
			continue;
		added = snprintf(path + length, PATH_MAX - length, "/%s", entry->d_name);
		if (added >= (int)(PATH_MAX - length))
			continue;
		look_at(wanted, entry->d_ino, path + strlen(host_cgroups()));
		walk(wanted, path, length + added);
	}
	path[length] = '\0';
	if (dir)
		closedir(dir);
}

/* What was not known is added. If that is too much, only these are kept. */
static void remember(const struct cgroup_path *paths, u32 n)
{
	u32 kept = 0, room = n + (n + known.n > REMEMBERED_MAX ? 0 : known.n);
	struct cgroup_path *all = calloc((size_t)room + 1, sizeof(*all));

	for (u32 i = 0; all && i < n; i++)
		all[kept++] =
			(struct cgroup_path){ .id = paths[i].id, .path = copy(paths[i].path) };
	for (u32 i = 0; i < known.n; i++) {
		if (kept < room && !find((struct cgroup_path *)paths, n, known.paths[i].id))
			all[kept++] = known.paths[i];
		else
			free(known.paths[i].path);
	}
	free(known.paths);
	if (all)
		qsort(all, kept, sizeof(*all), by_id);
	known.paths = all;
	known.n = kept;
}

/* The kernel opens a cgroup by its id for root alone. */
static void find_as_user(struct cgroup_path *paths, u32 n)
{
	struct wanted wanted = { paths, n, 0 };
	bool all_known = true;
	char path[PATH_MAX];

	for (u32 i = 0; i < n; i++) {
		struct cgroup_path *before = find(known.paths, known.n, paths[i].id);

		paths[i].is_known = before;
		if (before && !paths[i].path)
			paths[i].path = copy(before->path);
		wanted.left += !before && !paths[i].path;
		all_known = all_known && before;
	}
	if (all_known)
		return;
	if (wanted.left && snprintf(path, sizeof(path), "%s", host_cgroups()) < PATH_MAX)
		walk(&wanted, path, strlen(path));
	remember(paths, n);
}

void cgroup_paths_find(struct cgroup_path *paths, u32 n)
{
	char path[PATH_MAX];

	qsort(paths, n, sizeof(*paths), by_id);
	for (u32 i = 0; i < n; i++)
		paths[i].path = cgroup_path_of_id(paths[i].id, path) ? NULL : strdup(path);
	if (!host_is_root())
		find_as_user(paths, n);
}

void cgroup_paths_free(struct cgroup_path *paths, u32 n)
{
	for (u32 i = 0; i < n; i++)
		free(paths[i].path);
}

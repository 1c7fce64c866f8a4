// SPDX-License-Identifier: GPL-2.0
#include "cgroup_paths.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cgroup.h"
#include "host.h"

/* What is looked for below the cgroup root; sorted by id. */
struct wanted {
	struct cgroup_path *paths;
	u32 n, left;
};

/* What the last call has found, or not: a cgroup keeps its path, and its id is not given again. */
static struct {
	struct cgroup_path *paths;
	u32 n;
} last;

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

static void remember(const struct cgroup_path *paths, u32 n)
{
	cgroup_paths_free(last.paths, last.n);
	free(last.paths);
	last.paths = calloc((size_t)n + 1, sizeof(*last.paths));
	last.n = last.paths ? n : 0;
	for (u32 i = 0; i < last.n; i++) {
		last.paths[i].id = paths[i].id;
		last.paths[i].path = copy(paths[i].path);
	}
}

/* The kernel opens a cgroup by its id for root alone. */
static void find_as_user(struct cgroup_path *paths, u32 n)
{
	struct wanted wanted = { paths, n, 0 };
	char path[PATH_MAX];

	for (u32 i = 0; i < n; i++) {
		struct cgroup_path *known = find(last.paths, last.n, paths[i].id);

		paths[i].is_known = known;
		if (known && !paths[i].path)
			paths[i].path = copy(known->path);
		wanted.left += !known && !paths[i].path;
	}
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

// SPDX-License-Identifier: GPL-2.0
#include "cgroup_paths.h"

#include <ftw.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cgroup.h"
#include "host.h"

#define OPEN_MAX_DIRS 8

static struct {
	struct cgroup_path *paths;
	u32 n, left;
} wanted;

static int by_id(const void *a, const void *b)
{
	const struct cgroup_path *x = a, *y = b;

	return x->id < y->id ? -1 : x->id > y->id;
}

static int look_at(const char *dir, const struct stat *st, int type, struct FTW *ftw)
{
	struct cgroup_path key = { .id = st->st_ino }, *found;

	(void)ftw;
	if (type != FTW_D)
		return 0;
	found = bsearch(&key, wanted.paths, wanted.n, sizeof(key), by_id);
	if (!found || found->path)
		return 0;
	found->path = strdup(dir + strlen(host_cgroups()));
	return !--wanted.left;
}

void cgroup_paths_find(struct cgroup_path *paths, u32 n)
{
	char path[PATH_MAX];

	wanted.paths = paths;
	wanted.n = n;
	wanted.left = n;
	qsort(paths, n, sizeof(*paths), by_id);
	for (u32 i = 0; i < n; i++) {
		paths[i].path = cgroup_path_of_id(paths[i].id, path) ? NULL : strdup(path);
		wanted.left -= !!paths[i].path;
	}
	if (wanted.left && !host_is_root())
		nftw(host_cgroups(), look_at, OPEN_MAX_DIRS, FTW_PHYS);
}

void cgroup_paths_free(struct cgroup_path *paths, u32 n)
{
	for (u32 i = 0; i < n; i++)
		free(paths[i].path);
}

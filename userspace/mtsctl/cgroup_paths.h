/* SPDX-License-Identifier: GPL-2.0 */
/* The paths of cgroups that are known by their ids. */
#ifndef MTSCTL_CGROUP_PATHS_H
#define MTSCTL_CGROUP_PATHS_H

#include <stdbool.h>

#include "policy/pure.h"

struct cgroup_path {
	u64 id; /* the inode number */
	u32 of; /* the caller's own */
	char *path; /* below the cgroup root; NULL: there is none, or not known */
	bool is_known; /* from a call before */
};

/*
 * Fills in the paths of @n cgroups, and sorts them by id. The kernel opens a cgroup by its id for
 * root alone. Other users walk the tree, once for all cgroups that no call before had.
 */
void cgroup_paths_find(struct cgroup_path *paths, u32 n);
void cgroup_paths_free(struct cgroup_path *paths, u32 n);

#endif /* MTSCTL_CGROUP_PATHS_H */

// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>
#include <string.h>

#include "gone.h"
#include "ipc.h"

static bool has_id(const __u64 *ids, int n, __u64 id)
{
	for (int i = 0; i < n; i++)
		if (ids[i] == id)
			return true;
	return false;
}

/* The module knows the first bytes of a directory's name. */
static bool has_name(const char *cgroup, const char *name)
{
	for (const char *at = strchr(cgroup, '/'); at; at = strchr(at + 1, '/')) {
		size_t len = strcspn(at + 1, "/");

		if (len >= MTS_NAME_SIZE)
			len = MTS_NAME_SIZE - 1;
		if (len && strlen(name) == len && !strncmp(at + 1, name, len))
			return true;
	}
	return false;
}

static bool was_there(const struct mts_gone_info *gone, const char *cgroup, const __u64 *ids, int n)
{
	if (gone->why == MTS_GONE_MOVED)
		return has_id(ids, n, gone->moved_to);
	/* A container that restarts has a new cgroup of the same name. */
	return has_id(ids, n, gone->cgroup_id) || has_name(cgroup, gone->name);
}

bool gone_find(const char *cgroup, const __u64 *ids, int n, struct mts_gone_info *found)
{
	struct mts_gone_info *gone = NULL;
	bool any = false;
	u32 count = 0;

	if (ipc_gone(&gone, &count))
		return false;
	for (u32 i = 0; i < count && !any; i++) {
		any = was_there(&gone[i], cgroup, ids, n);
		if (any)
			*found = gone[i];
	}
	free(gone);
	return any;
}

// SPDX-License-Identifier: GPL-2.0
/*
 * Linked with each of the kernel's selftests (tools/kernel-selftests): cg_enter_current() of
 * cgroup_util.c by another name.
 *
 * test_core puts itself back into the root when a test is over. Inside a job its root is the job's
 * cgroup. That has children with the memory controller, so the kernel lets no process in. $CG_LEAF
 * then names a child of that root for such processes. Without $CG_LEAF nothing changes.
 */
#include "leaf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROOT "/sys/fs/cgroup"

int __wrap_cg_enter_current(const char *cgroup)
{
	const char *leaf = getenv("CG_LEAF");
	char path[256];

	if (!leaf || strcmp(cgroup, ROOT))
		return __real_cg_enter_current(cgroup);
	snprintf(path, sizeof(path), "%s/%s", cgroup, leaf);
	return __real_cg_enter_current(path);
}

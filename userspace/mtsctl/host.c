// SPDX-License-Identifier: GPL-2.0
#include <limits.h>
#include <mntent.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "host.h"

#define CGROUPS "/sys/fs/cgroup"

const char *host_proc(void)
{
	return "/proc";
}

unsigned int host_processors(void)
{
	long n = sysconf(_SC_NPROCESSORS_ONLN);

	return n > 0 ? (unsigned int)n : 1;
}

const char *host_cgroups(void)
{
	static char dir[PATH_MAX];
	struct mntent *entry;
	FILE *mounts;

	if (*dir)
		return dir;
	mounts = setmntent("/proc/self/mounts", "re");
	while (mounts && (entry = getmntent(mounts))) {
		if (strcmp(entry->mnt_type, "cgroup2") || strlen(entry->mnt_dir) >= sizeof(dir))
			continue;
		if (!*dir || !strcmp(entry->mnt_dir, CGROUPS))
			strcpy(dir, entry->mnt_dir);
	}
	if (mounts)
		endmntent(mounts);
	if (!*dir)
		strcpy(dir, CGROUPS);
	return dir;
}

// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <mntent.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "host.h"

#define KERNFS_HANDLE 0xfe /* FILEID_KERNFS in linux/exportfs.h */
#define TRACING "/sys/kernel/tracing"

const char *host_proc(void)
{
	return "/proc";
}

const char *host_root(void)
{
	return "";
}

bool host_is_root(void)
{
	return !geteuid();
}

const char *host_config(void)
{
	return "/etc/mts";
}

unsigned int host_processors(void)
{
	long n = sysconf(_SC_NPROCESSORS_ONLN);

	return n > 0 ? (unsigned int)n : 1;
}

/* Where a file system of this type is mounted. Prefer `usual`; also if it is mounted nowhere. */
static void find_mount(char dir[PATH_MAX], const char *type, const char *usual)
{
	struct mntent *entry;
	FILE *mounts;

	mounts = setmntent("/proc/self/mounts", "re");
	while (mounts && (entry = getmntent(mounts))) {
		if (strcmp(entry->mnt_type, type) || strlen(entry->mnt_dir) >= PATH_MAX)
			continue;
		if (!*dir || !strcmp(entry->mnt_dir, usual))
			strcpy(dir, entry->mnt_dir);
	}
	if (mounts)
		endmntent(mounts);
	if (!*dir)
		strcpy(dir, usual);
}

const char *host_cgroups(void)
{
	static char dir[PATH_MAX];

	if (!*dir)
		find_mount(dir, "cgroup2", USUAL_CGROUPS);
	return dir;
}

const char *host_tracing(void)
{
	static char dir[PATH_MAX];

	if (!*dir)
		find_mount(dir, "tracefs", TRACING);
	return dir;
}

int host_cgroup_open(u64 id)
{
	static int mount = -1;
	static bool is_refused; /* the kernel asks for CAP_DAC_READ_SEARCH */
	union {
		struct file_handle handle;
		char room[sizeof(struct file_handle) + sizeof(id)];
	} h = { .handle = { .handle_bytes = sizeof(id), .handle_type = KERNFS_HANDLE } };
	int fd;

	if (is_refused)
		return -EPERM;
	if (mount < 0)
		mount = open(host_cgroups(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (mount < 0)
		return -errno;
	memcpy(h.handle.f_handle, &id, sizeof(id));
	fd = open_by_handle_at(mount, &h.handle, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	is_refused = fd < 0 && errno == EPERM;
	return fd < 0 ? -errno : fd;
}

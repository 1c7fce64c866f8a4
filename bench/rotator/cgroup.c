// SPDX-License-Identifier: GPL-2.0
/* Files of cgroup v2. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "policy/demand.h"
#include "rotator.h"

static const char *path_of(const char *name, const char *file)
{
	return host_path("%s/%s/%s", options.base, name, file);
}

static bool write_text(const char *name, const char *file, const char *text)
{
	size_t length = strlen(text);
	ssize_t put;
	int error, fd = open(path_of(name, file), O_WRONLY | O_TRUNC | O_CLOEXEC);

	if (fd < 0)
		return false;
	put = write(fd, text, length);
	error = errno;
	close(fd);
	errno = error;
	return put == (ssize_t)length;
}

static bool read_u64(const struct job *job, const char *file, uint64_t *value)
{
	char buf[32];

	if (read_file(path_of(job->name, file), buf, sizeof(buf)) < 0)
		return false;
	*value = strtoull(buf, NULL, 10);
	return true;
}

bool cgroup_current(const struct job *job, uint64_t *bytes)
{
	return read_u64(job, "memory.current", bytes);
}

bool cgroup_usage(const struct job *job, struct mts_usage *usage)
{
	static char stat[8192];
	uint64_t current_bytes, swap;

	if (!cgroup_current(job, &current_bytes))
		return false;
	/* Absent where the kernel runs without swap accounting. */
	if (!read_u64(job, "memory.swap.current", &swap))
		swap = 0;
	if (read_file(path_of(job->name, "memory.stat"), stat, sizeof(stat)) < 0)
		return false;
	*usage = (struct mts_usage){
		.current_bytes = current_bytes,
		.swap = swap,
		.file = keyed_value(stat, "file"),
		.shmem = keyed_value(stat, "shmem"),
		.slab_reclaimable = keyed_value(stat, "slab_reclaimable"),
		.swapcached = keyed_value(stat, "swapcached"),
		.zswap = keyed_value(stat, "zswap"),
	};
	return true;
}

bool cgroup_freeze(const struct job *job, bool freeze)
{
	return write_text(job->name, "cgroup.freeze", freeze ? "1" : "0");
}

static bool event(const struct job *job, const char *key)
{
	char buf[128];

	return read_file(path_of(job->name, "cgroup.events"), buf, sizeof(buf)) > 0 &&
	       keyed_value(buf, key);
}

bool cgroup_is_frozen(const struct job *job)
{
	return event(job, "frozen");
}

bool cgroup_is_populated(const struct job *job)
{
	return event(job, "populated");
}

bool cgroup_evict(const struct job *job, uint64_t bytes)
{
	char text[24];

	snprintf(text, sizeof(text), "%" PRIu64, bytes);
	return write_text(job->name, "memory.reclaim", text);
}

bool cgroup_make(const char *name)
{
	return !mkdir(host_path("%s/%s", options.base, name), 0755);
}

bool cgroup_move(const char *name, pid_t pid)
{
	char text[16];

	snprintf(text, sizeof(text), "%d", (int)pid);
	return write_text(name, "cgroup.procs", text);
}

size_t cgroup_pids(const struct job *job, pid_t *pids, size_t max)
{
	static char buf[MAX_PIDS * 8];
	const char *text = buf;
	size_t count = 0;
	char *end;

	if (read_file(path_of(job->name, "cgroup.procs"), buf, sizeof(buf)) < 0)
		return 0;
	while (count < max) {
		long pid = strtol(text, &end, 10);

		if (end == text)
			break;
		if (pid > 0)
			pids[count++] = (pid_t)pid;
		text = end;
	}
	return count;
}

bool cgroup_of(pid_t pid, char name[NAME_SIZE])
{
	/* the base as /proc/PID/cgroup calls it: without the mount point */
	const char *base = options.base + strlen("/sys/fs/cgroup");
	size_t length = strlen(base), end;
	const char *path;
	char buf[512];

	if (read_file(host_path("/proc/%d/cgroup", (int)pid), buf, sizeof(buf)) < 0)
		return false;
	path = strstr(buf, "0::");
	if (!path || strncmp(path + 3, base, length) || path[3 + length] != '/')
		return false;
	path += 3 + length + 1;
	end = strcspn(path, "/\n");
	if (!end || end >= NAME_SIZE)
		return false;
	memcpy(name, path, end);
	name[end] = '\0';
	return true;
}

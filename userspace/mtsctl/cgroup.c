// SPDX-License-Identifier: GPL-2.0
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cgroup.h"
#include "format.h"
#include "host.h"

#define KERNEL_THREAD 0x00200000 /* PF_KTHREAD, in field 9 of /proc/PID/stat */
#define DEPTH_MAX 64

/* The joined path, or ENAMETOOLONG. */
__attribute__((format(printf, 2, 3))) static int path_print(char path[PATH_MAX], const char *format,
							    ...)
{
	va_list args;
	int len;

	va_start(args, format);
	len = vsnprintf(path, PATH_MAX, format, args);
	va_end(args);
	return len < 0 || len >= PATH_MAX ? -ENAMETOOLONG : 0;
}

__attribute__((format(printf, 2, 3))) static int file_open(FILE **file, const char *format, ...)
{
	char path[PATH_MAX];
	va_list args;
	int len;

	va_start(args, format);
	len = vsnprintf(path, sizeof(path), format, args);
	va_end(args);
	if (len < 0 || len >= (int)sizeof(path))
		return -ENAMETOOLONG;
	*file = fopen(path, "re");
	return *file ? 0 : -errno;
}

static int check_directory(const char *dir)
{
	struct stat st;

	if (stat(dir, &st))
		return -errno;
	return S_ISDIR(st.st_mode) ? 0 : -ENOTDIR;
}

int cgroup_dir_id(const char *dir, u64 *id)
{
	struct stat st, root;

	if (stat(dir, &st) || stat(host_cgroups(), &root))
		return -errno;
	/* A directory of another file system may have the inode number of any cgroup. */
	if (st.st_dev != root.st_dev)
		return -EXDEV;
	*id = st.st_ino;
	return 0;
}

/* Take `name` as an absolute path. Return: 0, or why it is not the directory of a cgroup. */
static int dir_as_written(const char *name, char dir[PATH_MAX])
{
	int ret = path_print(dir, "%s", name);
	u64 id;

	if (!ret)
		ret = check_directory(dir);
	return ret ? ret : cgroup_dir_id(dir, &id);
}

int cgroup_dir(const char *name, char dir[PATH_MAX])
{
	int written = -ENOENT, ret;

	if (!*name)
		return -ENOENT;
	if (*name == '/') {
		written = dir_as_written(name, dir);
		if (!written)
			return 0;
	}
	ret = path_print(dir, "%s/%s", host_cgroups(), name + (*name == '/'));
	if (!ret)
		ret = check_directory(dir);
	if (!ret || written == -ENOENT)
		return ret;
	/* It exists, but is not a cgroup: the caller's error message names it as it was given. */
	ret = path_print(dir, "%s", name);
	return ret || written == -EXDEV ? ret : written;
}

int cgroup_path_of_fd(int fd, char path[PATH_MAX])
{
	size_t root = strlen(host_cgroups());
	char link[64], dir[PATH_MAX];
	ssize_t length;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	length = readlink(link, dir, sizeof(dir) - 1);
	if (length < 0)
		return -errno;
	dir[length] = '\0';
	if (strncmp(dir, host_cgroups(), root) || (dir[root] && dir[root] != '/'))
		return -EXDEV;
	return path_print(path, "%s", dir[root] ? dir + root : "/");
}

int cgroup_path_of_id(u64 id, char path[PATH_MAX])
{
	int fd = host_cgroup_open(id), ret;

	if (fd < 0)
		return fd;
	ret = cgroup_path_of_fd(fd, path);
	close(fd);
	return ret;
}

int cgroup_of_process(pid_t pid, char path[PATH_MAX])
{
	char line[PATH_MAX + 16];
	FILE *file;
	int ret;

	ret = file_open(&file, "%s/%d/cgroup", host_proc(), pid);
	if (ret)
		return ret == -ENOENT ? -ESRCH : ret;
	ret = -ENOENT;
	while (fgets(line, sizeof(line), file)) {
		if (strncmp(line, "0::/", 4))
			continue;
		line[strcspn(line, "\n")] = '\0';
		ret = path_print(path, "%s", line + 3);
		break;
	}
	/* The process may exit between the open and the read. */
	if (ferror(file))
		ret = -ESRCH;
	fclose(file);
	return ret;
}

int cgroup_ids(const char *path, u64 *ids, int room, int *n)
{
	char dir[PATH_MAX];
	size_t root;
	int ret;

	*n = 0;
	ret = path_print(dir, "%s%s", host_cgroups(), strcmp(path, "/") ? path : "");
	if (ret)
		return ret;
	root = strlen(host_cgroups());
	while (*n < room) {
		struct stat st;

		/* The cgroup has been removed; its parents may still be jobs. */
		if (!stat(dir, &st))
			ids[(*n)++] = st.st_ino;
		if (strlen(dir) <= root)
			break;
		*strrchr(dir, '/') = '\0';
	}
	return 0;
}

void process_comm(pid_t pid, char comm[COMM_SIZE])
{
	char line[COMM_SIZE];
	FILE *file;

	strcpy(comm, "?");
	if (file_open(&file, "%s/%d/comm", host_proc(), pid))
		return;
	if (fgets(line, sizeof(line), file)) {
		line[strcspn(line, "\n")] = '\0';
		if (*line)
			format_name(comm, COMM_SIZE, line);
	}
	fclose(file);
}

bool process_is_kernel_thread(pid_t pid)
{
	unsigned int flags = 0;
	char line[1024];
	const char *rest;
	FILE *file;

	if (file_open(&file, "%s/%d/stat", host_proc(), pid))
		return false;
	/* pid (comm) state ppid pgrp session tty tpgid flags; comm may hold ")". */
	if (fgets(line, sizeof(line), file)) {
		rest = strrchr(line, ')');
		if (!rest || sscanf(rest + 1, " %*c %*d %*d %*d %*d %*d %u", &flags) != 1)
			flags = 0;
	}
	fclose(file);
	return flags & KERNEL_THREAD;
}

static void processes_of(const char *dir, pid_t self, struct process *processes, u32 room,
			 u32 *total)
{
	FILE *file;
	int pid;

	/* A threaded cgroup lists no processes: the domain above it lists them. */
	if (file_open(&file, "%s/cgroup.procs", dir))
		return;
	while (fscanf(file, "%d", &pid) == 1) {
		if (pid == self)
			continue;
		if (*total < room) {
			processes[*total].pid = pid;
			process_comm(pid, processes[*total].comm);
		}
		(*total)++;
	}
	fclose(file);
}

static int processes_below(const char *dir, pid_t self, struct process *processes, u32 room,
			   u32 *total, int depth)
{
	struct dirent *entry;
	DIR *stream;

	processes_of(dir, self, processes, room, total);
	stream = opendir(dir);
	if (!stream)
		return -errno;
	while (depth < DEPTH_MAX && (entry = readdir(stream))) {
		char below[PATH_MAX];

		/* A user may name a cgroup ".x". */
		if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..") ||
		    (entry->d_type != DT_DIR && entry->d_type != DT_UNKNOWN))
			continue;
		if (path_print(below, "%s/%s", dir, entry->d_name) || check_directory(below))
			continue;
		/* Removed in the meantime: it has no processes. */
		processes_below(below, self, processes, room, total, depth + 1);
	}
	closedir(stream);
	return 0;
}

int cgroup_processes(const char *dir, pid_t self, struct process *processes, u32 room, u32 *total)
{
	*total = 0;
	return processes_below(dir, self, processes, room, total, 0);
}

static int read_u64(const char *dir, const char *name, u64 *value)
{
	FILE *file;
	int ret;

	ret = file_open(&file, "%s/%s", dir, name);
	if (ret)
		return ret;
	if (fscanf(file, "%llu", value) != 1)
		ret = -EIO;
	fclose(file);
	return ret;
}

int cgroup_usage(const char *dir, struct mts_usage *usage)
{
	struct mts_usage u = { 0 };
	char key[64];
	u64 value;
	FILE *file;
	int ret;

	ret = read_u64(dir, "memory.current", &u.current_bytes);
	if (ret)
		return ret == -ENOENT ? -EOPNOTSUPP : ret;
	/* The file is missing without swap accounting. */
	ret = read_u64(dir, "memory.swap.current", &u.swap);
	if (ret && ret != -ENOENT)
		return ret;
	ret = file_open(&file, "%s/memory.stat", dir);
	if (ret)
		return ret;
	while (fscanf(file, "%63s %llu", key, &value) == 2) {
		if (!strcmp(key, "file"))
			u.file = value;
		else if (!strcmp(key, "shmem"))
			u.shmem = value;
		else if (!strcmp(key, "slab_reclaimable"))
			u.slab_reclaimable = value;
		else if (!strcmp(key, "swapcached"))
			u.swapcached = value;
		else if (!strcmp(key, "zswap"))
			u.zswap = value;
	}
	fclose(file);
	*usage = u;
	return 0;
}

/* "max", and a file that cannot be read, are no limit. */
static u64 read_limit(const char *dir, const char *name)
{
	u64 value;

	return read_u64(dir, name, &value) ? U64_MAX : value;
}

void cgroup_limits(const char *dir, struct mts_mem_limits *limits, u64 swapped)
{
	size_t root = strlen(host_cgroups());
	char path[PATH_MAX];
	u64 most, used;

	*limits = (struct mts_mem_limits){ .most = U64_MAX, .room = U64_MAX, .swap = U64_MAX };
	if (path_print(path, "%s", dir) || strncmp(path, host_cgroups(), root))
		return;
	/* The root cgroup has no limits. */
	for (; strlen(path) > root; *strrchr(path, '/') = '\0') {
		limits->most = mts_min(limits->most, read_limit(path, "memory.high"));
		limits->most = mts_min(limits->most, read_limit(path, "memory.max"));
		most = read_limit(path, "memory.swap.max");
		if (most == U64_MAX || read_u64(path, "memory.swap.current", &used))
			continue;
		limits->swap = mts_min(limits->swap, mts_sub_floor(most, used) + swapped);
	}
}

int cgroup_event(const char *path, const char *name)
{
	int value, found = -1;
	char key[64];
	FILE *file;

	if (file_open(&file, "%s%s/cgroup.events", host_cgroups(), path))
		return -1;
	while (found < 0 && fscanf(file, "%63s %d", key, &value) == 2)
		if (!strcmp(key, name))
			found = value;
	fclose(file);
	return found;
}

bool cgroup_frozen(const char *path)
{
	return cgroup_event(path, "frozen") > 0;
}

int host_memory(u64 *total, u64 *available)
{
	bool have_total = false, have_available = false;
	char line[256];
	u64 kib, slab = 0;
	FILE *file;
	int ret;

	ret = file_open(&file, "%s/meminfo", host_proc());
	if (ret)
		return ret;
	while (fgets(line, sizeof(line), file)) {
		if (sscanf(line, "MemTotal: %llu kB", &kib) == 1) {
			*total = kib * 1024;
			have_total = true;
		} else if (sscanf(line, "MemAvailable: %llu kB", &kib) == 1) {
			*available = kib * 1024;
			have_available = true;
		} else if (sscanf(line, "SReclaimable: %llu kB", &kib) == 1) {
			slab = kib * 1024;
		}
	}
	fclose(file);
	if (have_available)
		*available = mts_sub_floor(*available, slab);
	return have_total && have_available ? 0 : -EIO;
}

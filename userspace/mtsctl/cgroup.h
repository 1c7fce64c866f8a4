/* SPDX-License-Identifier: GPL-2.0 */
/* Reads the files of procfs and cgroup v2. Functions return 0 or -errno. */
#ifndef MTSCTL_CGROUP_H
#define MTSCTL_CGROUP_H

#include <limits.h>
#include <sys/types.h>

#include "policy/confined.h"
#include "policy/demand.h"

#define COMM_SIZE 64

struct process {
	pid_t pid;
	char comm[COMM_SIZE];
};

/*
 * The directory of a cgroup that the user names by a path, with or without the
 * cgroup root in front. ENOENT, ENAMETOOLONG, ENOTDIR, ...
 * A directory of another file system is returned only if no cgroup has that path.
 */
int cgroup_dir(const char *name, char dir[PATH_MAX]);

/* The cgroup's id, which is its inode number. EXDEV: not a directory of cgroup v2. */
int cgroup_dir_id(const char *dir, u64 *id);

/*
 * The path of the cgroup below the cgroup root, "/" for the root itself. EXDEV: it is not in the
 * cgroup v2 mount of this process. Other errors: the kernel cannot open a cgroup by its id.
 */
int cgroup_path_of_fd(int fd, char path[PATH_MAX]);
int cgroup_path_of_id(u64 id, char path[PATH_MAX]);

/* The path of the process's cgroup, "/" for the root. ESRCH: no such process. */
int cgroup_of_process(pid_t pid, char path[PATH_MAX]);

/* The ids (inode numbers) of the cgroup of `path` and of its parents. */
int cgroup_ids(const char *path, u64 *ids, int room, int *n);

/*
 * The processes in the cgroup and below it, without `self`: the first `room`
 * of them, and in `total` how many there are.
 */
int cgroup_processes(const char *dir, pid_t self, struct process *processes, u32 room, u32 *total);

/* EOPNOTSUPP: the memory controller is not enabled in it. */
int cgroup_usage(const char *dir, struct mts_usage *usage);

/*
 * What memory.high, memory.max and memory.swap.max of the cgroup, and of those above it, allow it;
 * only .most and .swap. @swapped: bytes of it in swap. A file that cannot be read is no limit.
 */
void cgroup_limits(const char *dir, struct mts_mem_limits *limits, u64 swapped);

/* The value of a key of cgroup.events, "populated" or "frozen": 0 or 1; -1: not known. */
int cgroup_event(const char *path, const char *name);

/* cgroup.events says that it is frozen; no such file: false. */
bool cgroup_frozen(const char *path);

/* "?" where it cannot be read. */
void process_comm(pid_t pid, char comm[COMM_SIZE]);
bool process_is_kernel_thread(pid_t pid);

/* MemTotal, and MemAvailable without slab, as the module computes it, in bytes. */
int host_memory(u64 *total, u64 *available);

#endif /* MTSCTL_CGROUP_H */

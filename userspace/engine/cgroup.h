/* SPDX-License-Identifier: GPL-2.0 */
/* A directory of cgroup v2. There is one object for each directory in use. */
#ifndef MTS_ENGINE_CGROUP_H
#define MTS_ENGINE_CGROUP_H

#include "context.h"

/**
 * struct cgroup
 * @parent: NULL: the root of the mount; with a reference
 * @next: in the list of all objects
 * @id: inode number of the directory, which is the cgroup's id
 * @dir: the directory
 * @freeze: its cgroup.freeze; -1: the root
 * @events: its cgroup.events; -1: the root
 * @watch: inotify's number of its cgroup.events; -1: not watched
 * @slot: its entry in the record of frozen jobs (record.h); -1: none
 * @memory: it has the memory controller, and all memory of its processes is charged to it
 * @job: the job that @watch and @slot are of; NULL: none
 * @home: of a cgroup that was made for a running process: where it was, with a reference (taken.h)
 * @path: absolute
 */
struct cgroup {
	int refs;
	struct cgroup *parent;
	struct cgroup *next;
	u64 id;
	int dir;
	int freeze;
	int events;
	int watch;
	int slot;
	bool memory;
	struct mts_job *job;
	struct cgroup *home;
	char *path;
};

struct file {
	int fd;
};

/* Where cgroup v2 usually is mounted; and where it is. */
#define MTS_CGROUP_USUAL_MOUNT "/sys/fs/cgroup"
const char *mts_cgroup_mount(void);

/* The cgroup of a directory, with a reference; or ERR_PTR: -EINVAL: no directory of cgroup v2. */
struct cgroup *mts_cgroup_get(const char *path);
struct cgroup *mts_cgroup_ref(struct cgroup *cgrp);

/* Read a file of the directory as a string. Return: its length, or -errno. */
ssize_t mts_cgroup_read(const struct cgroup *cgrp, const char *file, char *buf, size_t size);
int mts_cgroup_write(const struct cgroup *cgrp, const char *file, const char *text);
/* Read from the start of an open file of any file system; or open it first, as openat(2) does. */
ssize_t mts_read_open(int fd, char *buf, size_t size);
ssize_t mts_read_at(int dir, const char *path, char *buf, size_t size);

/* The number after @key and a blank or colon, at the start of a line; 0: there is none. */
u64 mts_keyed_value(const char *text, const char *key);

/* Has cgroup.events this key with 1? */
bool mts_cgroup_event(const struct cgroup *cgrp, const char *key);

/* Is cgroup.freeze 1? */
bool mts_cgroup_freeze_set(const struct cgroup *cgrp);

/* Is it a cgroup in the directory of another one? A user may name one ".x". */
struct dirent;
bool mts_is_cgroup_below(const struct dirent *entry);

/* What is looked at of one job: users make cgroups and processes as many as they like. */
#define MTS_CGROUPS_MOST 1024
#define MTS_PROCESSES_MOST 8192

/*
 * The processes in a cgroup and below it. Return: how many; *@pids is to be freed. The numbers are
 * in this process's PID namespace. @all: false: there are more, or more cgroups; may be NULL.
 */
u32 mts_cgroup_pids(const struct cgroup *cgrp, pid_t **pids, bool *all);

/* The path of a process's cgroup v2, absolute, in @path. False: it is gone. */
bool mts_cgroup_of_pid(pid_t pid, char *path, size_t size);

/* Is the process in the cgroup or below it, now? */
bool mts_cgroup_holds(const struct cgroup *cgrp, pid_t pid);

#endif /* MTS_ENGINE_CGROUP_H */

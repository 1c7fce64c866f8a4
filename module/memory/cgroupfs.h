/* SPDX-License-Identifier: GPL-2.0 */
/*
 * cgroup v2 files from the kernel. Only documented files, through the VFS, with the kernel's own
 * credentials: a task that forks a job may belong to any user.
 */
#ifndef _MTS_CGROUPFS_H
#define _MTS_CGROUPFS_H

#include "context.h"

/**
 * mts_cgroupfs_init() - find the cgroup v2 mount and create the base
 * @base: absolute path of the directory whose children are the jobs; its parent must exist and be
 *	cgroup v2
 *
 * Enables the memory controller for the base and its children.
 *
 * Return: 0, or an error that has been logged.
 */
int mts_cgroupfs_init(const char *base);

/* Removes the base if it is empty. */
void mts_cgroupfs_exit(void);

/* The base's cgroup; valid between init and exit. */
struct cgroup *mts_cgroupfs_base(void);

/*
 * Create a child of @place, for the owner of that directory; NULL: of the base. On success @dir
 * holds references.
 */
int mts_cgroupfs_mkdir(const struct path *place, const char *name, struct path *dir);

/* Remove one. @dir: only if it is this directory; NULL: whatever has the name. */
int mts_cgroupfs_rmdir(const struct path *place, const char *name, const struct path *dir);

/* The directory above this one, which is not the root; with references. */
void mts_cgroupfs_above(const struct path *dir, struct path *above);

/*
 * Remove the cgroups below this one, none of which has a process. Return: 0, or an error of
 * rmdir(2).
 */
int mts_cgroupfs_trim(const struct path *dir, struct cgroup *cgrp);

/**
 * mts_cgroupfs_get() - the cgroup of a directory
 * @dir: the directory
 *
 * Return: the cgroup with a reference; -EINVAL: not a cgroup v2 directory; -ENODEV: it has been
 * removed.
 */
struct cgroup *mts_cgroupfs_get(const struct path *dir);

/* The directory of an open file. Return: 0, with references in @dir; -EBADF: it is not open. */
int mts_cgroupfs_dir_of_fd(int fd, struct path *dir);

/* The last part of the directory's path, truncated if necessary. */
void mts_cgroupfs_name(const struct path *dir, char *name, size_t size);

/* The user that owns the directory; 0 if that cannot be read. */
u32 mts_cgroupfs_owner(const struct path *dir);

/* Is its memory accounted, so that it can be evicted? */
bool mts_cgroupfs_has_memory(struct cgroup *cgrp);

/* Does the directory still exist? Any context. */
bool mts_cgroupfs_is_online(struct cgroup *cgrp);

/* Are there processes in it or below it? */
bool mts_cgroupfs_is_populated(struct cgroup *cgrp);

/* file_open_root() with the kernel's credentials. Return: the file, or an ERR_PTR. */
struct file *mts_cgroupfs_open(const struct path *dir, const char *file, int flags);

/* Read a whole file as a string. Return: its length, or an error; -ENODEV: the cgroup is gone. */
ssize_t mts_cgroupfs_read(const struct path *dir, const char *file, char *buf, size_t size);

/*
 * Return: 0 or an error. May block as long as the file's action takes.
 */
int mts_cgroupfs_write(const struct path *dir, const char *file, const char *text);
int mts_cgroupfs_write_file(struct file *file, const char *text);

/* Files with one number; "max" is U64_MAX. Return: 0 or an error. */
int mts_cgroupfs_read_u64(const struct path *dir, const char *file, u64 *value);
int mts_cgroupfs_write_u64(const struct path *dir, const char *file, u64 value);

/* Move the current process with all its threads into a cgroup. */
int mts_cgroupfs_enter(const struct path *dir);

#endif /* _MTS_CGROUPFS_H */

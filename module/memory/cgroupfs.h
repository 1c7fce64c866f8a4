/* SPDX-License-Identifier: GPL-2.0 */
/*
 * cgroup v2 files from the kernel: only documented files, through the VFS, with
 * the kernel's own credentials (a child that is given a job may be anybody's).
 */
#ifndef _MTS_CGROUPFS_H
#define _MTS_CGROUPFS_H

#include "context.h"

/**
 * mts_cgroupfs_init() - find the cgroup v2 mount and make the base
 * @base: absolute path of the directory whose children are our jobs; its
 *	parent must exist and be cgroup v2
 *
 * Enables the memory controller for the base and its children.
 *
 * Return: 0 or an error, which has been logged.
 */
int mts_cgroupfs_init(const char *base);

/* Removes the base if it is empty. */
void mts_cgroupfs_exit(void);

/* The cgroup of the base, while initialised. */
struct cgroup *mts_cgroupfs_base(void);

/*
 * Protect so much memory of the base (memory.low), or what it had of its own if that is
 * more. An error leaves it as it is; -ENOMEM may pass.
 */
int mts_cgroupfs_protect_base(u64 bytes);

/* A child of the base. @dir comes back with references on success. */
int mts_cgroupfs_mkdir(const char *name, struct path *dir);

/* @dir: remove only this directory, not another one of the same name; NULL: any. */
int mts_cgroupfs_rmdir(const char *name, const struct path *dir);

/**
 * mts_cgroupfs_get() - the cgroup of a directory
 *
 * Return: the cgroup with a reference; -EINVAL: no cgroup v2 directory;
 * -ENODEV: it has been removed.
 */
struct cgroup *mts_cgroupfs_get(const struct path *dir);

/* file_open_root() with the kernel's credentials; ERR_PTR on error. */
struct file *mts_cgroupfs_open(const struct path *dir, const char *file, int flags);

/* Whole file as a string. Return: its length, or an error; -ENODEV: gone. */
ssize_t mts_cgroupfs_read(const struct path *dir, const char *file, char *buf, size_t size);

/* Return: 0 or an error. May block for as long as the file's action takes. */
int mts_cgroupfs_write(const struct path *dir, const char *file, const char *text);
int mts_cgroupfs_write_file(struct file *file, const char *text);

/* A file of one number; "max" is U64_MAX. Return: 0 or an error. */
int mts_cgroupfs_read_u64(const struct path *dir, const char *file, u64 *value);
int mts_cgroupfs_write_u64(const struct path *dir, const char *file, u64 value);

/* Move the current process, all its threads, into a cgroup. */
int mts_cgroupfs_enter(const struct path *dir);

#endif /* _MTS_CGROUPFS_H */

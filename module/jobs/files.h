/* SPDX-License-Identifier: GPL-2.0 */
/* The files that another process has open. */
#ifndef _MTS_FILES_H
#define _MTS_FILES_H

#include <linux/types.h>

struct file;
struct pipe_inode_info;
struct sock;
struct task_struct;

/* Called under files->file_lock: must not sleep, nor open or close a file. */
typedef void (*mts_file_fn)(struct file *file, void *arg);

/*
 * Call @fn for the files that @task has open, 1024 of them at most, but not for those opened with
 * O_PATH. The caller holds task_lock(). Return: how many descriptors were looked at.
 */
u32 mts_files_each(struct task_struct *task, mts_file_fn fn, void *arg);

/* The same for descriptor @fd, if it is open. */
void mts_files_one(struct task_struct *task, unsigned int fd, mts_file_fn fn, void *arg);

/*
 * The pipe or FIFO of @file; NULL: it is neither. The inode's mode alone does not tell: rpc_pipefs
 * and others use S_IFIFO for files with operations of their own.
 */
struct pipe_inode_info *mts_files_pipe(const struct file *file);

/*
 * The other end of @file's connection, with a reference; NULL: @file is no unix socket, or not
 * connected. @own: this end, without a reference: valid while @file is open.
 */
struct sock *mts_files_unix_peer(struct file *file, struct sock **own);

#endif /* _MTS_FILES_H */

/* SPDX-License-Identifier: GPL-2.0 */
/* What another process has open. */
#ifndef _MTS_FILES_H
#define _MTS_FILES_H

#include <linux/types.h>

struct file;
struct pipe_inode_info;
struct sock;
struct task_struct;

/* Under the lock of the files: it must not sleep, nor open or close anything. */
typedef void (*mts_file_fn)(struct file *file, void *arg);

/*
 * Calls @fn for the files that @task has open, 1024 of them at most, itself under task_lock().
 * What is open as a path only (O_PATH) is none. Return: how many files were looked at.
 */
u32 mts_files_each(struct task_struct *task, mts_file_fn fn, void *arg);

/* The same for one of them, if there is such a file. */
void mts_files_one(struct task_struct *task, unsigned int fd, mts_file_fn fn, void *arg);

/*
 * The pipe or FIFO that @file is open on. Return: NULL if it is none: the inode's mode alone does
 * not tell, as rpc_pipefs and others give S_IFIFO to files with operations of their own.
 */
struct pipe_inode_info *mts_files_pipe(const struct file *file);

/*
 * The other end of @file's connection, with a reference; @own: this end, while @file is open.
 * Return: NULL if it is no unix socket, or not connected.
 */
struct sock *mts_files_unix_peer(struct file *file, struct sock **own);

#endif /* _MTS_FILES_H */

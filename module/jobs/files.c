// SPDX-License-Identifier: GPL-2.0
#include "jobs/files.h"

#include <linux/bitops.h>
#include <linux/fdtable.h>
#include <linux/fs.h>
#include <linux/net.h>
#include <linux/sched.h>
#include <net/af_unix.h>
#include <net/sock.h>

#include "compat/compat.h"

/* Bounds the time for which file_lock is held; files of a process beyond it are not seen. */
#define MAX_FILES 1024

/*
 * Skips O_PATH files. Such a file on a path that names a socket has the file system's inode, which
 * is not the inode of a struct socket.
 */
static void call(struct files_struct *files, unsigned int fd, mts_file_fn fn, void *arg)
{
	struct file *file = files_lookup_fd_locked(files, fd);

	if (file && !(file->f_mode & FMODE_PATH))
		fn(file, arg);
}

u32 mts_files_each(struct task_struct *task, mts_file_fn fn, void *arg)
{
	struct files_struct *files = task->files;
	struct fdtable *fdt;
	unsigned int fd;
	u32 n = 0;

	/* While the lock is held no file is closed. */
	spin_lock(&files->file_lock);
	fdt = files_fdtable(files);
	for_each_set_bit(fd, fdt->open_fds, fdt->max_fds) {
		if (n == MAX_FILES)
			break;
		n++;
		call(files, fd, fn, arg);
	}
	spin_unlock(&files->file_lock);
	return n;
}

void mts_files_one(struct task_struct *task, unsigned int fd, mts_file_fn fn, void *arg)
{
	struct files_struct *files = task->files;

	spin_lock(&files->file_lock);
	call(files, fd, fn, arg);
	spin_unlock(&files->file_lock);
}

struct pipe_inode_info *mts_files_pipe(const struct file *file)
{
	const struct inode *inode = file_inode(file);

	/* i_pipe is in a union, valid with S_ISFIFO. For a real pipe private_data is the same. */
	if (!S_ISFIFO(inode->i_mode) || !inode->i_pipe || inode->i_pipe != file->private_data)
		return NULL;
	return inode->i_pipe;
}

struct sock *mts_files_unix_peer(struct file *file, struct sock **own)
{
#if IS_ENABLED(CONFIG_UNIX)
	struct socket *socket = sock_from_file(file);

	/* The sock stays while the file is open. */
	if (!socket || !socket->sk || socket->sk->sk_family != AF_UNIX)
		return NULL;
	*own = socket->sk;
	return unix_peer_get(socket->sk);
#else
	return NULL;
#endif
}

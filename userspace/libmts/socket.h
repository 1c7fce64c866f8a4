/* SPDX-License-Identifier: GPL-2.0 */
/* The commands of uapi/mts.h over the socket of mtsd (mtsd/wire.h). Return: 0 or -errno. */
#ifndef LIBMTS_SOCKET_H
#define LIBMTS_SOCKET_H

#include <linux/types.h>

/*
 * Root takes root's own socket, if there is one (mtsd/wire.h).
 *
 * @limit_s: of each wait for the other end, with ETIMEDOUT; 0: no limit. Return: the descriptor.
 * ENOENT, ECONNREFUSED: no mtsd runs.
 */
int mts_socket_open(const char *path, unsigned int limit_s);

/*
 * As ioctl(fd, request, argument). EPROTO: the other end is no mtsd, or has ended. EAGAIN: it has
 * ended the connection, and has not taken the request. After each of these, and after ETIMEDOUT,
 * the connection is of no use.
 */
int mts_socket_call(int fd, unsigned long request, void *argument);

/* The user that mtsd at the other end runs as. */
__u32 mts_socket_server(int fd);

#endif /* LIBMTS_SOCKET_H */

/* SPDX-License-Identifier: GPL-2.0 */
/* The commands of uapi/mts.h over the socket of mtsd (mtsd/wire.h). Return: 0 or -errno. */
#ifndef MTSCTL_IPC_SOCKET_H
#define MTSCTL_IPC_SOCKET_H

#include "../mtsd/wire.h"
#include "policy/pure.h"

/*
 * @limit_s: of each wait for the other end, with ETIMEDOUT; 0: no limit. Return: the descriptor.
 * ENOENT, ECONNREFUSED: no mtsd runs.
 */
int ipc_socket_open(const char *path, unsigned int limit_s);

/*
 * As ioctl(fd, request, argument). EPROTO: the other end is no mtsd, or has ended. After ETIMEDOUT
 * the connection is of no use.
 */
int ipc_socket_call(int fd, unsigned long request, void *argument);

/* The user that mtsd at the other end runs as. */
u32 ipc_socket_server(int fd);

#endif /* MTSCTL_IPC_SOCKET_H */

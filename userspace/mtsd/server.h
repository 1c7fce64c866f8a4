/* SPDX-License-Identifier: GPL-2.0 */
/* Answers requests on the socket: wire.h. */
#ifndef MTSD_SERVER_H
#define MTSD_SERVER_H

struct mts_backend;

/*
 * Make the socket, and a thread that waits for callers. The socket of root's mtsd is for all users;
 * that of another user for this one and root. Return: 0 or -errno, logged.
 */
int mts_server_init(const char *path, const struct mts_backend *backend);

/* Close all connections, and remove the socket. */
void mts_server_exit(void);

#endif /* MTSD_SERVER_H */

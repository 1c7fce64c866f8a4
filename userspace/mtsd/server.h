/* SPDX-License-Identifier: GPL-2.0 */
/* Answers requests on the socket: wire.h. */
#ifndef MTSD_SERVER_H
#define MTSD_SERVER_H

/* Make the socket, and a thread that waits for callers. Return: 0 or -errno, logged. */
int mts_server_init(const char *path);

/* Close all connections, and remove the socket. */
void mts_server_exit(void);

#endif /* MTSD_SERVER_H */

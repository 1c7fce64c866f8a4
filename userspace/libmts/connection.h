/* SPDX-License-Identifier: GPL-2.0 */
#ifndef LIBMTS_CONNECTION_H
#define LIBMTS_CONNECTION_H

#include <sys/types.h>

#include "libmts/mts.h"

/* The longest path of a socket, sun_path, and a NUL. */
#define MTS_SOCKET_PATH 109

struct mts_connection {
	int fd; /* /dev/mts, or the socket of mtsd */
	bool is_socket;
	pid_t owner; /* the process that has connected */
	char path[MTS_SOCKET_PATH]; /* of the socket */
	unsigned int limit_s;
};

#endif /* LIBMTS_CONNECTION_H */

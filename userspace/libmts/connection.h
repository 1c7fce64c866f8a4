/* SPDX-License-Identifier: GPL-2.0 */
#ifndef LIBMTS_CONNECTION_H
#define LIBMTS_CONNECTION_H

#include <sys/types.h>

#include "libmts/mts.h"

struct mts_connection {
	int fd; /* /dev/mts, or the socket of mtsd */
	bool is_socket;
	pid_t owner; /* the process that has connected */
};

#endif /* LIBMTS_CONNECTION_H */

// SPDX-License-Identifier: GPL-2.0
/*
 * The side that answers: an editor at its terminal, or a server. For every byte it uses a part of
 * its memory and sends the byte back.
 */
#include "latency.h"

#include <err.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "signals.h"

int answer(const struct options *options, bool terminal)
{
	struct memory memory;
	char bytes[64];
	ssize_t got;
	int fd;

	memory_get(&memory, options);
	/* the other side goes when it has done: that is no failure */
	signal(SIGHUP, SIG_IGN);
	signal(SIGPIPE, SIG_IGN);
	fd = terminal ? meet_terminal(options->at) : meet_as_server(options->at);
	while ((got = read(fd, bytes, sizeof(bytes))) != 0) {
		if (got < 0 && errno == EINTR && !signalled)
			continue;
		if (got < 0)
			break;
		for (ssize_t i = 0; i < got; i++) {
			memory_use(&memory);
			if (write(fd, bytes + i, 1) != 1)
				return EXIT_SUCCESS;
		}
	}
	if (signalled)
		return 4;
	if (got < 0 && errno != EIO && errno != ECONNRESET)
		err(EXIT_FAILURE, "%s", options->at);
	return EXIT_SUCCESS;
}

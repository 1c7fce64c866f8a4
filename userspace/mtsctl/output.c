// SPDX-License-Identifier: GPL-2.0
#include "output.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <unistd.h>

int output_write(const struct output_end *end, const char *text, size_t size)
{
	struct pollfd fd = { .fd = STDOUT_FILENO, .events = POLLOUT };
	ssize_t written;

	while (size && !*end->ended) {
		if (ppoll(&fd, 1, NULL, end->waiting) <= 0)
			continue;
		/* A pipe that polls writable takes PIPE_BUF bytes without blocking. */
		written = write(STDOUT_FILENO, text, size < PIPE_BUF ? size : PIPE_BUF);
		if (written < 0 && errno != EAGAIN)
			return -errno;
		if (written > 0) {
			text += written;
			size -= written;
		}
	}
	return 0;
}

static ssize_t write_all(void *end, const char *text, size_t size)
{
	int err = output_write(end, text, size);

	errno = -err;
	return err ? 0 : size;
}

int output_may_end(const struct output_end *end)
{
	static const cookie_io_functions_t functions = { .write = write_all };
	/* Static: main() writes the rest of the output after the command has ended. */
	static struct output_end kept;
	static sigset_t waiting;
	FILE *file;

	waiting = *end->waiting;
	kept = (struct output_end){ .waiting = &waiting, .ended = end->ended };
	file = fopencookie(&kept, "w", functions);
	if (!file)
		return -errno;
	if (fflush(stdout)) {
		int err = errno;

		fclose(file);
		return -err;
	}
	stdout = file;
	return 0;
}

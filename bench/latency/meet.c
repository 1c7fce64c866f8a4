// SPDX-License-Identifier: GPL-2.0
/*
 * Where two programs meet that were started apart from each other, as jobs are: a path that one
 * side makes, a link to a pseudo-terminal or a socket, and the other one waits for. The answering
 * side sends a byte when it is ready.
 */
#include "latency.h"

#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <termios.h>
#include <unistd.h>

#include "clock.h"
#include "signals.h"

#define LOOK_NS 10000000u /* between two looks for the path */

static __attribute__((noreturn)) void ended(void)
{
	exit(4);
}

static void wait_a_little(void)
{
	if (signalled)
		ended();
	clock_sleep(LOOK_NS);
}

static void wait_until_ready(int fd)
{
	ssize_t got;
	char byte;

	do {
		if (signalled)
			ended();
		got = read(fd, &byte, 1);
	} while (got < 0 && errno == EINTR);
	if (got != 1)
		errx(EXIT_FAILURE, "no process is there to answer");
}

static void say_ready(int fd)
{
	if (write(fd, "!", 1) != 1)
		err(EXIT_FAILURE, "no process is there to ask");
}

static struct sockaddr_un address_of(const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };

	if (strlen(path) >= sizeof(address.sun_path))
		errx(EXIT_FAILURE, "%s: too long for a socket", path);
	strcpy(address.sun_path, path);
	return address;
}

static void remove_old(const char *path)
{
	if (unlink(path) && errno != ENOENT)
		err(EXIT_FAILURE, "%s", path);
}

/* The terminal echoes nothing itself: it is the program's echo that counts. */
static void make_raw(int fd)
{
	struct termios settings;

	if (tcgetattr(fd, &settings))
		err(EXIT_FAILURE, "terminal");
	cfmakeraw(&settings);
	if (tcsetattr(fd, TCSANOW, &settings))
		err(EXIT_FAILURE, "terminal");
}

int meet_as_terminal(const char *path)
{
	int fd = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);

	if (fd < 0 || grantpt(fd) || unlockpt(fd))
		err(EXIT_FAILURE, "no pseudo-terminal");
	make_raw(fd);
	remove_old(path);
	if (symlink(ptsname(fd), path))
		err(EXIT_FAILURE, "%s", path);
	wait_until_ready(fd);
	return fd;
}

int meet_terminal(const char *path)
{
	int fd;

	/* the leader of a session, as the driver's jobs are, gets it as its own */
	while ((fd = open(path, O_RDWR | O_CLOEXEC)) < 0) {
		if (errno != ENOENT)
			err(EXIT_FAILURE, "%s", path);
		wait_a_little();
	}
	say_ready(fd);
	return fd;
}

int meet_as_server(const char *path)
{
	const struct sockaddr_un address = address_of(path);
	int listening = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), fd;

	remove_old(path);
	if (listening < 0 || bind(listening, (const struct sockaddr *)&address, sizeof(address)) ||
	    listen(listening, 1))
		err(EXIT_FAILURE, "%s", path);
	while ((fd = accept4(listening, NULL, NULL, SOCK_CLOEXEC)) < 0) {
		if (errno != EINTR)
			err(EXIT_FAILURE, "%s", path);
		if (signalled)
			ended();
	}
	close(listening);
	say_ready(fd);
	return fd;
}

int meet_as_client(const char *path)
{
	const struct sockaddr_un address = address_of(path);
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		err(EXIT_FAILURE, "socket");
	while (connect(fd, (const struct sockaddr *)&address, sizeof(address))) {
		if (errno != ENOENT && errno != ECONNREFUSED && errno != EINTR)
			err(EXIT_FAILURE, "%s", path);
		wait_a_little();
	}
	wait_until_ready(fd);
	return fd;
}

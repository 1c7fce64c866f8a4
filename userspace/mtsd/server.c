// SPDX-License-Identifier: GPL-2.0
#define _GNU_SOURCE
#include "mtsd/server.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "context.h"
#include "mtsd/caller.h"
#include "mtsd/places.h"
#include "mtsd/request.h"
#include "mtsd/rights.h"
#include "mtsd/wire.h"

/* A caller that takes no reply for so long is cut off. */
#define SEND_LIMIT_S 10

/*
 * A socket, and the thread that accepts there. To end with a connection drops the descriptors that
 * are under way in it, which may wait for as long as the user who sent them likes (a file system of
 * his own, a lingering socket). So root has a socket that users cannot open.
 */
static struct door {
	struct sockaddr_un address;
	int fd; /* -1: it is not open */
	struct task_struct *acceptor;
	struct mts_caller callers[MTS_PLACES]; /* of @acceptor, but @uid, @answers, @since, @done */
} doors[] = { { .fd = -1 }, { .fd = -1 } };

static int stop = -1;

/* What it has sent is read: else the end of the connection might reach it before the reply does. */
static void refuse(int fd)
{
	char rest[4096];

	shutdown(fd, SHUT_RD);
	mts_reply(fd, -EAGAIN, NULL, 0);
	while (recv(fd, rest, sizeof(rest), MSG_DONTWAIT) > 0)
		;
	close(fd);
}

static void serve(struct mts_caller *callers, int fd)
{
	const struct timeval limit = { .tv_sec = SEND_LIMIT_S };
	struct ucred peer = { .uid = RIGHTS_NOBODY };
	socklen_t size = sizeof(peer);
	struct mts_caller *caller;

	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
	getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size);
	caller = mts_places_find(callers, peer.uid);
	if (!caller) {
		pr_notice_ratelimited("too many callers: one of user %u is refused\n", peer.uid);
		refuse(fd);
		return;
	}
	if (mts_caller_start(caller, fd, peer.uid))
		close(fd);
}

static int acceptor_main(void *data)
{
	struct door *door = data;
	struct mts_caller *callers = door->callers;

	while (!kthread_should_stop()) {
		struct pollfd fds[] = {
			{ .fd = stop, .events = POLLIN },
			{ .fd = door->fd, .events = POLLIN },
		};
		int fd;

		poll(fds, ARRAY_SIZE(fds), -1);
		mts_places_reap(callers);
		if (!fds[1].revents)
			continue;
		fd = accept4(door->fd, NULL, NULL, SOCK_CLOEXEC);
		if (fd >= 0)
			serve(callers, fd);
		else if (errno != EINTR && errno != ECONNABORTED)
			msleep(100);
	}
	mts_places_end(callers);
	return 0;
}

static int open_door(struct door *door, const char *path, mode_t mode)
{
	struct sockaddr_un *address = &door->address;
	struct task_struct *acceptor;

	address->sun_family = AF_UNIX;
	if (strlen(path) >= sizeof(address->sun_path)) {
		pr_err("%s: the path of a socket has at most %zu bytes\n", path,
		       sizeof(address->sun_path) - 1);
		return -ENAMETOOLONG;
	}
	strcpy(address->sun_path, path);
	door->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	/* Left by a mtsd that was killed; the lock says that none runs. */
	unlink(path);
	if (door->fd < 0 || bind(door->fd, (struct sockaddr *)address, sizeof(*address)) ||
	    chmod(path, mode) || listen(door->fd, SOMAXCONN)) {
		int err = -errno;

		pr_err("%s: %s\n", path, strerror(errno));
		return err;
	}
	acceptor = kthread_create(acceptor_main, door, "mts_server");
	if (IS_ERR(acceptor))
		return PTR_ERR(acceptor);
	door->acceptor = acceptor;
	wake_up_process(acceptor);
	return 0;
}

static void close_door(struct door *door)
{
	if (door->fd < 0)
		return;
	unlink(door->address.sun_path);
	if (door->acceptor)
		mts_user_stop_polling(door->acceptor, stop);
	close(door->fd);
}

int mts_server_init(const char *path, const struct mts_backend *behind)
{
	char roots[sizeof(doors->address.sun_path) + sizeof(MTS_SOCKET_OF_ROOT)];
	int err;

	mts_request_init(behind);
	stop = eventfd(0, EFD_CLOEXEC);
	if (stop < 0)
		return -errno;
	/* Who may ask what is decided for each request: rights.h. */
	err = open_door(&doors[0], path, geteuid() ? 0600 : 0666);
	if (err || geteuid())
		return err;
	snprintf(roots, sizeof(roots), "%s%s", path, MTS_SOCKET_OF_ROOT);
	return open_door(&doors[1], roots, 0600);
}

void mts_server_exit(void)
{
	/* Root's first: the other one may wait for what users have under way. */
	close_door(&doors[1]);
	close_door(&doors[0]);
	close(stop);
}

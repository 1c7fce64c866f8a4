// SPDX-License-Identifier: GPL-2.0
#include "libmts/socket.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "mtsd/wire.h"
#include "uapi/mts.h"

static int open_path(const char *path, unsigned int limit_s)
{
	const struct timeval limit = { .tv_sec = limit_s };
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd, err;

	if (strlen(path) >= sizeof(address.sun_path))
		return -ENAMETOOLONG;
	strcpy(address.sun_path, path);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	/* For connect(), too: it waits for room in the queue of the other end. 0: no limit. */
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	if (connect(fd, (struct sockaddr *)&address, sizeof(address))) {
		err = errno == EAGAIN ? -ETIMEDOUT : -errno;
		close(fd);
		return err;
	}
	return fd;
}

int mts_socket_open(const char *path, unsigned int limit_s)
{
	char own[sizeof(((struct sockaddr_un *)0)->sun_path) + sizeof(MTS_SOCKET_OF_ROOT)];
	int fd = -ENOENT;

	if (!geteuid() &&
	    snprintf(own, sizeof(own), "%s%s", path, MTS_SOCKET_OF_ROOT) < (int)sizeof(own))
		fd = open_path(own, limit_s);
	/* An older mtsd has none, nor has that of a user. */
	return fd >= 0 || fd == -ETIMEDOUT ? fd : open_path(path, limit_s);
}

static int read_all(int fd, void *buf, size_t size)
{
	errno = 0;
	if (mts_wire_read(fd, buf, size))
		return 0;
	return errno == EAGAIN ? -ETIMEDOUT : -EPROTO;
}

/*
 * @is_sent: false: the other end takes no more requests. EAGAIN: it has ended the connection, and
 * has not taken the request.
 */
static int read_head(int fd, struct mts_wire_reply *reply, bool is_sent)
{
	int err = read_all(fd, reply, sizeof(*reply));

	/* What it has not read when it closes is told by ECONNRESET. */
	return err == -EPROTO && (!is_sent || errno == ECONNRESET) ? -EAGAIN : err;
}

/* What is left of a list that does not fit, so that the next reply can be read. */
static int skip(int fd, size_t size)
{
	char buf[4096];
	int err = 0;

	while (size && !err) {
		size_t part = size < sizeof(buf) ? size : sizeof(buf);

		err = read_all(fd, buf, part);
		size -= part;
	}
	return err;
}

/*
 * @passed: a descriptor that goes with the request; -1: none. Return: 0, or -errno; EPIPE: the
 * other end takes no more. It may have said why: the reply waits to be read.
 */
static int send_request(int fd, const struct mts_wire_request *request, const void *argument,
			int passed)
{
	union {
		struct cmsghdr header;
		char room[CMSG_SPACE(sizeof(int))];
	} control = { 0 };
	struct iovec io[] = { { (void *)request, sizeof(*request) },
			      { (void *)argument, request->size } };
	struct msghdr msg = { .msg_iov = io, .msg_iovlen = 2 };
	ssize_t put;

	if (passed >= 0) {
		msg.msg_control = &control;
		msg.msg_controllen = sizeof(control);
		control.header = (struct cmsghdr){ .cmsg_len = CMSG_LEN(sizeof(int)),
						   .cmsg_level = SOL_SOCKET,
						   .cmsg_type = SCM_RIGHTS };
		memcpy(CMSG_DATA(&control.header), &passed, sizeof(passed));
	}
	do {
		put = sendmsg(fd, &msg, MSG_NOSIGNAL);
	} while (put < 0 && errno == EINTR);
	if (put < 0 && (errno == EPIPE || errno == ECONNRESET))
		return -EPIPE;
	if (put < 0 && errno == EAGAIN)
		return -ETIMEDOUT;
	/* The descriptor is not open: the ioctl says the same. */
	if (put < 0)
		return errno == EBADF ? -EBADF : -EPROTO;
	return put == (ssize_t)(sizeof(*request) + request->size) ? 0 : -EPROTO;
}

/*
 * The buffer has room for what was asked: whatever is said of the elements, no more is read.
 * @size: bytes that follow the argument itself
 */
static int read_elements(int fd, unsigned long cmd, const struct mts_list *asked,
			 const struct mts_list *list, size_t size)
{
	size_t distance = asked->elem_size ?: mts_wire_size_1(cmd);

	if (list->count > asked->count || size != list->count * distance)
		return skip(fd, size) ?: -EPROTO;
	return read_all(fd, (void *)(uintptr_t)asked->buf, size);
}

/* @passed: a descriptor that goes along; -1: none */
static int call_with(int fd, unsigned long cmd, void *argument, int passed)
{
	bool is_list = mts_wire_size_1(cmd);
	size_t in = _IOC_DIR(cmd) & _IOC_WRITE ? _IOC_SIZE(cmd) : 0;
	size_t out = _IOC_DIR(cmd) & _IOC_READ ? _IOC_SIZE(cmd) : 0;
	struct mts_wire_request request = { .cmd = cmd, .size = in };
	struct mts_wire_reply reply;
	struct mts_list asked = { 0 };
	int err;

	if (is_list)
		asked = *(struct mts_list *)argument;
	err = send_request(fd, &request, argument, passed);
	if (!err || err == -EPIPE)
		err = read_head(fd, &reply, !err);
	if (err)
		return err;
	if (reply.err)
		return -reply.err;
	if (reply.size < out || (reply.size > out && !is_list))
		return -EPROTO;
	err = read_all(fd, argument, out);
	if (!err && is_list)
		err = read_elements(fd, cmd, &asked, argument, reply.size - out);
	return err;
}

int mts_socket_call(int fd, unsigned long cmd, void *argument)
{
	__s32 *field = mts_wire_descriptor(cmd, argument);
	struct mts_job_add *add = argument;
	int passed = field ? *field : -1;
	struct stat st;
	int err;

	/* What mtsd goes by for users who are not root. */
	if (cmd == MTS_IOC_JOB_ADD && !fstat(passed, &st))
		add->cgroup_id = st.st_ino;
	err = call_with(fd, cmd, argument, passed);
	/* The number there is mtsd's. */
	if (field)
		*field = passed;
	return err;
}

__u32 mts_socket_server(int fd)
{
	struct ucred server = { .uid = -1 };
	socklen_t size = sizeof(server);

	getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &server, &size);
	return server.uid;
}

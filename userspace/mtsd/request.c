// SPDX-License-Identifier: GPL-2.0
#define _GNU_SOURCE
#include "mtsd/request.h"

#include <sys/socket.h>
#include <unistd.h>

#include "context.h"
#include "control/commands.h"
#include "mtsd/backend.h"
#include "mtsd/users.h"
#include "mtsd/wire.h"
#include "uapi/mts.h"

/* Descriptors that may come with a request: more than one is as none, but all are closed. */
#define PASSED_MAX 4

static const struct mts_backend *backend;

void mts_request_init(const struct mts_backend *behind)
{
	backend = behind;
}

static bool write_all(int fd, const void *buf, size_t size)
{
	const char *at = buf;

	while (size) {
		ssize_t put = send(fd, at, size, MSG_NOSIGNAL);

		if (put < 0 && errno == EINTR)
			continue;
		if (put <= 0)
			return false;
		at += put;
		size -= put;
	}
	return true;
}

/* The descriptor that came with a message; -1: none, or several. */
static int take_descriptor(struct msghdr *msg)
{
	struct cmsghdr *header = CMSG_FIRSTHDR(msg);
	int fds[PASSED_MAX], n = 0, i;

	if (!header || header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS)
		return -1;
	n = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
	memcpy(fds, CMSG_DATA(header), n * sizeof(int));
	if (n == 1 && !(msg->msg_flags & MSG_CTRUNC))
		return fds[0];
	for (i = 0; i < n; i++)
		close(fds[i]);
	return -1;
}

bool mts_request_read(const struct mts_peer *peer, struct mts_wire_request *request, int *fd)
{
	union {
		struct cmsghdr header;
		char room[CMSG_SPACE(PASSED_MAX * sizeof(int))];
	} control;
	struct iovec io = { request, sizeof(*request) };
	struct msghdr msg = { .msg_iov = &io,
			      .msg_iovlen = 1,
			      .msg_control = peer->is_ours ? &control : NULL,
			      .msg_controllen = peer->is_ours ? sizeof(control) : 0 };
	int from = peer->fd;
	ssize_t got;

	*fd = -1;
	do {
		got = recvmsg(from, &msg, MSG_CMSG_CLOEXEC);
	} while (got < 0 && errno == EINTR);
	if (got <= 0)
		return false;
	*fd = take_descriptor(&msg);
	return mts_wire_read(from, (char *)request + got, sizeof(*request) - got);
}

bool mts_reply(int fd, int err, const void *argument, size_t size)
{
	struct mts_wire_reply head = { .err = -err, .size = err ? 0 : size };

	return write_all(fd, &head, sizeof(head)) && write_all(fd, argument, head.size);
}

static bool reply_list(int fd, const struct mts_list *list, const struct mts_elements *elements)
{
	static const char zeros[MTS_ELEM_SIZE_MAX];
	size_t known = min(elements->size, elements->distance);
	struct mts_wire_reply head = { .size = sizeof(*list) + list->count * elements->distance };
	const char *from = elements->at;
	bool ok = write_all(fd, &head, sizeof(head)) && write_all(fd, list, sizeof(*list));
	u32 i;

	for (i = 0; i < list->count && ok; i++, from += elements->size)
		ok = write_all(fd, from, known) && write_all(fd, zeros, elements->distance - known);
	return ok;
}

bool mts_is_ours(uid_t uid)
{
	return !uid || uid == geteuid();
}

static bool answer_list(const struct mts_peer *peer, unsigned int cmd, struct mts_list *list)
{
	struct mts_elements elements;
	bool ok;
	int err;

	if (peer->is_ours)
		err = backend->list(cmd, list, &elements);
	else
		err = mts_users_list(backend, cmd, list, &elements);
	if (err)
		return mts_reply(peer->fd, err, NULL, 0);
	ok = reply_list(peer->fd, list, &elements);
	kvfree(elements.at);
	return ok;
}

/* Of a mtsd of one user, others change nothing, and read by a descriptor that they were given. */
static int command(const struct mts_peer *peer, unsigned int cmd, void *argument, int passed)
{
	s32 *field;

	if (!peer->is_ours)
		return mts_users_command(backend, peer->is_member, cmd, argument);
	field = mts_wire_descriptor(cmd, argument);
	/* The caller's number would be one of this process. */
	if (field)
		*field = passed;
	return backend->command(cmd, argument);
}

bool mts_request_answer(const struct mts_peer *peer, const struct mts_wire_request *request,
			void *argument, int passed)
{
	size_t wanted = _IOC_DIR(request->cmd) & _IOC_WRITE ? _IOC_SIZE(request->cmd) : 0;
	unsigned int cmd = request->cmd;
	int err;

	if (!mts_command_is_list(cmd) && !mts_command_is_known(cmd) && cmd != MTS_IOC_JOB_TAKE)
		return mts_reply(peer->fd, -ENOTTY, NULL, 0);
	if (request->size != wanted)
		return mts_reply(peer->fd, -EINVAL, NULL, 0);
	if (mts_command_is_list(cmd))
		return answer_list(peer, cmd, argument);
	err = command(peer, cmd, argument, passed);
	return mts_reply(peer->fd, err, argument, _IOC_DIR(cmd) & _IOC_READ ? _IOC_SIZE(cmd) : 0);
}

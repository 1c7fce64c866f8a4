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
#include "control/commands.h"
#include "engine/cgroup.h"
#include "engine/process.h"
#include "engine/taken.h"
#include "mtsd/wire.h"
#include "uapi/mts.h"

/* Callers at a time; each has a thread. `mtsctl top` and exporters keep their connection. */
#define CALLERS_MAX 64
/* A caller that takes no reply for so long is cut off. */
#define SEND_LIMIT_S 10

/* @fd: shut down at the end, which wakes the thread; closed by the thread that reaps it. */
static struct caller {
	struct task_struct *thread; /* NULL: the place is free */
	int fd;
	bool done;
} callers[CALLERS_MAX]; /* of the accepting thread, but @done */

static struct sockaddr_un address;
static int server = -1;
static int stop = -1;
static struct task_struct *acceptor;

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

/* The head of a request, and the descriptor that came with it; -1: none. */
static bool read_request(int from, struct mts_wire_request *request, int *fd)
{
	union {
		struct cmsghdr header;
		char room[CMSG_SPACE(sizeof(int))];
	} control;
	struct iovec io = { request, sizeof(*request) };
	struct msghdr msg = { .msg_iov = &io,
			      .msg_iovlen = 1,
			      .msg_control = &control,
			      .msg_controllen = sizeof(control) };
	struct cmsghdr *header;
	ssize_t got;

	*fd = -1;
	do {
		got = recvmsg(from, &msg, MSG_CMSG_CLOEXEC);
	} while (got < 0 && errno == EINTR);
	if (got <= 0)
		return false;
	header = CMSG_FIRSTHDR(&msg);
	if (header && header->cmsg_level == SOL_SOCKET && header->cmsg_type == SCM_RIGHTS)
		memcpy(fd, CMSG_DATA(header), sizeof(*fd));
	return mts_wire_read(from, (char *)request + got, sizeof(*request) - got);
}

static bool reply(int fd, int err, const void *argument, size_t size)
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

static bool may_ask(unsigned int cmd)
{
	uid_t uid = mts_user_caller()->uid;

	return (!mts_command_changes(cmd) && cmd != MTS_IOC_JOB_TAKE) || !uid || uid == geteuid();
}

/* A job of one running process: make a cgroup of it, and add that. */
static int take(struct mts_job_take *take)
{
	struct mts_job_add add = {
		.flags = take->flags,
		.max_pause_ns = take->max_pause_ns,
		.weight = take->weight,
	};
	struct cgroup *cgrp;
	int err;

	if (take->pad || take->pad2)
		return -EINVAL;
	if (take->pid <= 0)
		return -ESRCH;
	err = mts_process_check(take->pid);
	if (err)
		return err;
	cgrp = mts_taken_make(take->pid);
	if (IS_ERR(cgrp))
		return PTR_ERR(cgrp);
	add.cgroup_fd = cgrp->dir;
	err = mts_command(MTS_IOC_JOB_ADD, &add);
	if (err) {
		mts_taken_give_back(cgrp);
	} else {
		take->id = add.id;
		take->cgroup_id = add.cgroup_id;
		strscpy(take->name, strrchr(cgrp->path, '/') + 1, sizeof(take->name));
	}
	cgroup_put(cgrp);
	return err;
}

static int command(unsigned int cmd, void *argument)
{
	return cmd == MTS_IOC_JOB_TAKE ? take(argument) : mts_command(cmd, argument);
}

static bool answer_list(int fd, unsigned int cmd, struct mts_list *list)
{
	struct mts_elements elements;
	int err = mts_command_list(cmd, list, &elements);
	bool ok;

	if (err)
		return reply(fd, err, NULL, 0);
	ok = reply_list(fd, list, &elements);
	kvfree(elements.at);
	return ok;
}

/* @passed: a descriptor of the caller, or -1 */
static bool answer(int fd, const struct mts_wire_request *request, void *argument, int passed)
{
	size_t wanted = _IOC_DIR(request->cmd) & _IOC_WRITE ? _IOC_SIZE(request->cmd) : 0;
	unsigned int cmd = request->cmd;
	int err;

	if (!may_ask(cmd))
		return reply(fd, -EPERM, NULL, 0);
	if (!mts_command_is_list(cmd) && !mts_command_is_known(cmd) && cmd != MTS_IOC_JOB_TAKE)
		return reply(fd, -ENOTTY, NULL, 0);
	if (request->size != wanted)
		return reply(fd, -EINVAL, NULL, 0);
	if (mts_command_is_list(cmd))
		return answer_list(fd, cmd, argument);
	if (cmd == MTS_IOC_JOB_ADD)
		((struct mts_job_add *)argument)->cgroup_fd = passed;
	err = command(cmd, argument);
	return reply(fd, err, argument, _IOC_DIR(cmd) & _IOC_READ ? _IOC_SIZE(cmd) : 0);
}

static void read_caller(int fd)
{
	struct mts_user_caller *caller = mts_user_caller();
	struct ucred peer = { 0 };
	socklen_t size = sizeof(peer);
	char path[32];
	ssize_t length;
	int comm;

	getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size);
	caller->pid = peer.pid;
	caller->uid = peer.uid;
	strscpy(caller->comm, "?", sizeof(caller->comm));
	snprintf(path, sizeof(path), "/proc/%d/comm", peer.pid);
	comm = open(path, O_RDONLY | O_CLOEXEC);
	if (comm < 0)
		return;
	length = read(comm, caller->comm, sizeof(caller->comm) - 1);
	close(comm);
	caller->comm[max_t(ssize_t, length, 1) - 1] = '\0'; /* it ends in a newline */
}

static int caller_main(void *data)
{
	struct caller *caller = data;
	struct mts_wire_request request;
	bool ok = true;
	int passed;

	read_caller(caller->fd);
	while (ok && read_request(caller->fd, &request, &passed)) {
		u64 *argument = NULL;

		if (request.size > MTS_WIRE_ARGUMENT_MAX)
			ok = false;
		else
			argument =
				calloc(1, max_t(size_t, _IOC_SIZE(request.cmd), request.size) + 1);
		ok = ok && argument && mts_wire_read(caller->fd, argument, request.size) &&
		     answer(caller->fd, &request, argument, passed);
		free(argument);
		if (passed >= 0)
			close(passed);
	}
	shutdown(caller->fd, SHUT_RDWR);
	__atomic_store_n(&caller->done, true, __ATOMIC_RELEASE);
	return 0;
}

static bool is_done(const struct caller *caller)
{
	return __atomic_load_n(&caller->done, __ATOMIC_ACQUIRE);
}

/* It closed its end, and its thread may not have had a processor since. */
static bool has_left(const struct caller *caller)
{
	struct pollfd end = { .fd = caller->fd };

	return poll(&end, 1, 0) > 0 && (end.revents & POLLHUP);
}

static bool is_any(const struct caller *caller)
{
	return true;
}

/* Waits for what a caller's thread does just now. */
static void reap(bool (*which)(const struct caller *caller))
{
	u32 i;

	for (i = 0; i < CALLERS_MAX; i++) {
		struct caller *caller = &callers[i];

		if (!caller->thread || !which(caller))
			continue;
		shutdown(caller->fd, SHUT_RDWR);
		kthread_stop(caller->thread);
		close(caller->fd);
		caller->thread = NULL;
	}
}

/* NULL: all places are taken. */
static struct caller *free_place(void)
{
	struct caller *caller = callers;

	while (caller < callers + CALLERS_MAX && caller->thread)
		caller++;
	return caller < callers + CALLERS_MAX ? caller : NULL;
}

static void serve(int fd)
{
	const struct timeval limit = { .tv_sec = SEND_LIMIT_S };
	struct caller *caller = free_place();
	struct task_struct *thread;

	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
	if (!caller) {
		reap(has_left);
		caller = free_place();
	}
	if (!caller) {
		pr_notice_ratelimited("%d callers at a time: another one is refused\n",
				      CALLERS_MAX);
		reply(fd, -EAGAIN, NULL, 0);
		close(fd);
		return;
	}
	thread = kthread_create(caller_main, caller, "mts_caller");
	if (IS_ERR(thread)) {
		close(fd);
		return;
	}
	*caller = (struct caller){ .thread = thread, .fd = fd };
	wake_up_process(thread);
}

static int acceptor_main(void *unused)
{
	while (!kthread_should_stop()) {
		struct pollfd fds[] = {
			{ .fd = stop, .events = POLLIN },
			{ .fd = server, .events = POLLIN },
		};
		int fd;

		poll(fds, ARRAY_SIZE(fds), -1);
		reap(is_done);
		if (!fds[1].revents)
			continue;
		fd = accept4(server, NULL, NULL, SOCK_CLOEXEC);
		if (fd >= 0)
			serve(fd);
		else if (errno != EINTR && errno != ECONNABORTED)
			msleep(100);
	}
	reap(is_any);
	return 0;
}

int mts_server_init(const char *path)
{
	int err = 0;

	address.sun_family = AF_UNIX;
	if (strlen(path) >= sizeof(address.sun_path)) {
		pr_err("%s: the path of a socket has at most %zu bytes\n", path,
		       sizeof(address.sun_path) - 1);
		return -ENAMETOOLONG;
	}
	strcpy(address.sun_path, path);
	stop = eventfd(0, EFD_CLOEXEC);
	server = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	/* Left by a mtsd that was killed; the lock says that none runs. */
	unlink(path);
	if (stop < 0 || server < 0 || bind(server, (struct sockaddr *)&address, sizeof(address)) ||
	    chmod(path, 0600) || listen(server, CALLERS_MAX)) {
		err = -errno;
		pr_err("%s: %s\n", path, strerror(errno));
		return err;
	}
	acceptor = kthread_create(acceptor_main, NULL, "mts_server");
	if (IS_ERR(acceptor))
		return PTR_ERR(acceptor);
	wake_up_process(acceptor);
	return 0;
}

void mts_server_exit(void)
{
	unlink(address.sun_path);
	mts_user_stop_polling(acceptor, stop);
	close(server);
	close(stop);
}

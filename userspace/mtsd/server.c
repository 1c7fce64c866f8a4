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
#include "mtsd/rights.h"
#include "mtsd/users.h"
#include "mtsd/wire.h"
#include "uapi/mts.h"

/* Callers at a time; each has a thread. `mtsctl top` and exporters keep their connection. */
#define CALLERS_MAX 64
/* Of these, of users who are not root: root always finds a place. */
#define USERS_CALLERS_MAX 48
/* Descriptors that may come with a request: more than one is as none, but all are closed. */
#define PASSED_MAX 4
/* How long to wait for a thread that ends, if another one needs its place, or at the end. */
#define REAP_LIMIT_MS 1000
#define REAP_PAUSE_US 1000
/* A caller that takes no reply for so long is cut off. */
#define SEND_LIMIT_S 10

/*
 * @fd: shut down at the end, which wakes the thread; closed by the thread that reaps it.
 * @answers: it carries out a command. Else it may be stuck for as long as its caller likes: a
 * descriptor that came with a request is dropped, and that may wait. So nothing waits for such a
 * thread but for a moment.
 *
 * A caller may be frozen while it reads the reply: a job in the queue is for a day, and one that
 * takes turns for a minute. So one that asks nothing keeps no other one out: it leaves.
 */
struct caller {
	struct task_struct *thread; /* NULL: the place is free */
	int fd;
	uid_t uid; /* that it counts as; RIGHTS_NOBODY: of a user without an account */
	bool waited; /* in vain, for its end: it is not waited for again */
	bool leaves; /* another one needs its place: it carries out no further command */
	bool answers;
	u64 since; /* it asks nothing */
	bool done;
};

/*
 * A socket, and the thread that accepts there. To end with a connection drops the descriptors that
 * are under way in it, which may wait for as long as the user who sent them likes (a file system of
 * his own, a lingering socket). So root has a socket that users cannot open.
 */
static struct door {
	struct sockaddr_un address;
	int fd; /* -1: it is not open */
	struct task_struct *acceptor;
	struct caller callers[CALLERS_MAX]; /* of @acceptor, but @uid, @answers, @since, @done */
} doors[] = { { .fd = -1 }, { .fd = -1 } };

static int stop = -1;
static const struct mts_backend *backend;

/* The process at the other end. */
struct peer {
	int fd;
	bool is_ours; /* root, or the user that this mtsd is of */
	bool is_member; /* of the users' group */
};

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

/*
 * The head of a request, and the descriptor that came with it; -1: none. Of a user none is taken:
 * to close it, or to end with it, waits for its file system, which may be the user's, for ever. One
 * that is never installed is not flushed.
 */
static bool read_request(const struct peer *peer, struct mts_wire_request *request, int *fd)
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

/* Not by a user who is another one than this mtsd's. */
static bool is_ours(uid_t uid)
{
	return !uid || uid == geteuid();
}

static bool answer_list(const struct peer *peer, unsigned int cmd, struct mts_list *list)
{
	struct mts_elements elements;
	bool ok;
	int err;

	if (peer->is_ours)
		err = backend->list(cmd, list, &elements);
	else
		err = mts_users_list(backend, cmd, list, &elements);
	if (err)
		return reply(peer->fd, err, NULL, 0);
	ok = reply_list(peer->fd, list, &elements);
	kvfree(elements.at);
	return ok;
}

/* Of a mtsd of one user, others change nothing, and read by a descriptor that they were given. */
static int command(const struct peer *peer, unsigned int cmd, void *argument, int passed)
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

/* @passed: a descriptor of the caller, or -1 */
static bool answer(const struct peer *peer, const struct mts_wire_request *request, void *argument,
		   int passed)
{
	size_t wanted = _IOC_DIR(request->cmd) & _IOC_WRITE ? _IOC_SIZE(request->cmd) : 0;
	unsigned int cmd = request->cmd;
	int err;

	if (!mts_command_is_list(cmd) && !mts_command_is_known(cmd) && cmd != MTS_IOC_JOB_TAKE)
		return reply(peer->fd, -ENOTTY, NULL, 0);
	if (request->size != wanted)
		return reply(peer->fd, -EINVAL, NULL, 0);
	if (mts_command_is_list(cmd))
		return answer_list(peer, cmd, argument);
	err = command(peer, cmd, argument, passed);
	return reply(peer->fd, err, argument, _IOC_DIR(cmd) & _IOC_READ ? _IOC_SIZE(cmd) : 0);
}

/*
 * Of a user. If the database hangs, so does this thread alone: it waits for no other one, and root
 * is not asked about.
 */
static void find_user(struct caller *caller, struct peer *its, const struct ucred *peer)
{
	if (mts_users_has_account(peer->uid))
		its->is_member = mts_users_is_member(its->fd, peer->gid);
	else
		__atomic_store_n(&caller->uid, RIGHTS_NOBODY, __ATOMIC_RELAXED);
}

/* The process at the other end, as mts_user_caller() of this thread, and what it may ask. */
static struct peer read_peer(struct caller *place)
{
	int fd = place->fd;
	struct mts_user_caller *caller = mts_user_caller();
	struct peer its = { .fd = fd };
	struct ucred peer = { 0 };
	socklen_t size = sizeof(peer);
	char path[32];
	ssize_t length;
	int comm;

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size))
		peer = (struct ucred){ .uid = RIGHTS_NOBODY, .gid = RIGHTS_NOBODY };
	caller->pid = peer.pid;
	caller->uid = peer.uid;
	its.is_ours = is_ours(peer.uid);
	if (!its.is_ours)
		find_user(place, &its, &peer);
	strscpy(caller->comm, "?", sizeof(caller->comm));
	snprintf(path, sizeof(path), "/proc/%d/comm", peer.pid);
	comm = open(path, O_RDONLY | O_CLOEXEC);
	if (comm < 0)
		return its;
	length = read(comm, caller->comm, sizeof(caller->comm) - 1);
	close(comm);
	caller->comm[max_t(ssize_t, length, 1) - 1] = '\0'; /* it ends in a newline */
	return its;
}

static void set_answers(struct caller *caller, bool answers)
{
	__atomic_store_n(&caller->since, ktime_get_ns(), __ATOMIC_SEQ_CST);
	__atomic_store_n(&caller->answers, answers, __ATOMIC_SEQ_CST);
}

static bool is_answering(const struct caller *caller)
{
	return __atomic_load_n(&caller->answers, __ATOMIC_SEQ_CST);
}

/* Return: false: the connection is of no more use. */
static bool take_request(struct caller *caller, const struct peer *peer,
			 const struct mts_wire_request *request, int passed)
{
	u64 *argument;
	bool ok;

	if (request->size > MTS_WIRE_ARGUMENT_MAX)
		return false;
	argument = calloc(1, max_t(size_t, _IOC_SIZE(request->cmd), request->size) + 1);
	ok = argument && mts_wire_read(caller->fd, argument, request->size);
	set_answers(caller, true);
	if (ok && __atomic_load_n(&caller->leaves, __ATOMIC_SEQ_CST)) {
		reply(caller->fd, -EAGAIN, NULL, 0);
		ok = false;
	}
	ok = ok && answer(peer, request, argument, passed);
	set_answers(caller, false);
	free(argument);
	return ok;
}

static int caller_main(void *data)
{
	struct caller *caller = data;
	struct mts_wire_request request;
	struct peer peer = read_peer(caller);
	bool ok = true;
	int passed;

	while (ok && read_request(&peer, &request, &passed)) {
		ok = take_request(caller, &peer, &request, passed);
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

static void reap(struct caller *callers)
{
	u32 i;

	for (i = 0; i < CALLERS_MAX; i++) {
		struct caller *caller = &callers[i];

		if (!caller->thread || !is_done(caller))
			continue;
		kthread_stop(caller->thread);
		close(caller->fd);
		caller->thread = NULL;
	}
}

/* ---- places ------------------------------------------------------------------------------ */

static uid_t user_of(const struct caller *caller)
{
	return __atomic_load_n(&caller->uid, __ATOMIC_RELAXED);
}

static bool is_of_user(uid_t its, uid_t uid)
{
	return its == uid;
}

static bool is_of_users(uid_t its, uid_t uid)
{
	return !is_ours(its);
}

static bool is_any(uid_t its, uid_t uid)
{
	return true;
}

/* How many callers there may be of those that a new one of user @uid counts with. */
struct limit {
	bool (*counts)(uid_t its, uid_t uid);
	u32 max;
};

static const struct limit limits[] = {
	{ is_of_user, MTS_WIRE_USER_CALLERS },
	{ is_of_users, USERS_CALLERS_MAX },
	{ is_any, CALLERS_MAX },
};

static bool is_counted(const struct caller *caller, const struct limit *limit, uid_t uid)
{
	return caller->thread && limit->counts(user_of(caller), uid);
}

static u32 count(const struct caller *callers, const struct limit *limit, uid_t uid)
{
	u32 i, n = 0;

	for (i = 0; i < CALLERS_MAX; i++)
		n += is_counted(&callers[i], limit, uid);
	return n;
}

/* The limit that one more caller of this user would exceed; NULL: none. */
static const struct limit *reached(const struct caller *callers, uid_t uid)
{
	u32 i;

	/* Root, and who mtsd runs as, have no limit but the last. */
	for (i = is_ours(uid) ? ARRAY_SIZE(limits) - 1 : 0; i < ARRAY_SIZE(limits); i++)
		if (count(callers, &limits[i], uid) >= limits[i].max)
			return &limits[i];
	return NULL;
}

/* It leaves, or has closed its end, and its thread may not have had a processor since. */
static bool is_leaving(const struct caller *caller)
{
	struct pollfd end = { .fd = caller->fd };

	return caller->thread &&
	       (caller->leaves || (poll(&end, 1, 0) > 0 && (end.revents & POLLHUP)));
}

static bool is_one_leaving(const struct caller *callers, const struct limit *limit, uid_t uid)
{
	u32 i;

	for (i = 0; i < CALLERS_MAX; i++)
		if (is_counted(&callers[i], limit, uid) && !callers[i].waited &&
		    is_leaving(&callers[i]))
			return true;
	return false;
}

static void wait_no_more(struct caller *callers)
{
	u32 i;

	for (i = 0; i < CALLERS_MAX; i++)
		callers[i].waited |= is_leaving(&callers[i]);
}

/* Of two that ask nothing: that of the user who has more; then the one that has asked before. */
static bool goes_before(const struct caller *callers, const struct caller *a,
			const struct caller *b)
{
	u32 a_has = count(callers, &limits[0], user_of(a));
	u32 b_has = count(callers, &limits[0], user_of(b));

	if (a_has != b_has)
		return a_has > b_has;
	return __atomic_load_n(&a->since, __ATOMIC_SEQ_CST) <
	       __atomic_load_n(&b->since, __ATOMIC_SEQ_CST);
}

/* Tell one to leave that asks nothing. Return: false: there is none. */
static bool make_room(struct caller *callers, const struct limit *limit, uid_t uid)
{
	struct caller *first = NULL;
	u32 i;

	for (i = 0; i < CALLERS_MAX; i++) {
		struct caller *caller = &callers[i];

		if (is_counted(caller, limit, uid) && !is_answering(caller) &&
		    !is_leaving(caller) && (!first || goes_before(callers, caller, first)))
			first = caller;
	}
	if (!first)
		return false;
	/*
	 * In this order: a request that it has sent until now is read, and is answered with EAGAIN,
	 * or carried out. From now on it can send none: EPIPE tells it that.
	 */
	__atomic_store_n(&first->leaves, true, __ATOMIC_SEQ_CST);
	shutdown(first->fd, SHUT_RD);
	return true;
}

/* NULL: all are taken by callers that are being answered. */
static struct caller *find_place(struct caller *callers, uid_t uid)
{
	const struct limit *limit;
	u32 i, ms;

	for (ms = 0; (limit = reached(callers, uid)); ms++) {
		if (ms == REAP_LIMIT_MS)
			wait_no_more(callers);
		if (ms == REAP_LIMIT_MS ||
		    (!is_one_leaving(callers, limit, uid) && !make_room(callers, limit, uid)))
			return NULL;
		usleep_range(REAP_PAUSE_US, 2 * REAP_PAUSE_US);
		reap(callers);
	}
	for (i = 0; callers[i].thread; i++)
		;
	return &callers[i];
}

/* What it has sent is read: else the end of the connection might reach it before the reply does. */
static void refuse(int fd)
{
	char rest[4096];

	shutdown(fd, SHUT_RD);
	reply(fd, -EAGAIN, NULL, 0);
	while (recv(fd, rest, sizeof(rest), MSG_DONTWAIT) > 0)
		;
	close(fd);
}

static void serve(struct caller *callers, int fd)
{
	const struct timeval limit = { .tv_sec = SEND_LIMIT_S };
	struct ucred peer = { .uid = RIGHTS_NOBODY };
	socklen_t size = sizeof(peer);
	struct task_struct *thread;
	struct caller *caller;

	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
	getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size);
	caller = find_place(callers, peer.uid);
	if (!caller) {
		pr_notice_ratelimited("too many callers: one of user %u is refused\n", peer.uid);
		refuse(fd);
		return;
	}
	thread = kthread_create(caller_main, caller, "mts_caller");
	if (IS_ERR(thread)) {
		close(fd);
		return;
	}
	*caller = (struct caller){
		.thread = thread, .fd = fd, .uid = peer.uid, .since = ktime_get_ns()
	};
	wake_up_process(thread);
}

static bool is_any_busy(const struct caller *callers, bool answers)
{
	u32 i;

	for (i = 0; i < CALLERS_MAX; i++)
		if (callers[i].thread && !is_done(&callers[i]) &&
		    (!answers || is_answering(&callers[i])))
			return true;
	return false;
}

/* Wait for commands that are being carried out. */
static void end_callers(struct caller *callers)
{
	u32 i, ms;

	for (i = 0; i < CALLERS_MAX; i++)
		if (callers[i].thread)
			shutdown(callers[i].fd, SHUT_RDWR);
	for (ms = 0; is_any_busy(callers, ms >= REAP_LIMIT_MS); ms++)
		usleep_range(REAP_PAUSE_US, 2 * REAP_PAUSE_US);
	reap(callers);
}

static int acceptor_main(void *data)
{
	struct door *door = data;
	struct caller *callers = door->callers;

	while (!kthread_should_stop()) {
		struct pollfd fds[] = {
			{ .fd = stop, .events = POLLIN },
			{ .fd = door->fd, .events = POLLIN },
		};
		int fd;

		poll(fds, ARRAY_SIZE(fds), -1);
		reap(callers);
		if (!fds[1].revents)
			continue;
		fd = accept4(door->fd, NULL, NULL, SOCK_CLOEXEC);
		if (fd >= 0)
			serve(callers, fd);
		else if (errno != EINTR && errno != ECONNABORTED)
			msleep(100);
	}
	end_callers(callers);
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

	backend = behind;
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

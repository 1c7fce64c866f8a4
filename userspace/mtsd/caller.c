// SPDX-License-Identifier: GPL-2.0
#define _GNU_SOURCE
#include "mtsd/caller.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "context.h"
#include "mtsd/request.h"
#include "mtsd/rights.h"
#include "mtsd/users.h"
#include "mtsd/wire.h"

/*
 * Of a user. If the database hangs, so does this thread alone: it waits for no other one, and root
 * is not asked about.
 */
static void find_user(struct mts_caller *caller, struct mts_peer *its, const struct ucred *peer)
{
	if (mts_users_has_account(peer->uid))
		its->is_member = mts_users_is_member(its->fd, peer->gid);
	else
		__atomic_store_n(&caller->uid, RIGHTS_NOBODY, __ATOMIC_RELAXED);
}

/* The process at the other end, as mts_user_caller() of this thread, and what it may ask. */
static struct mts_peer read_peer(struct mts_caller *place)
{
	int fd = place->fd;
	struct mts_user_caller *caller = mts_user_caller();
	struct mts_peer its = { .fd = fd };
	struct ucred peer = { 0 };
	socklen_t size = sizeof(peer);
	char path[32];
	ssize_t length;
	int comm;

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size))
		peer = (struct ucred){ .uid = RIGHTS_NOBODY, .gid = RIGHTS_NOBODY };
	caller->pid = peer.pid;
	caller->uid = peer.uid;
	its.is_ours = mts_is_ours(peer.uid);
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

static void set_answers(struct mts_caller *caller, bool answers)
{
	__atomic_store_n(&caller->since, ktime_get_ns(), __ATOMIC_SEQ_CST);
	__atomic_store_n(&caller->answers, answers, __ATOMIC_SEQ_CST);
}

/* Return: false: the connection is of no more use. */
static bool take_request(struct mts_caller *caller, const struct mts_peer *peer,
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
		mts_reply(caller->fd, -EAGAIN, NULL, 0);
		ok = false;
	}
	ok = ok && mts_request_answer(peer, request, argument, passed);
	set_answers(caller, false);
	free(argument);
	return ok;
}

static int caller_main(void *data)
{
	struct mts_caller *caller = data;
	struct mts_wire_request request;
	struct mts_peer peer = read_peer(caller);
	bool ok = true;
	int passed;

	while (ok && mts_request_read(&peer, &request, &passed)) {
		ok = take_request(caller, &peer, &request, passed);
		if (passed >= 0)
			close(passed);
	}
	shutdown(caller->fd, SHUT_RDWR);
	__atomic_store_n(&caller->done, true, __ATOMIC_RELEASE);
	return 0;
}

int mts_caller_start(struct mts_caller *caller, int fd, uid_t uid)
{
	struct task_struct *thread = kthread_create(caller_main, caller, "mts_caller");

	if (IS_ERR(thread))
		return PTR_ERR(thread);
	*caller = (struct mts_caller){
		.thread = thread, .fd = fd, .uid = uid, .since = ktime_get_ns()
	};
	wake_up_process(thread);
	return 0;
}

void mts_caller_leave(struct mts_caller *caller)
{
	/*
	 * In this order: a request that it has sent until now is read, and is answered with EAGAIN,
	 * or carried out. From now on it can send none: EPIPE tells it that.
	 */
	__atomic_store_n(&caller->leaves, true, __ATOMIC_SEQ_CST);
	shutdown(caller->fd, SHUT_RD);
}

void mts_caller_reap(struct mts_caller *caller)
{
	kthread_stop(caller->thread);
	close(caller->fd);
	caller->thread = NULL;
}

uid_t mts_caller_user(const struct mts_caller *caller)
{
	return __atomic_load_n(&caller->uid, __ATOMIC_RELAXED);
}

bool mts_caller_answers(const struct mts_caller *caller)
{
	return __atomic_load_n(&caller->answers, __ATOMIC_SEQ_CST);
}

bool mts_caller_is_done(const struct mts_caller *caller)
{
	return __atomic_load_n(&caller->done, __ATOMIC_ACQUIRE);
}

bool mts_caller_is_leaving(const struct mts_caller *caller)
{
	struct pollfd end = { .fd = caller->fd };

	return caller->thread &&
	       (caller->leaves || (poll(&end, 1, 0) > 0 && (end.revents & POLLHUP)));
}

// SPDX-License-Identifier: GPL-2.0
/* The guardian as mtsd sees it: engine/own.h. */
#define _GNU_SOURCE
#include "mtsd/guardian.h"

#include <poll.h>
#include <spawn.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "engine/cgroup.h"
#include "engine/own.h"
#include "events/wake.h"
#include "jobs/gate.h"
#include "jobs/thaw.h"
#include "mts.h"
#include "mtsd/guardian_wire.h"

/* Ten times in the guardian's limit, guardian_process.c. */
#define BEAT_MS 100
/*
 * A guardian that takes no message for so long is stuck: its socket has room for some hundred. It
 * is far less than the 10 s after which the watchdog takes the rotor for stuck (events/promise.c).
 */
#define TELL_LIMIT_US 500000
/* With no job frozen it ends within some ms. */
#define END_LIMIT_MS 2000
/* A guardian that ends sooner is not replaced at once. */
#define SHORT_LIFE_NS ((u64)NSEC_PER_SEC)

static struct record *record;
static int record_fd = -1;
static struct cgroup *slots[RECORD_ENTRIES]; /* under slots_lock */
static DEFINE_MUTEX(slots_lock);
static DECLARE_WAIT_QUEUE_HEAD(beat_wait);

static struct guardian {
	pid_t pid; /* 0: there is none */
	int pidfd;
	int socket;
	u64 born;
} guardian = { .pidfd = -1, .socket = -1 }; /* @pid and @socket are written under slots_lock */

static int stop = -1;
static struct task_struct *watcher, *beater;

pid_t mts_own_guardian(void)
{
	return READ_ONCE(guardian.pid);
}

/* ---- what it learns ---------------------------------------------------------------------- */

/* Called with slots_lock held, for which a freeze may wait. */
static void tell(enum guardian_what what, u32 slot, int fd)
{
	union {
		struct cmsghdr header;
		char room[CMSG_SPACE(sizeof(int))];
	} control = { 0 };
	struct guardian_message message = { .what = what, .slot = slot };
	struct iovec io = { &message, sizeof(message) };
	struct msghdr msg = { .msg_iov = &io, .msg_iovlen = 1 };

	if (fd >= 0) {
		msg.msg_control = &control;
		msg.msg_controllen = sizeof(control);
		control.header = (struct cmsghdr){ .cmsg_len = CMSG_LEN(sizeof(int)),
						   .cmsg_level = SOL_SOCKET,
						   .cmsg_type = SCM_RIGHTS };
		memcpy(CMSG_DATA(&control.header), &fd, sizeof(fd));
	}
	/* What is in the socket the guardian reads, also if this process has ended since. */
	if (sendmsg(guardian.socket, &msg, MSG_NOSIGNAL) >= 0 || errno != EAGAIN)
		return;
	/* The watcher starts another one, which learns all. Until then sends fail at once. */
	pr_err("the guardian reads nothing: it is killed\n");
	syscall(SYS_pidfd_send_signal, guardian.pidfd, SIGKILL, NULL, 0);
	shutdown(guardian.socket, SHUT_WR);
}

int mts_guardian_learn(struct cgroup *cgrp)
{
	u32 slot;
	int err = 0;

	if (strlen(cgrp->path) >= RECORD_PATH)
		return -ENAMETOOLONG;
	mutex_lock(&slots_lock);
	for (slot = 0; slot < RECORD_ENTRIES && slots[slot]; slot++)
		;
	if (slot == RECORD_ENTRIES) {
		err = -ENOSPC;
	} else {
		slots[slot] = cgrp;
		strscpy(record->entries[slot].path, cgrp->path, RECORD_PATH);
		record_set(record, slot, RECORD_KNOWN);
		if (slot >= record->used)
			__atomic_store_n(&record->used, slot + 1, __ATOMIC_SEQ_CST);
		cgrp->slot = slot;
		/* Without a guardian: the next one learns it. */
		if (guardian.pid)
			tell(GUARDIAN_LEARN, slot, cgrp->freeze);
	}
	mutex_unlock(&slots_lock);
	return err;
}

void mts_guardian_forget(struct cgroup *cgrp)
{
	mutex_lock(&slots_lock);
	if (cgrp->slot >= 0 && slots[cgrp->slot] == cgrp) {
		slots[cgrp->slot] = NULL;
		record_set(record, cgrp->slot, RECORD_FREE);
		if (guardian.pid)
			tell(GUARDIAN_FORGET, cgrp->slot, -1);
		cgrp->slot = -1;
	}
	mutex_unlock(&slots_lock);
}

int mts_guardian_note(struct cgroup *cgrp, bool frozen)
{
	if (cgrp->slot < 0)
		return frozen ? -ECANCELED : 0;
	if (!frozen) {
		record_set(record, cgrp->slot, RECORD_KNOWN);
		return 0;
	}
	if (!mts_own_guardian())
		return -ECANCELED;
	__atomic_store_n(&record->beat, ktime_get_ns(), __ATOMIC_SEQ_CST);
	record_set(record, cgrp->slot, RECORD_FROZEN);
	if (__atomic_load_n(&record->frozen, __ATOMIC_SEQ_CST) == 1) {
		mutex_lock(&slots_lock);
		if (guardian.pid)
			tell(GUARDIAN_LOOK, 0, -1);
		mutex_unlock(&slots_lock);
		wake_up(&beat_wait);
	}
	return 0;
}

/* ---- its life ---------------------------------------------------------------------------- */

static int start(void)
{
	static const struct timeval limit = { .tv_usec = TELL_LIMIT_US };
	char *const argv[] = { "mtsd", "--guardian", NULL };
	posix_spawn_file_actions_t actions;
	int pair[2], err;
	u32 slot;
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
		return -errno;
	posix_spawn_file_actions_init(&actions);
	/* By way of higher numbers: one of the two may be 3 or 4 itself. */
	pair[1] = fcntl(pair[1], F_DUPFD_CLOEXEC, 10);
	posix_spawn_file_actions_adddup2(&actions, pair[1], GUARDIAN_SOCKET_FD);
	posix_spawn_file_actions_adddup2(&actions, record_fd, GUARDIAN_RECORD_FD);
	err = posix_spawn(&pid, "/proc/self/exe", &actions, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	close(pair[1]);
	if (err) {
		close(pair[0]);
		return -err;
	}
	setsockopt(pair[0], SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
	mutex_lock(&slots_lock);
	guardian.socket = pair[0];
	guardian.pidfd = syscall(SYS_pidfd_open, pid, 0);
	guardian.born = ktime_get_ns();
	WRITE_ONCE(guardian.pid, pid);
	for (slot = 0; slot < RECORD_ENTRIES; slot++)
		if (slots[slot])
			tell(GUARDIAN_LEARN, slot, slots[slot]->freeze);
	mutex_unlock(&slots_lock);
	return 0;
}

/* It has ended, or is to: it ends when the socket is closed. */
static void bury(void)
{
	struct pollfd end = { .fd = guardian.pidfd, .events = POLLIN };

	mutex_lock(&slots_lock);
	close(guardian.socket);
	guardian.socket = -1;
	/* A stopped one does not end by itself. */
	if (poll(&end, 1, END_LIMIT_MS) <= 0)
		syscall(SYS_pidfd_send_signal, guardian.pidfd, SIGKILL, NULL, 0);
	waitpid(guardian.pid, NULL, 0);
	close(guardian.pidfd);
	guardian.pidfd = -1;
	WRITE_ONCE(guardian.pid, 0);
	mutex_unlock(&slots_lock);
}

static void replace(void)
{
	u64 age = ktime_get_ns() - guardian.born;
	int err;

	/* Before the gate closes: from now on nothing is frozen. */
	bury();
	mts_thaw_and_stop(MTS_REASON_ERROR, "mtsd's guardian has ended; another one is started");
	if (age < SHORT_LIFE_NS)
		msleep(SHORT_LIFE_NS / NSEC_PER_MSEC);
	while ((err = start()) && !kthread_should_stop()) {
		pr_err_ratelimited("the guardian cannot be started: %s\n", strerror(-err));
		msleep(SHORT_LIFE_NS / NSEC_PER_MSEC);
	}
	if (!err)
		mts_gate_open(MTS_REASON_ERROR);
	/* The rotor has not seen that all jobs were thawed: a new round. */
	mts_wake_rotor(MTS_ROTOR_EV_CONFIG);
}

static int watcher_main(void *unused)
{
	sched_set_fifo(current);
	while (!kthread_should_stop()) {
		struct pollfd fds[] = {
			{ .fd = stop, .events = POLLIN },
			{ .fd = guardian.pidfd, .events = POLLIN },
		};

		poll(fds, ARRAY_SIZE(fds), -1);
		if (!kthread_should_stop() && fds[1].revents)
			replace();
	}
	return 0;
}

static bool is_any_frozen(void)
{
	return __atomic_load_n(&record->frozen, __ATOMIC_SEQ_CST);
}

static int beater_main(void *unused)
{
	sched_set_fifo(current);
	while (!kthread_should_stop()) {
		wait_event_idle(beat_wait, is_any_frozen() || kthread_should_stop());
		__atomic_store_n(&record->beat, ktime_get_ns(), __ATOMIC_SEQ_CST);
		msleep(BEAT_MS);
	}
	return 0;
}

int mts_guardian_init(struct record *new_record, int fd)
{
	int err;

	record = new_record;
	/* The guardian's own descriptors are 3 and 4. */
	record_fd = fcntl(fd, F_DUPFD_CLOEXEC, 10);
	stop = eventfd(0, EFD_CLOEXEC);
	if (record_fd < 0 || stop < 0)
		return -errno;
	err = start();
	if (err) {
		pr_err("the guardian cannot be started: %s\n", strerror(-err));
		return err;
	}
	watcher = kthread_create(watcher_main, NULL, "mts_watcher");
	beater = kthread_create(beater_main, NULL, "mts_beat");
	if (IS_ERR(watcher) || IS_ERR(beater))
		return -ENOMEM;
	wake_up_process(watcher);
	wake_up_process(beater);
	return 0;
}

void mts_guardian_exit(void)
{
	kthread_stop(beater);
	mts_user_stop_polling(watcher, stop);
	if (mts_own_guardian())
		bury();
	close(stop);
	close(record_fd);
}

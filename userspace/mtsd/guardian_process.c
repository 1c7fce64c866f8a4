// SPDX-License-Identifier: GPL-2.0
/* The guardian's own process. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "mtsd/guardian.h"
#include "mtsd/guardian_wire.h"

/*
 * mtsd beats ten times a second while a job is frozen. Its thread has a real-time priority and
 * locked memory, so that a second without a beat means that the process is stopped or stuck.
 */
#define BEAT_LIMIT_NS 1000000000ull
#define LOOK_MS 250
/* Between two attempts to thaw what could not be thawed, and how many there are: a minute. */
#define RETRY_NS 20000000l
#define RETRIES 3000

static int fds[RECORD_ENTRIES];

/* Within a limit, later allocations would fail at it: all of the address space counts. */
static bool may_lock(void)
{
	struct rlimit lock;

	return !geteuid() || (!getrlimit(RLIMIT_MEMLOCK, &lock) && lock.rlim_cur == RLIM_INFINITY);
}

void guardian_harden(void)
{
	int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);

	/* Not permitted to users: then the OOM killer may choose it, and the other one thaws. */
	if (fd >= 0) {
		(void)!pwrite(fd, "-1000", 5, 0);
		close(fd);
	}
	if (may_lock() && mlockall(MCL_CURRENT | MCL_FUTURE | MCL_ONFAULT))
		return;
}

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000ull + t.tv_nsec;
}

static void say(const char *format, unsigned int n)
{
	char line[128];
	int length = snprintf(line, sizeof(line), format, n);

	if (length > 0 && write(STDERR_FILENO, line, length) < 0)
		return;
}

static void thaw_all(struct record *record, bool ended, const char *why)
{
	unsigned int thawed, sum = 0, left;
	int i;

	for (i = 0; i < RETRIES; i++) {
		left = record_thaw(record, fds, ended, &thawed);
		sum += thawed;
		if (!left)
			break;
		clock_nanosleep(CLOCK_MONOTONIC, 0, &(struct timespec){ .tv_nsec = RETRY_NS },
				NULL);
	}
	if (sum)
		say(why, sum);
}

static void take_fd(uint32_t slot, int fd)
{
	if (slot >= RECORD_ENTRIES) {
		if (fd >= 0)
			close(fd);
		return;
	}
	if (fds[slot] >= 0)
		close(fds[slot]);
	fds[slot] = fd;
}

/* Return: false: mtsd has ended. */
static bool receive(int from)
{
	union {
		struct cmsghdr header;
		char room[CMSG_SPACE(sizeof(int))];
	} control;
	struct guardian_message message;
	struct iovec io = { &message, sizeof(message) };
	struct msghdr msg = { .msg_iov = &io,
			      .msg_iovlen = 1,
			      .msg_control = &control,
			      .msg_controllen = sizeof(control) };
	ssize_t got = recvmsg(from, &msg, MSG_CMSG_CLOEXEC);
	struct cmsghdr *header;
	int fd = -1;

	if (got < 0)
		return errno == EINTR || errno == EAGAIN;
	if (!got)
		return false;
	header = CMSG_FIRSTHDR(&msg);
	if (header && header->cmsg_type == SCM_RIGHTS)
		memcpy(&fd, CMSG_DATA(header), sizeof(fd));
	if (message.what == GUARDIAN_LEARN || message.what == GUARDIAN_FORGET)
		take_fd(message.slot, fd);
	return true;
}

static void look(struct record *record)
{
	uint64_t beat = __atomic_load_n(&record->beat, __ATOMIC_SEQ_CST), now = now_ns();

	if (__atomic_load_n(&record->frozen, __ATOMIC_SEQ_CST) && now > beat + BEAT_LIMIT_NS)
		thaw_all(record, false, "mtsd: guardian: mtsd stands still: %u jobs thawed\n");
}

_Noreturn void guardian_main(void)
{
	struct record *record = record_map(GUARDIAN_RECORD_FD);
	struct pollfd from = { .fd = GUARDIAN_SOCKET_FD, .events = POLLIN };
	struct rlimit files;
	unsigned int i;
	bool alive = true;

	if (!record)
		_exit(1);
	for (i = 0; i < RECORD_ENTRIES; i++)
		fds[i] = -1;
	/* A terminal or a service manager may signal the whole group: only mtsd's end counts. */
	setsid();
	for (i = 1; i < 32; i++)
		if (i != SIGKILL && i != SIGSTOP && i != SIGSEGV && i != SIGBUS && i != SIGABRT)
			signal(i, SIG_IGN);
	prctl(PR_SET_NAME, "mtsd-guardian");
	if (!getrlimit(RLIMIT_NOFILE, &files)) {
		files.rlim_cur = files.rlim_max;
		setrlimit(RLIMIT_NOFILE, &files);
	}
	setpriority(PRIO_PROCESS, 0, -20);
	guardian_harden();
	while (alive) {
		bool frozen = __atomic_load_n(&record->frozen, __ATOMIC_SEQ_CST);
		int n = poll(&from, 1, frozen ? LOOK_MS : -1);

		if (n > 0)
			alive = receive(GUARDIAN_SOCKET_FD);
		else
			look(record);
	}
	thaw_all(record, true, "mtsd: guardian: mtsd has ended: %u jobs thawed\n");
	_exit(0);
}

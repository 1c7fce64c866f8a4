// SPDX-License-Identifier: GPL-2.0
#include "program.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MS 1000000ull
#define SECOND (1000 * MS)
/* The end of a process is no event of its pipes: it is looked for so often. */
#define LOOK_NS (50 * MS)
/* A process that is killed ends within milliseconds, unless the kernel waits for a file system. */
#define KILL_LIMIT_NS (2 * SECOND)

struct text {
	int fd;
	char *text;
	size_t used;
};

static u64 now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * SECOND + ts.tv_nsec;
}

/* Return: 0 or -errno. */
static int start(char *const argv[], int output, int errors, pid_t *pid)
{
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attributes;
	sigset_t none, all;
	int err;

	sigemptyset(&none);
	sigfillset(&all);
	posix_spawn_file_actions_init(&files);
	posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_adddup2(&files, output, STDOUT_FILENO);
	posix_spawn_file_actions_adddup2(&files, errors, STDERR_FILENO);
	posix_spawnattr_init(&attributes);
	/* Without a terminal: it may run as another user, who could type commands there. */
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK |
						      POSIX_SPAWN_SETSIGDEF);
	posix_spawnattr_setsigmask(&attributes, &none);
	posix_spawnattr_setsigdefault(&attributes, &all);
	err = posix_spawnp(pid, argv[0], &files, &attributes, argv, environ);
	posix_spawnattr_destroy(&attributes);
	posix_spawn_file_actions_destroy(&files);
	return -err;
}

/* What is there. Return: false: it is too much. */
static bool take(struct text *text)
{
	ssize_t got = 1;

	while (text->fd >= 0 && text->used < PROGRAM_OUTPUT_MAX &&
	       (got = read(text->fd, text->text + text->used, PROGRAM_OUTPUT_MAX - text->used)) > 0)
		text->used += got;
	if (!got) {
		close(text->fd);
		text->fd = -1;
	}
	return text->used < PROGRAM_OUTPUT_MAX;
}

/* Return: @err, or -EBUSY. */
static int end_session(pid_t pid, int err)
{
	const struct timespec pause = { .tv_nsec = MS };
	u64 end = now_ns() + KILL_LIMIT_NS;

	kill(-pid, SIGKILL);
	while (!waitpid(pid, NULL, WNOHANG)) {
		if (now_ns() >= end)
			return -EBUSY;
		nanosleep(&pause, NULL);
	}
	return err;
}

/* Return: 0 or -errno. Its children may keep the pipes open: its own end counts. */
static int attend(struct text texts[2], pid_t pid, u64 end, int *status)
{
	for (;;) {
		struct pollfd fds[] = { { .fd = texts[0].fd, .events = POLLIN },
					{ .fd = texts[1].fd, .events = POLLIN } };
		bool has_ended = waitpid(pid, status, WNOHANG) == pid;
		u64 now = now_ns();

		if (!take(&texts[0]) || !take(&texts[1])) {
			if (!has_ended)
				return end_session(pid, -EFBIG);
			kill(-pid, SIGKILL);
			return -EFBIG;
		}
		if (has_ended)
			return 0;
		if (now >= end)
			return end_session(pid, -ETIMEDOUT);
		poll(fds, 2, (mts_min(LOOK_NS, end - now) + MS - 1) / MS);
	}
}

static void take_last_line(char complaint[PROGRAM_COMPLAINT], const struct text *errors)
{
	const char *end = errors->text + errors->used, *from;
	size_t length;

	while (end > errors->text && strchr(" \t\r\n", end[-1]))
		end--;
	for (from = end; from > errors->text && from[-1] != '\n'; from--)
		;
	length = mts_min((size_t)(end - from), (size_t)PROGRAM_COMPLAINT - 1);
	memcpy(complaint, from, length);
	complaint[length] = '\0';
}

static int make_pipe(struct text *text, int *write_end)
{
	int ends[2];

	text->text = malloc(PROGRAM_OUTPUT_MAX + 1);
	if (!text->text)
		return -ENOMEM;
	if (pipe2(ends, O_CLOEXEC))
		return -errno;
	fcntl(ends[0], F_SETFL, O_NONBLOCK);
	text->fd = ends[0];
	*write_end = ends[1];
	return 0;
}

int program_ask(char *const argv[], u64 limit_ns, struct program_answer *answer)
{
	struct text texts[2] = { { .fd = -1 }, { .fd = -1 } };
	u64 end = now_ns() + limit_ns;
	int ends[2] = { -1, -1 };
	pid_t pid;
	int ret;

	*answer = (struct program_answer){ 0 };
	ret = make_pipe(&texts[0], &ends[0]);
	if (!ret)
		ret = make_pipe(&texts[1], &ends[1]);
	if (!ret)
		ret = start(argv, ends[0], ends[1], &pid);
	for (int i = 0; i < 2; i++)
		if (ends[i] >= 0)
			close(ends[i]);
	if (!ret)
		ret = attend(texts, pid, end, &answer->status);
	if (!ret) {
		take_last_line(answer->complaint, &texts[1]);
		answer->output = texts[0].text;
		answer->size = texts[0].used;
		answer->output[answer->size] = '\0';
		texts[0].text = NULL;
	}
	for (int i = 0; i < 2; i++) {
		free(texts[i].text);
		if (texts[i].fd >= 0)
			close(texts[i].fd);
	}
	return ret;
}

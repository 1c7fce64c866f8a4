// SPDX-License-Identifier: GPL-2.0
#include "shell.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "spawn.h"
#include "util.h"

#define PATIENCE (60ull * NS_PER_S) /* with commands */
#define GRACE (1ull * NS_PER_S) /* of the daemon */
#define STEP (2u * NS_PER_S / 1000u)
#define OUTPUT_SIZE (256 * KIB)

static struct shell shell_daemon_state, command_state;

const struct shell *shell_daemon(void)
{
	return &shell_daemon_state;
}

bool shell_ended(pid_t pid, int wait_status)
{
	struct shell *shell;

	if (pid == shell_daemon_state.pid)
		shell = &shell_daemon_state;
	else if (pid == command_state.pid)
		shell = &command_state;
	else
		return false;
	shell->ended = true;
	shell->wait_status = wait_status;
	shell->ended_ns = now_ns();
	return true;
}

static void start(struct shell *shell, char *const *argv, int output_fd)
{
	const struct spawn what = {
		.argv = argv,
		.envp = environ,
		.output_fd = output_fd,
		.error_fd = STDERR_FILENO,
	};

	*shell = (struct shell){ 0 };
	shell->pid = spawn(&what);
}

static void start_command(struct shell *shell, const char *command, int output_fd)
{
	char *const argv[] = { "/bin/sh", "-c", (char *)command, NULL };

	start(shell, argv, output_fd);
}

void shell_start_daemon(const char *command)
{
	start_command(&shell_daemon_state, command, STDERR_FILENO);
}

bool shell_owns(const struct process *process)
{
	for (; process; process = process_find(process->parent))
		if (shell_daemon_state.pid && process->session == shell_daemon_state.pid)
			return true;
	return false;
}

static bool wait_ended(struct jobs *jobs, const struct shell *shell, uint64_t deadline)
{
	for (;;) {
		jobs_reap(jobs);
		if (shell->ended)
			return true;
		if (now_ns() >= deadline)
			return false;
		pause_ns(STEP);
	}
}

void shell_stop_daemon(struct jobs *jobs)
{
	const struct process *list;
	size_t count;

	if (!shell_daemon_state.pid)
		return;
	kill(-shell_daemon_state.pid, SIGTERM);
	wait_ended(jobs, &shell_daemon_state, now_ns() + GRACE);
	kill(-shell_daemon_state.pid, SIGKILL);
	count = processes_read(&list);
	for (size_t i = 0; i < count; i++)
		if (shell_owns(&list[i]))
			kill(list[i].pid, SIGKILL);
	wait_ended(jobs, &shell_daemon_state, now_ns() + PATIENCE);
}

/* Until the end of the file, or the deadline. Returns the length; OUTPUT_SIZE: too much. */
static size_t read_until(int fd, char *buffer, uint64_t deadline)
{
	size_t length = 0;

	while (length < OUTPUT_SIZE) {
		struct pollfd poll_fd = { .fd = fd, .events = POLLIN };
		uint64_t now = now_ns();
		ssize_t got;

		if (now >= deadline ||
		    poll(&poll_fd, 1, (int)((deadline - now) / 1000000u) + 1) <= 0)
			break;
		got = read(fd, buffer + length, OUTPUT_SIZE - length);
		if (got <= 0)
			break;
		length += (size_t)got;
	}
	return length;
}

static void finish_command(struct jobs *jobs, const char *name, uint64_t deadline)
{
	int status;

	if (!wait_ended(jobs, &command_state, deadline)) {
		kill(-command_state.pid, SIGKILL);
		wait_ended(jobs, &command_state, now_ns() + PATIENCE);
		warn("%s: did not end: killed", name);
		return;
	}
	status = command_state.wait_status;
	if (WIFSIGNALED(status))
		warn("%s: killed by signal %d", name, WTERMSIG(status));
	else if (WEXITSTATUS(status))
		warn("%s: exit status %d", name, WEXITSTATUS(status));
}

json_t *shell_object(struct jobs *jobs, const char *command)
{
	const uint64_t deadline = now_ns() + PATIENCE;
	char *buffer = allocate(1, OUTPUT_SIZE);
	json_error_t error;
	json_t *object;
	size_t length;
	int ends[2];

	if (pipe2(ends, O_CLOEXEC))
		fail("after: %s", strerror(errno));
	start_command(&command_state, command, ends[1]);
	close(ends[1]);
	length = read_until(ends[0], buffer, deadline);
	close(ends[0]);
	finish_command(jobs, "after", deadline);
	object = json_loadb(buffer, length, 0, &error);
	if (!object)
		warn("after: its output is not JSON: %s", error.text);
	else if (!json_is_object(object))
		warn("after: its output is not an object");
	if (!json_is_object(object)) {
		json_decref(object);
		object = NULL;
	}
	free(buffer);
	return object;
}

void shell_program(struct jobs *jobs, char *const *argv)
{
	start(&command_state, argv, STDERR_FILENO);
	finish_command(jobs, argv[0], now_ns() + PATIENCE);
}

// SPDX-License-Identifier: GPL-2.0
#include "spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "util.h"

#define EXIT_NOT_EXECUTED 127

static sigset_t signals, before;
static int null_fd;

void spawn_setup(void)
{
	sigemptyset(&signals);
	sigaddset(&signals, SIGCHLD);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGTERM);
	sigprocmask(SIG_BLOCK, &signals, &before);
	null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	if (null_fd < 0)
		fail("/dev/null: %s", strerror(errno));
	if (prctl(PR_SET_CHILD_SUBREAPER, 1))
		fail("cannot adopt orphans: %s", strerror(errno));
}

const sigset_t *spawn_signals(void)
{
	return &signals;
}

static __attribute__((noreturn)) void child(const struct spawn *what, pid_t driver)
{
	int error_fd = dup(what->error_fd);
	int error;

	/* the scheduling policy was reset by the fork, and the lock of memory is not inherited */
	sigprocmask(SIG_SETMASK, &before, NULL);
	setsid();
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != driver)
		_exit(EXIT_NOT_EXECUTED);
	write_file("/proc/self/oom_score_adj", "0");
	if (dup2(null_fd, 0) == 0 && dup2(what->output_fd, 1) == 1 && dup2(error_fd, 2) == 2 &&
	    close(error_fd) == 0)
		execvpe(what->argv[0], what->argv, what->envp);
	error = errno;
	dprintf(2, "labdrive: %s: %s\n", what->argv[0], strerror(error));
	_exit(EXIT_NOT_EXECUTED);
}

pid_t spawn(const struct spawn *what)
{
	pid_t driver = getpid();
	pid_t pid = fork();

	if (!pid)
		child(what, driver);
	if (pid < 0)
		fail("%s: cannot fork: %s", what->argv[0], strerror(errno));
	return pid;
}

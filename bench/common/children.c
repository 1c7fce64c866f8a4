// SPDX-License-Identifier: GPL-2.0
#include "children.h"

#include <err.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "signals.h"

pid_t children_fork(int death)
{
	pid_t parent = getpid();
	pid_t pid = fork();

	if (pid < 0)
		err(EXIT_FAILURE, "fork");
	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, death);
	if (getppid() != parent)
		_exit(EXIT_FAILURE);
	return 0;
}

static void end(const pid_t *children, unsigned int count)
{
	for (unsigned int i = 0; i < count; i++)
		kill(children[i], SIGTERM);
}

/* For the first of `children`; a signal is for all of them. */
static int wait_for(const pid_t *children, unsigned int count)
{
	int status;

	while (waitpid(*children, &status, 0) < 0 && errno == EINTR)
		end(children, count);
	return WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_FAILURE;
}

int children_wait(const pid_t *workers, unsigned int count, pid_t watcher)
{
	int result = EXIT_SUCCESS;

	if (signalled) /* while they were started */
		end(workers, count);
	for (unsigned int i = 0; i < count; i++) {
		int status = wait_for(workers + i, count - i);

		if (!result)
			result = status;
	}
	end(&watcher, 1);
	return result ? result : wait_for(&watcher, 1);
}

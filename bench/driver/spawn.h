/* SPDX-License-Identifier: GPL-2.0 */
/* labdrive: a child process, in a session of its own. */
#ifndef LABDRIVE_SPAWN_H
#define LABDRIVE_SPAWN_H

#include <signal.h>
#include <sys/types.h>

struct spawn {
	char *const *argv;
	char *const *envp;
	int output_fd;
	int error_fd;
};

/**
 * spawn_setup() - once, before the first child
 *
 * Blocks SIGCHLD, SIGINT and SIGTERM in the driver (children have the mask that was before), and
 * makes orphaned descendants the driver's children.
 */
void spawn_setup(void);

/* The signals that spawn_setup() has blocked. */
const sigset_t *spawn_signals(void);

/**
 * spawn() - fork and execute
 *
 * The child has standard input from /dev/null, its own session (so the process id is also that
 * of the session and of the process group), ordinary priority and an ordinary standing with the
 * OOM killer; it is killed if the driver dies. If the command cannot be executed it says why on
 * error_fd and exits with 127. Fails the run if there can be no process.
 */
pid_t spawn(const struct spawn *what);

#endif

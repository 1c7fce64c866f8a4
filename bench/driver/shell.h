/* SPDX-License-Identifier: GPL-2.0 */
/* labdrive: the shell commands of the policy: its daemon, and the command after the run. */
#ifndef LABDRIVE_SHELL_H
#define LABDRIVE_SHELL_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "jobs.h"
#include "processes.h"

/* A shell command, or what a shell runs. */
struct shell {
	pid_t pid; /* and session; 0: not started */
	bool ended;
	int wait_status;
	uint64_t ended_ns;
};

/* The daemon, for the report. */
const struct shell *shell_daemon(void);

/* Starts it; its output goes to the driver's standard error. */
void shell_start_daemon(const char *command);

/* SIGTERM to its process group, SIGKILL a second later to all its processes. */
void shell_stop_daemon(struct jobs *jobs);

/**
 * shell_object() - run a command whose standard output is one JSON object
 *
 * NULL, and a warning, if it is not, or if it takes more than 60 s.
 */
json_t *shell_object(struct jobs *jobs, const char *command);

/* Runs a program to its end, for 60 s at most; a warning if it does not end well. */
void shell_program(struct jobs *jobs, char *const *argv);

/* A child was waited for. False: it is none of these. */
bool shell_ended(pid_t pid, int wait_status);

/* Whether a process belongs to the daemon, by its session or an ancestor's. */
bool shell_owns(const struct process *process);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/* labdrive: reads /proc for the processes that descend from the driver. */
#ifndef LABDRIVE_PROCESSES_H
#define LABDRIVE_PROCESSES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

/* Of a process and of its children that have been waited for. */
struct usage {
	double user; /* seconds */
	double system;
	uint64_t minor; /* faults */
	uint64_t major;
};

void usage_add(struct usage *sum, const struct usage *more);
struct usage usage_of(const struct rusage *rusage);

struct process {
	pid_t pid;
	pid_t parent;
	pid_t session;
	char state; /* as in /proc/PID/stat */
	struct usage usage; /* seconds in steps of 1 / sysconf(_SC_CLK_TCK) */
};

/* Reads one process, ended ones that were not waited for too. False: there is none. */
bool process_read(pid_t pid, struct process *process);

/**
 * processes_read() - all descendants of the driver
 * @list: valid until the next call
 */
size_t processes_read(const struct process **list);

/* One of the last processes_read(), or NULL. */
const struct process *process_find(pid_t pid);

#endif

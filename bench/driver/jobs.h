/* SPDX-License-Identifier: GPL-2.0 */
/* labdrive: the jobs, and all that is known of them. Times are of CLOCK_MONOTONIC, in ns. */
#ifndef LABDRIVE_JOBS_H
#define LABDRIVE_JOBS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "input.h"
#include "processes.h"
#include "work.h"

struct job;

enum job_state {
	JOB_WAITING, /* for its delay or its batch */
	JOB_RUNNING,
	JOB_ENDED, /* its first process ended by itself */
	JOB_CUT, /* ended by the driver; usage was read before */
};

/* What the driver has seen of a work counter, see sample.c. */
struct slot {
	uint64_t done; /* at the last look */
	uint64_t moved_ns; /* the last look that saw progress; 0: none yet */
	uint64_t longest_ns; /* pause */
	uint64_t ended_ns; /* done reached goal; 0: not yet */
	uint64_t interval_done; /* at the beginning of the interval of 5 s */
	bool paused; /* a look since moved_ns saw no progress */
	bool in_interval; /* was there at the beginning of the interval */
};

struct job {
	const struct job_spec *spec;
	char **argv; /* with the words that the way of starting puts in front */
	char **envp;
	char *output; /* path */
	int output_fd;
	struct work_file *work; /* shared with the job, and locked */
	struct slot *slots; /* WORK_SLOTS of them */

	enum job_state state;
	bool left; /* ended, but the processes that it left behind are not killed yet */
	pid_t pid;
	uint64_t started_ns;
	uint64_t ended_ns; /* or was cut off */
	int wait_status; /* JOB_ENDED only */
	struct usage usage; /* final when JOB_ENDED or JOB_CUT; before, of reaped orphans */
};

struct jobs {
	struct job *list;
	size_t count;
	const char *mtsctl;
};

/**
 * jobs_prepare() - everything that can be made before the start
 * @directory: where NAME.work and NAME.out go; made if it is missing; below a tmpfs
 *
 * Work files, output files, command lines. Fails the run on any error.
 */
void jobs_prepare(struct jobs *jobs, const struct input *input, const char *directory);

void job_start(struct job *job);

/* Waits for nothing. Orphans' usage goes to their jobs; the daemon's end is noted. */
void jobs_reap(struct jobs *jobs);

/* The job a process belongs to: by its session, or by an ancestor's. NULL: none. */
struct job *jobs_owner(const struct jobs *jobs, const struct process *process);

/* Slots handed out. */
size_t job_slots(const struct job *job);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/* SYN8: declarations that its files share. Times are nanoseconds of CLOCK_MONOTONIC. */
#ifndef SYN8_H
#define SYN8_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/types.h>

#include "work.h"

/* Exit codes; README.md says them to users. */
enum {
	EXIT_DONE = 0,
	EXIT_FAILED = 1,
	EXIT_USAGE = 2,
	EXIT_LIMIT = 3,
	EXIT_INTERRUPTED = 4,
};

struct options {
	unsigned int processes;
	uint64_t size; /* bytes of each process */
	uint64_t accesses; /* of each process */
	uint64_t seed;
	uint64_t limit_ns; /* 0: none */
	uint64_t interval_ns; /* 0: no progress lines */
	const char *progress; /* where they go; NULL: stderr */
	bool json;
};

/* Returns only if the command line is good. */
void options_parse(struct options *options, int argc, char **argv);

enum child_error {
	CHILD_FINE,
	CHILD_NO_MEMORY, /* mmap() refused */
	CHILD_LOST_DATA, /* its memory does not hold the data that it has written */
};

/*
 * The progress of a running child, in memory that it shares with the parent, which keeps it
 * locked. Each field has one writer, the child.
 */
struct child_slot {
	_Alignas(64) _Atomic uint64_t done; /* accesses so far */
	_Atomic uint64_t finished_ns; /* 0: not yet */
	_Atomic uint32_t error; /* enum child_error */
	_Atomic uint32_t bad_pages;
};

/*
 * The work of child number `index`; returns its exit status. `work`: where the laboratory's driver
 * sees its accesses too; NULL: there is none.
 */
int child_run(const struct options *options, unsigned int index, struct child_slot *slot,
	      struct work_slot *work);

enum child_state {
	STATE_RUNNING,
	STATE_DONE,
	STATE_ENDED, /* by the parent: limit or signal */
	STATE_FAILED, /* died, or could not do its work */
};

/* What the parent knows of a child. */
struct child {
	pid_t pid;
	struct work_slot *work; /* NULL without $LAB_WORK */
	enum child_state state;
	int wait_status;
	uint64_t started_ns;
	uint64_t finished_ns;
	uint64_t done;
	uint32_t error; /* enum child_error */
	uint32_t bad_pages;
	struct rusage usage; /* all zero until it is reaped */
};

struct swaps {
	uint64_t in; /* pages */
	uint64_t out;
};

enum outcome {
	OUTCOME_DONE,
	OUTCOME_LIMIT,
	OUTCOME_INTERRUPTED,
	OUTCOME_FAILED,
};

struct result {
	enum outcome outcome;
	uint64_t elapsed_ns;
	struct swaps swaps; /* of the whole host, meanwhile */
	struct child *children; /* options.processes of them */
};

void report_text(FILE *out, const struct options *options, const struct result *result);
void report_json(FILE *out, const struct options *options, const struct result *result);

#endif

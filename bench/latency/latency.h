/* SPDX-License-Identifier: GPL-2.0 */
/* How long things take to answer, and tasks to wake up: what the files share. */
#ifndef LATENCY_H
#define LATENCY_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "pages.h"

enum part {
	PART_TYPE,
	PART_EDIT,
	PART_ASK,
	PART_SERVE,
	PART_TICK
};

struct options {
	const char *name; /* of the work counter */
	const char *at; /* where the two sides meet: a path */
	uint64_t period_ns;
	uint64_t jitter_ns; /* what is due comes so much later at most */
	uint64_t skip_ns; /* what is due in this time is not counted */
	uint64_t duration_ns; /* what is due in the time after that is */
	uint64_t size; /* bytes of memory; 0: none */
	uint64_t touch; /* bytes of it for each answer, or each time */
	uint64_t seed;
};

/* Returns only if the command line is good. */
enum part options_parse(struct options *options, int argc, char **argv);

/*
 * For a measuring process, so that its own delays do not count: locks its memory, and makes it
 * real-time. The laboratory's driver has priority 1.
 */
void be_on_time(void);

/* One side asks, by a terminal (type) or a socket. Returns the exit status. */
int ask(const struct options *options, bool terminal);

/* The other side answers until the first one is gone. Returns the exit status. */
int answer(const struct options *options, bool terminal);

/* A periodic task. Returns the exit status. */
int tick(const struct options *options);

/*
 * Where two sides meet. Both end the program if that fails. The asking side returns when the other
 * one is ready.
 */
int meet_as_terminal(const char *path);
int meet_as_client(const char *path);
int meet_terminal(const char *path);
int meet_as_server(const char *path);

/* Memory of which every use needs some other part. */
struct memory {
	struct pages pages;
	uint32_t *visits; /* of each page, so far */
	uint64_t touch; /* pages */
	uint64_t random;
};

/* Ends the program if there is none. */
void memory_get(struct memory *memory, const struct options *options);

/* Reads and writes a part of it, chosen at random. Ends the program if its data have changed. */
void memory_use(struct memory *memory);

/* When all that is asked, or done, is due, in order. */
struct schedule {
	uint64_t *due_ns; /* since the start */
	uint64_t count;
	uint64_t first; /* that counts */
};

void schedule_make(struct schedule *schedule, const struct options *options);

#endif /* LATENCY_H */

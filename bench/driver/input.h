/* SPDX-License-Identifier: GPL-2.0 */
/* labdrive: JOBS.json, read and checked. README.md specifies it. */
#ifndef LABDRIVE_INPUT_H
#define LABDRIVE_INPUT_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MAX_JOBS 256
#define MAX_LIMIT 86400.0 /* seconds */
#define NO_BATCH SIZE_MAX

enum start {
	START_PLAIN,
	START_MTS,
	START_IDEAL,
};

struct job_spec {
	const char *name;
	char **command; /* NULL-terminated */
	char **environment; /* NAME=VALUE, NULL-terminated: what is added to the driver's */
	size_t variables;
	bool each;
	bool resident;
	bool endless;
	uint64_t delay_ns;
	size_t batch; /* NO_BATCH: in none, runs all the time */
};

struct input {
	double free_mib; /* 0: pin nothing */
	uint64_t limit_ns;
	uint64_t sample_ns;
	enum start start;
	const char *daemon; /* "": none */
	const char *after; /* "": none */
	const char **watch;
	size_t watch_count;
	struct job_spec *jobs;
	size_t job_count;
	size_t batch_count;
};

/* Fails the run with a message that names the place if anything is wrong with the file. */
void input_read(const char *path, struct input *input);

/* For the two files of it: */

enum kind {
	KIND_BOOLEAN,
	KIND_NUMBER,
	KIND_TEXT,
	KIND_LIST,
	KIND_OBJECT,
};

struct key {
	const char *name;
	enum kind kind;
};

/**
 * input_keys() - check that an object has exactly these keys, each of its kind
 * @place: how messages call the object, such as "jobs[2]"; "" at the top
 */
void input_keys(const json_t *object, const char *place, const struct key *keys, size_t count);

/* A number of seconds within bounds, as nanoseconds. */
uint64_t input_ns(const json_t *object, const char *place, const char *key, double low,
		  double high);

/* A list of texts without NUL, NULL-terminated; the texts belong to the JSON. */
char **input_texts(const json_t *list, const char *place, size_t *count);

void input_jobs(const json_t *root, struct input *input);
void input_batches(const json_t *root, struct input *input);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The record of frozen jobs: a file that mtsd and its guardian map. It outlives both, so that
 * `mtsd --thaw` and the next start can thaw what they have left frozen.
 *
 * mtsd writes a job's entry before it freezes the job, and clears it after the thaw.
 */
#ifndef MTSD_RECORD_H
#define MTSD_RECORD_H

#include <stdbool.h>
#include <stdint.h>

/* As MTS_MAX_JOBS, and some for jobs that are just being removed. */
#define RECORD_ENTRIES 4352
#define RECORD_PATH 1016

enum record_state {
	RECORD_FREE,
	RECORD_KNOWN, /* a job that may be frozen; @path is valid */
	RECORD_FROZEN, /* mts may have frozen it */
	RECORD_THAWED, /* by the guardian, while a mtsd that stood still may freeze it yet */
};

struct record {
	uint64_t magic;
	uint64_t beat; /* when mtsd last lived, while jobs are frozen; CLOCK_MONOTONIC, ns */
	uint32_t used; /* entries beyond these have never been used */
	uint32_t frozen; /* entries that are RECORD_FROZEN */
	struct record_entry {
		uint32_t state; /* enum record_state; above it a number that each freeze changes */
		uint32_t pad;
		char path[RECORD_PATH]; /* of the cgroup */
	} entries[RECORD_ENTRIES];
};

/*
 * Map the file. @create: make it if there is none, and empty it if it is not valid. Return: NULL:
 * errno says why; ENOENT: there is none, ENODATA: it is not valid.
 */
struct record *record_map(int fd);
int record_open(const char *path, bool create);

/* Forget all entries. */
void record_clear(struct record *record);

/* Set the state of an entry. */
void record_set(struct record *record, uint32_t slot, enum record_state state);

/*
 * Thaw every job that is recorded as frozen. @fds: for each slot its cgroup.freeze, or -1; NULL:
 * they are opened by their paths. @ended: mtsd freezes none any more. Return: number of jobs that
 * could not be thawed.
 */
unsigned int record_thaw(struct record *record, const int *fds, bool ended, unsigned int *thawed);

/* The cgroup of the next one, from @i on, that could not be thawed. Return: NULL: there is none. */
const char *record_left(const struct record *record, uint32_t *i);

#endif /* MTSD_RECORD_H */

/* SPDX-License-Identifier: GPL-2.0 */
/* labdrive: one run, from the first job's start to the end of measuring. */
#ifndef LABDRIVE_RUN_H
#define LABDRIVE_RUN_H

#include <jansson.h>

#include "counters.h"
#include "input.h"
#include "jobs.h"
#include "threads.h"

#define INTERVAL_NS (5ull * NS_PER_S) /* of jain_series */

/* What has grown since the entry before. */
struct entry {
	double t; /* seconds since the start */
	double done; /* sample_done(), absolute: how many parts there are shows at the end */
	uint64_t pswpin;
	uint64_t pswpout;
	uint64_t pgmajfault;
	uint64_t pgpgin;
	uint64_t pgpgout;
	double user; /* seconds */
	double system;
	double free_mib; /* absolute */
	double memory_full; /* seconds */
};

struct run {
	const struct input *input;
	struct jobs jobs;
	double free_mib; /* after pinning */
	double pinned_mib;

	uint64_t start_ns;
	uint64_t end_ns;
	size_t batch; /* that runs; or their number */
	uint64_t late_ns; /* the most that a look was late */

	double jain; /* NO_INDEX: not known */
	bool jain_taken;
	double *jain_series;
	size_t jain_count;
	size_t jain_room;

	struct entry *series;
	size_t series_count;
	size_t series_room;

	struct counters *before; /* at start_ns */
	struct counters *previous; /* at the series' last entry */
	struct counters *now;
	struct threads *threads_before;
	struct threads *threads_after;
	json_t *policy; /* the output of "after", or NULL */
};

/* Memory for everything that is noted while it runs. */
void run_prepare(struct run *run, const struct input *input);

/* Starts the daemon and the jobs, watches them, and takes the last figures. Jobs may still run. */
void run_measure(struct run *run);

/* "after", then the end of all that runs. */
void run_end(struct run *run);

#endif

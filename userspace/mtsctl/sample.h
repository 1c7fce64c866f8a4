/* SPDX-License-Identifier: GPL-2.0 */
/* One moment: the module's status, bins, jobs and counters, and the host's counters. */
#ifndef MTSCTL_SAMPLE_H
#define MTSCTL_SAMPLE_H

#include "snapshot.h"
#include "vitals.h"

#define SAMPLE_UNKNOWN U64_MAX

struct sample {
	struct snapshot s;
	struct mts_stats stats;
	struct mts_config config;
	struct vitals vitals;
	bool vitals_known;
	u64 *faults; /* major faults of s.jobs[i] since it began, or SAMPLE_UNKNOWN */
	bool whole; /* sample_look_all() */
};

/*
 * The device must be open. Does not read the jobs' cgroups yet. Return: 0 or -errno;
 * in both cases sample_free() may follow.
 */
int sample_take(struct sample *sample);
void sample_free(struct sample *sample);

/*
 * Reads the job's faults and its present memory and swap from its cgroup. The
 * module's figures are from the beginning of the round.
 */
void sample_look(struct sample *sample, u32 job);
void sample_look_all(struct sample *sample);

#endif /* MTSCTL_SAMPLE_H */

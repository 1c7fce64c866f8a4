/* SPDX-License-Identifier: GPL-2.0 */
/* All that can be known at one moment: what the module says, and what the host counts. */
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
	u64 *faults; /* major ones of s.jobs[i] since it began, or SAMPLE_UNKNOWN */
};

/*
 * The device must be open. No job has been looked at. Return: 0 or -errno;
 * either way sample_free() may follow.
 */
int sample_take(struct sample *sample);
void sample_free(struct sample *sample);

/*
 * Reads from the job's cgroup its faults, and what it has in memory and in swap
 * now: the module's figures are those of the round's beginning.
 */
void sample_look(struct sample *sample, u32 job);

#endif /* MTSCTL_SAMPLE_H */

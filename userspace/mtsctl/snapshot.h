/* SPDX-License-Identifier: GPL-2.0 */
/* Status, bins and jobs of one moment. */
#ifndef MTSCTL_SNAPSHOT_H
#define MTSCTL_SNAPSHOT_H

#include "policy/pure.h"
#include "uapi/mts.h"

struct snapshot {
	struct mts_status status;
	struct mts_disk_info disk;
	struct mts_bin_info *bins;
	u32 nbins;
	struct mts_job_info *jobs;
	u32 njobs;
	/* The lists have the same generation. If not, jobs changed faster than mtsctl read them. */
	bool consistent;
};

/* Return: 0, or a negative errno. In both cases snapshot_free() may follow. */
int snapshot_take(struct snapshot *s);
void snapshot_free(struct snapshot *s);

/* NULL if there is none. */
const struct mts_job_info *snapshot_job(const struct snapshot *s, u32 id);

/* True while a bin runs or is brought back, and the others are frozen. */
bool snapshot_rotates(const struct snapshot *s);

/* Time until the slice of the running bin ends; the whole slice during a switch. */
u64 snapshot_slice_left(const struct snapshot *s);

/* Time until the bin runs, by the plan of this round; 0 for the running one. */
u64 snapshot_starts_in(const struct snapshot *s, u32 bin);

#endif /* MTSCTL_SNAPSHOT_H */

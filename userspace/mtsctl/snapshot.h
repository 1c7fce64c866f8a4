/* SPDX-License-Identifier: GPL-2.0 */
/* Status, bins and jobs of one moment. */
#ifndef MTSCTL_SNAPSHOT_H
#define MTSCTL_SNAPSHOT_H

#include "policy/pure.h"
#include "uapi/mts.h"

struct snapshot {
	struct mts_status status;
	struct mts_bin_info *bins;
	u32 nbins;
	struct mts_job_info *jobs;
	u32 njobs;
	/* The generations agree. If not: they changed faster than we read. */
	bool consistent;
};

/* Return: 0, or a negative errno. Either way snapshot_free() may follow. */
int snapshot_take(struct snapshot *s);
void snapshot_free(struct snapshot *s);

/* NULL if there is none. */
const struct mts_job_info *snapshot_job(const struct snapshot *s, u32 id);

/* A bin runs, or is coming: the others are frozen. */
bool snapshot_rotates(const struct snapshot *s);

/* Until the slice of the running bin ends; the whole slice while it is coming. */
u64 snapshot_slice_left(const struct snapshot *s);

/* Until the bin runs, by the plan of this round; 0 for the running one. */
u64 snapshot_starts_in(const struct snapshot *s, u32 bin);

#endif /* MTSCTL_SNAPSHOT_H */

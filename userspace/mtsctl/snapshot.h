/* SPDX-License-Identifier: GPL-2.0 */
/* Status, bins and jobs of one moment. */
#ifndef MTSCTL_SNAPSHOT_H
#define MTSCTL_SNAPSHOT_H

#include "policy/users.h"
#include "uapi/mts.h"

/* What people know a job by, beside its name. */
struct label {
	char *container; /* the name of its container; NULL: none, or not known */
	char *unit; /* its systemd unit; NULL: none, or not known */
	const struct mts_job_info *parent; /* from which it came (MTS_JOB_EACH); NULL: none */
};

struct snapshot {
	struct mts_status status;
	struct mts_disk_info disk;
	struct mts_policy_info policy;
	struct mts_user_weights weights; /* of users */
	struct mts_bin_info *bins;
	u32 nbins;
	struct mts_job_info *jobs;
	u32 njobs;
	struct label *labels; /* of each job; NULL: not looked for */
	u64 *due; /* of each bin that overlaps: when its pause limit ends; U64_MAX: none does */
	/* The lists have the same generation. If not, jobs changed faster than mtsctl read them. */
	bool consistent;
};

/* Return: 0, or a negative errno. In both cases snapshot_free() may follow. */
int snapshot_take(struct snapshot *s);
void snapshot_free(struct snapshot *s);

/* NULL if there is none. */
const struct mts_job_info *snapshot_job(const struct snapshot *s, u32 id);

/* The name that people know the job by: that of its container, or its own. */
const char *snapshot_label(const struct snapshot *s, const struct mts_job_info *job);

/* The container that it is, or that it came from; NULL: none, or not known. */
const char *snapshot_container(const struct snapshot *s, const struct mts_job_info *job);

/* Its unit, or that of the job that it came from; NULL: none, or not known. */
const char *snapshot_unit(const struct snapshot *s, const struct mts_job_info *job);

/* mts has frozen it, or asked it to freeze, for a turn: it is not in the queue. */
bool job_is_frozen(const struct mts_job_info *job);

/* Whose the jobs are is known (mts_job_info.user). */
bool snapshot_knows_users(const struct snapshot *s);

/* The jobs are of more than one user. */
bool snapshot_has_users(const struct snapshot *s);

/* True while a bin runs or is brought back, and the others are frozen. */
bool snapshot_rotates(const struct snapshot *s);

/* The bins are groups of jobs, of which several run at a time (MTS_BIN_OVERLAPS). */
bool snapshot_overlaps(const struct snapshot *s);

/* "bin" or "group" */
const char *snapshot_bin_word(const struct snapshot *s);

/* The bin runs, or is brought back. */
bool snapshot_runs(const struct snapshot *s, u32 bin);
u32 snapshot_running(const struct snapshot *s);

/* The bin does not run yet, but does as soon as the switch is done. */
bool snapshot_comes(const struct snapshot *s, u32 bin);

/*
 * The bin that comes in after @bin, as things stand; after MTS_BIN_NONE the next one. MTS_BIN_NONE:
 * none waits.
 */
u32 snapshot_after(const struct snapshot *s, u32 bin);

/* Time until the next switch; the whole slice during a switch. */
u64 snapshot_slice_left(const struct snapshot *s);

/* Time until the bin runs, by the plan of this round; 0 for one that runs. */
u64 snapshot_starts_in(const struct snapshot *s, u32 bin);

/* Fill in what follows from the lists. Return: 0 or -ENOMEM. */
int snapshot_settle(struct snapshot *s);

#endif /* MTSCTL_SNAPSHOT_H */

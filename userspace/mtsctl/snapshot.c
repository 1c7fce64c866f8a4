// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdlib.h>

#include "ipc.h"
#include "snapshot.h"

#define TRIES 10

/* As the rotor does: a group waits from when the first of its jobs was frozen. */
static void note_waits(struct snapshot *s)
{
	for (u32 i = 0; i < s->nbins; i++)
		s->due[i] = U64_MAX;
	for (u32 i = 0; i < s->njobs; i++) {
		const struct mts_job_info *job = &s->jobs[i];
		u64 limit = s->status.max_pause_ns;

		if (job->max_pause_ns)
			limit = mts_min(limit, job->max_pause_ns);
		if (job->bin < s->nbins && job->frozen_since_ns)
			s->due[job->bin] =
				mts_min(s->due[job->bin], mts_add_sat(job->frozen_since_ns, limit));
	}
}

int snapshot_settle(struct snapshot *s)
{
	if (s->status.abi < 4 && s->status.current_bin < s->nbins)
		s->bins[s->status.current_bin].flags = MTS_BIN_RUNS;
	s->due = calloc((size_t)s->nbins + 1, sizeof(*s->due));
	if (!s->due)
		return -ENOMEM;
	note_waits(s);
	return 0;
}

static int snapshot_try(struct snapshot *s)
{
	u64 of_bins, of_jobs;
	int ret;

	*s = (struct snapshot){ 0 };
	ret = ipc_status(&s->status);
	if (!ret)
		ret = ipc_disk(&s->disk);
	if (!ret)
		ret = ipc_policy(&s->policy);
	if (!ret)
		ret = ipc_users(&s->weights);
	if (!ret)
		ret = ipc_bins(&s->bins, &s->nbins, &of_bins);
	if (!ret)
		ret = ipc_jobs(&s->jobs, &s->njobs, &of_jobs);
	if (ret)
		return ret;
	s->status.detail[MTS_DETAIL_SIZE - 1] = '\0';
	s->consistent = s->status.generation == of_bins && of_bins == of_jobs;
	return snapshot_settle(s);
}

bool snapshot_knows_users(const struct snapshot *s)
{
	return s->status.abi >= 4;
}

bool snapshot_has_users(const struct snapshot *s)
{
	for (u32 i = 1; snapshot_knows_users(s) && i < s->njobs; i++)
		if (s->jobs[i].user != s->jobs[0].user)
			return true;
	return false;
}

int snapshot_take(struct snapshot *s)
{
	int ret;

	for (int i = 0;; i++) {
		ret = snapshot_try(s);
		if (ret || s->consistent || i == TRIES - 1)
			return ret;
		snapshot_free(s);
	}
}

void snapshot_free(struct snapshot *s)
{
	for (u32 i = 0; s->labels && i < s->njobs; i++) {
		free(s->labels[i].container);
		free(s->labels[i].unit);
	}
	free(s->labels);
	free(s->bins);
	free(s->jobs);
	free(s->due);
	s->labels = NULL;
	s->due = NULL;
	s->bins = NULL;
	s->jobs = NULL;
	s->nbins = 0;
	s->njobs = 0;
}

const struct mts_job_info *snapshot_job(const struct snapshot *s, u32 id)
{
	for (u32 i = 0; i < s->njobs; i++)
		if (s->jobs[i].id == id)
			return &s->jobs[i];
	return NULL;
}

const char *snapshot_label(const struct snapshot *s, const struct mts_job_info *job)
{
	const char *container = s->labels ? s->labels[job - s->jobs].container : NULL;

	return container ?: job->name;
}

const char *snapshot_container(const struct snapshot *s, const struct mts_job_info *job)
{
	const struct label *label;

	for (; s->labels && job; job = label->parent) {
		label = &s->labels[job - s->jobs];
		if (label->container)
			return label->container;
	}
	return NULL;
}

/* A child's own cgroup may be in no unit, or in one that is the base of jobs. */
const char *snapshot_unit(const struct snapshot *s, const struct mts_job_info *job)
{
	const char *unit = NULL;

	for (; s->labels && job; job = s->labels[job - s->jobs].parent)
		unit = s->labels[job - s->jobs].unit ?: unit;
	return unit;
}

bool job_is_frozen(const struct mts_job_info *job)
{
	return job->state == MTS_JOB_FROZEN || job->state == MTS_JOB_FREEZING;
}

bool snapshot_rotates(const struct snapshot *s)
{
	return (s->status.state == MTS_STATE_RUNNING || s->status.state == MTS_STATE_SWITCHING) &&
	       s->status.current_bin < s->nbins;
}

bool snapshot_overlaps(const struct snapshot *s)
{
	return s->nbins && s->bins[0].flags & MTS_BIN_OVERLAPS;
}

const char *snapshot_bin_word(const struct snapshot *s)
{
	return snapshot_overlaps(s) ? "group" : "bin";
}

bool snapshot_runs(const struct snapshot *s, u32 bin)
{
	return snapshot_rotates(s) && bin < s->nbins && s->bins[bin].flags & MTS_BIN_RUNS;
}

u32 snapshot_running(const struct snapshot *s)
{
	u32 n = 0;

	for (u32 i = 0; i < s->nbins; i++)
		n += snapshot_runs(s, i);
	return n;
}

bool snapshot_comes(const struct snapshot *s, u32 bin)
{
	if (s->status.state != MTS_STATE_SWITCHING || !snapshot_runs(s, bin))
		return false;
	/* Of a group that stays no job is frozen. */
	return bin == s->status.current_bin || s->due[bin] != U64_MAX;
}

/* A group that lost its jobs has no turn. */
static bool waits(const struct snapshot *s, u32 bin)
{
	return s->bins[bin].jobs && !snapshot_runs(s, bin);
}

/* Does the waiting group @a come in before @b? */
static bool comes_before(const struct snapshot *s, u32 a, u32 b)
{
	return s->due[a] != s->due[b] ? s->due[a] < s->due[b] : a < b;
}

u32 snapshot_after(const struct snapshot *s, u32 bin)
{
	u32 next = MTS_BIN_NONE;

	if (!snapshot_overlaps(s)) {
		next = ((bin == MTS_BIN_NONE ? s->status.current_bin : bin) + 1) % s->nbins;
		return next == s->status.current_bin ? MTS_BIN_NONE : next;
	}
	for (u32 i = 0; i < s->nbins; i++)
		if (waits(s, i) && (bin == MTS_BIN_NONE || comes_before(s, bin, i)) &&
		    (next == MTS_BIN_NONE || comes_before(s, i, next)))
			next = i;
	return next;
}

u64 snapshot_slice_left(const struct snapshot *s)
{
	if (s->status.state == MTS_STATE_RUNNING && s->status.slice_ends_ns)
		return mts_sub_floor(s->status.slice_ends_ns, s->status.now_ns);
	return s->bins[s->status.current_bin].slice_ns;
}

/* Does @bin come in later than now, and earlier than @other? */
static bool comes_earlier(const struct snapshot *s, u32 bin, u32 other)
{
	u32 at = s->status.current_bin;

	if (snapshot_overlaps(s))
		return waits(s, bin) && comes_before(s, bin, other);
	return bin != at && (bin + s->nbins - at) % s->nbins < (other + s->nbins - at) % s->nbins;
}

u64 snapshot_starts_in(const struct snapshot *s, u32 bin)
{
	u64 in, slices = 0, one_switch;

	if (snapshot_runs(s, bin))
		return 0;
	for (u32 i = 0; i < s->nbins; i++)
		slices = mts_add_sat(slices, s->bins[i].slice_ns);
	one_switch = mts_sub_floor(s->status.round_ns, slices) / s->nbins;

	in = mts_add_sat(snapshot_slice_left(s), one_switch);
	for (u32 i = 0; i < s->nbins; i++)
		if (comes_earlier(s, i, bin))
			in = mts_add_sat(in, mts_add_sat(s->bins[i].slice_ns, one_switch));
	return in;
}

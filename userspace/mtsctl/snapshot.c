// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>

#include "ipc.h"
#include "snapshot.h"

#define TRIES 10

static int snapshot_try(struct snapshot *s)
{
	u64 of_bins, of_jobs;
	int ret;

	*s = (struct snapshot){ 0 };
	ret = ipc_status(&s->status);
	if (!ret)
		ret = ipc_disk(&s->disk);
	if (!ret)
		ret = ipc_bins(&s->bins, &s->nbins, &of_bins);
	if (!ret)
		ret = ipc_jobs(&s->jobs, &s->njobs, &of_jobs);
	if (ret)
		return ret;
	s->status.detail[MTS_DETAIL_SIZE - 1] = '\0';
	s->consistent = s->status.generation == of_bins && of_bins == of_jobs;
	return 0;
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
	free(s->bins);
	free(s->jobs);
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

bool snapshot_rotates(const struct snapshot *s)
{
	return (s->status.state == MTS_STATE_RUNNING || s->status.state == MTS_STATE_SWITCHING) &&
	       s->status.current_bin < s->nbins;
}

u64 snapshot_slice_left(const struct snapshot *s)
{
	if (s->status.state == MTS_STATE_RUNNING && s->status.slice_ends_ns)
		return mts_sub_floor(s->status.slice_ends_ns, s->status.now_ns);
	return s->bins[s->status.current_bin].slice_ns;
}

u64 snapshot_starts_in(const struct snapshot *s, u32 bin)
{
	u64 in = snapshot_slice_left(s);
	u64 slices = 0, one_switch;
	u32 at = s->status.current_bin;

	if (bin == at)
		return 0;
	for (u32 i = 0; i < s->nbins; i++)
		slices = mts_add_sat(slices, s->bins[i].slice_ns);
	one_switch = mts_sub_floor(s->status.round_ns, slices) / s->nbins;

	in = mts_add_sat(in, one_switch);
	for (at = (at + 1) % s->nbins; at != bin; at = (at + 1) % s->nbins)
		in = mts_add_sat(in, mts_add_sat(s->bins[at].slice_ns, one_switch));
	return in;
}

// SPDX-License-Identifier: GPL-2.0
/* Ties: jobs that wait for each other, and how they are packed together. */
#include "policy/ties.h"

/* ---- what is known of a job ------------------------------------------------------- */

static bool is_old(const struct mts_tie *tie, u64 now)
{
	return !tie->seen || now - tie->seen >= MTS_TIE_NS;
}

bool mts_ties_note(struct mts_ties *ties, u32 id, u64 now, bool is_new)
{
	struct mts_tie *oldest = &ties->tie[0];
	u32 i;

	for (i = 0; i < MTS_TIES; i++) {
		struct mts_tie *tie = &ties->tie[i];

		if (tie->id == id && !is_old(tie, now)) {
			bool first = tie->seen != now;

			tie->seen = now;
			return first;
		}
		if (tie->seen < oldest->seen)
			oldest = tie;
	}
	/*
	 * The oldest entry may be of this look, too. A job that waits for many others is not tied
	 * to the last of them alone.
	 */
	if (!is_new || oldest->seen == now)
		return false;
	*oldest = (struct mts_tie){ .id = id, .since = now, .seen = now };
	return true;
}

bool mts_ties_known(const struct mts_ties *ties, u32 id, u64 now, u64 before)
{
	u32 i;

	for (i = 0; i < MTS_TIES; i++)
		if (ties->tie[i].id == id && !is_old(&ties->tie[i], now))
			return ties->tie[i].since < before;
	return false;
}

u32 mts_ties_id(const struct mts_ties *ties, u32 i, u64 now)
{
	return is_old(&ties->tie[i], now) ? 0 : ties->tie[i].id;
}

/* ---- groups in a plan --------------------------------------------------------------- */

/* First job of the group of job @i; @i itself if it has no group. */
static u32 first_of(struct mts_plan_job *jobs, u32 i)
{
	while (jobs[i].group != MTS_BIN_NONE && jobs[i].group != i) {
		/* Path halving makes later searches shorter. */
		jobs[i].group = jobs[jobs[i].group].group;
		i = jobs[i].group;
	}
	return i;
}

/* Both are first jobs of their groups, and @first < @second. */
static void merge(struct mts_plan_job *jobs, u32 first, u32 second)
{
	jobs[first].group = first;
	jobs[second].group = first;
}

/* Until now .group leads to an earlier job of the group; set it to the first one. */
static void name_groups(struct mts_plan_job *jobs, u32 n)
{
	u32 i;

	for (i = 0; i < n; i++)
		if (jobs[i].group != MTS_BIN_NONE)
			jobs[i].group = first_of(jobs, i);
}

static bool can_tie(const struct mts_plan_tie *tie, const struct mts_plan_job *jobs)
{
	return !((jobs[tie->a].flags | jobs[tie->b].flags) & MTS_PLAN_RESIDENT);
}

static void join(const struct mts_plan_tie *tie, struct mts_plan_job *jobs, u64 capacity,
		 struct mts_item *sums)
{
	u32 a = first_of(jobs, tie->a), b = first_of(jobs, tie->b);
	u32 first = a < b ? a : b, second = a < b ? b : a;
	u64 sum = mts_add_sat(sums[a].size, sums[b].size);

	if (a == b || sum > capacity)
		return;
	/* The larger group decides the bin, and the smaller group moves. */
	if (sums[second].size > sums[first].size)
		sums[first].prev = sums[second].prev;
	sums[first].size = sum;
	merge(jobs, first, second);
}

void mts_plan_join(const struct mts_plan_conf *conf, struct mts_plan_job *jobs, u32 n, u64 capacity,
		   struct mts_item *sums)
{
	u32 i;

	for (i = 0; i < n; i++) {
		jobs[i].group = MTS_BIN_NONE;
		sums[i] = (struct mts_item){ .size = jobs[i].demand, .prev = jobs[i].prev_bin };
	}
	for (i = 0; i < conf->nties; i++)
		if (can_tie(&conf->ties[i], jobs))
			join(&conf->ties[i], jobs, capacity, sums);
	name_groups(jobs, n);
}

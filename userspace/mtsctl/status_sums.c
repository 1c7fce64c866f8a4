// SPDX-License-Identifier: GPL-2.0
#include "status_sums.h"

#include <stdio.h>
#include <stdlib.h>

#include "format.h"

/* Of a user's name, as of login names usually. */
#define USER_WIDTH 16
/* Of a group's name, and of its user's beside it: 80 columns in all. */
#define GROUP_WIDTH 23
#define GROUP_USER_WIDTH 12

/* The sum of the jobs in a bin, in every bin, or in none. */
struct sum {
	u32 jobs;
	u32 frozen;
	u64 demand;
	u64 resident;
	u64 swapped;
};

static void sum_add(struct sum *sum, const struct mts_job_info *job)
{
	sum->jobs++;
	sum->frozen += job_is_frozen(job);
	sum->demand = mts_add_sat(sum->demand, job->demand);
	sum->resident = mts_add_sat(sum->resident, job->resident);
	sum->swapped = mts_add_sat(sum->swapped, job->swapped);
}

/* ---- bins ------------------------------------------------------------------------------- */

static void show_sum(const char *bin, const char *runs, const char *slice, const struct sum *sum)
{
	char a[FORMAT_SIZE], b[FORMAT_SIZE], c[FORMAT_SIZE];

	printf("%7s  %-10s %8s  %8s  %8s  %8s %6u %7u\n", bin, runs, slice,
	       format_size(a, sum->demand), format_size(b, sum->resident),
	       format_size(c, sum->swapped), sum->jobs, sum->frozen);
}

static void show_bin(const struct snapshot *s, u32 bin, const struct sum *sum)
{
	char runs[FORMAT_SIZE + 4] = "", slice[FORMAT_SIZE], label[16], in[FORMAT_SIZE];

	if (snapshot_runs(s, bin))
		snprintf(runs, sizeof(runs), "%s", snapshot_comes(s, bin) ? "coming" : "now");
	else if (snapshot_rotates(s))
		snprintf(runs, sizeof(runs), "in %s", format_time(in, snapshot_starts_in(s, bin)));
	snprintf(label, sizeof(label), "%s%u", snapshot_runs(s, bin) ? "* " : "", bin);
	show_sum(label, runs, format_time(slice, s->bins[bin].slice_ns), sum);
}

void status_show_bins(const struct snapshot *s)
{
	struct sum *sums = calloc((size_t)s->nbins + 2, sizeof(*sums));

	if (!sums)
		return;
	for (u32 i = 0; i < s->njobs; i++) {
		u32 bin = s->jobs[i].bin;

		if (bin >= s->nbins)
			bin = s->nbins + (bin != MTS_BIN_EVERY);
		sum_add(&sums[bin], &s->jobs[i]);
	}
	printf("\n%7s  %-10s %8s  %8s  %8s  %8s %6s %7s\n", snapshot_overlaps(s) ? "GROUP" : "BIN",
	       "RUNS", "SLICE", "DEMAND", "RESIDENT", "SWAPPED", "JOBS", "FROZEN");
	for (u32 i = 0; i < s->nbins; i++) {
		/* The demand with which the module packed; the jobs' demand may be newer. */
		sums[i].demand = s->bins[i].demand;
		sums[i].jobs = s->bins[i].jobs;
		show_bin(s, i, &sums[i]);
	}
	if (sums[s->nbins].jobs)
		show_sum("every", "always", "", &sums[s->nbins]);
	if (sums[s->nbins + 1].jobs)
		show_sum("none", "", "", &sums[s->nbins + 1]);
	free(sums);
}

/* ---- users, units, containers ----------------------------------------------------------- */

struct grouping {
	const struct snapshot *s;
	enum group_by by;
};

static int by_group(const void *a, const void *b, void *argument)
{
	const struct mts_job_info *const *x = a, *const *y = b;
	const struct grouping *g = argument;

	return group_compare(g->s, g->by, *x, *y);
}

static void show_group(const struct grouping *g, const struct mts_job_info *job,
		       const struct sum *sum)
{
	bool of_user = g->by == BY_USER;
	char name[GROUP_WIDTH + 1], user[USER_WIDTH + 1];
	char a[FORMAT_SIZE], b[FORMAT_SIZE], c[FORMAT_SIZE];

	if (of_user)
		printf("%-*s", USER_WIDTH,
		       format_name_weight(user, USER_WIDTH, group_user(g->s, job),
					  mts_user_weight(&g->s->weights, job->user)));
	else
		printf("%-*s %-*s", GROUP_WIDTH,
		       format_name_short(name, GROUP_WIDTH, group_name(g->s, g->by, job)),
		       GROUP_USER_WIDTH,
		       format_name_short(user, GROUP_USER_WIDTH, group_user(g->s, job)));
	printf(" %6u %7u %8s  %8s  %8s\n", sum->jobs, sum->frozen, format_size(a, sum->demand),
	       format_size(b, sum->resident), format_size(c, sum->swapped));
}

void status_show_sums(const struct snapshot *s, enum group_by by)
{
	const struct mts_job_info **sorted = calloc((size_t)s->njobs + 1, sizeof(*sorted));
	struct grouping g = { s, by };

	if (!sorted)
		return;
	for (u32 i = 0; i < s->njobs; i++)
		sorted[i] = &s->jobs[i];
	qsort_r(sorted, s->njobs, sizeof(*sorted), by_group, &g);
	if (by == BY_USER)
		printf("\n%-*s", USER_WIDTH, group_heading(by));
	else
		printf("\n%-*s %-*s", GROUP_WIDTH, group_heading(by), GROUP_USER_WIDTH, "USER");
	printf(" %6s %7s %8s  %8s  %8s\n", "JOBS", "FROZEN", "DEMAND", "RESIDENT", "SWAPPED");
	for (u32 i = 0, from = 0; i < s->njobs; from = i) {
		struct sum sum = { 0 };

		for (; i < s->njobs && !group_compare(s, by, sorted[i], sorted[from]); i++)
			sum_add(&sum, sorted[i]);
		show_group(&g, sorted[from], &sum);
	}
	free(sorted);
}

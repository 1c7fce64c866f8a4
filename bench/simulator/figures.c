// SPDX-License-Identifier: GPL-2.0
/* What is counted, as trace events tell of it. */
#include <stdlib.h>

#include "context/virtual/machine.h"
#include "events/stats.h"
#include "events/trace.h"
#include "rotor/status.h"
#include "simulator.h"

struct figures figures;

/* What time goes into. */
static enum doing {
	DOING_TOGETHER, /* all run */
	DOING_SWITCH,
	DOING_SLICE,
} doing;

static u64 switching_ns; /* since the switch began */
static bool slice_runs;

void figures_begin(u32 njobs)
{
	free(figures.bins);
	figures = (struct figures){ .jain = 1, .bins = calloc(njobs + 1, sizeof(*figures.bins)) };
	if (!figures.bins) {
		fputs("simulator: no memory\n", stderr);
		exit(EXIT_FAILURE);
	}
	doing = DOING_TOGETHER;
	slice_runs = false;
}

bool figures_slice_runs(void)
{
	return slice_runs;
}

void figures_pass(u64 ns, bool thrashes)
{
	if (doing == DOING_SLICE)
		figures.slice_ns += ns;
	else if (doing == DOING_SWITCH)
		switching_ns += ns;
	else if (thrashes && host.with_module)
		figures.notice_ns += ns;
	else
		figures.together_ns += ns;
	if (thrashes && doing != DOING_TOGETHER)
		figures.overfull_ns += ns;
}

/* Jain's index of the fractions of their work that the jobs have done. */
void figures_jain(void)
{
	double sum = 0, squares = 0, done;
	u32 i, n = 0;

	for (i = 0; i < host.arrived; i++) {
		const struct job *job = &host.jobs[i];

		if (!job->demand->work_ns)
			continue;
		done = 1 - (double)job->working_ns / (double)job->demand->work_ns;
		sum += done;
		squares += done * done;
		n++;
	}
	figures.jain = squares > 0 ? sum * sum / (n * squares) : 1;
}

static u64 work_left(void)
{
	u64 left = 0;

	for (u32 i = 0; i < host.scenario->njobs; i++)
		left += host.jobs[i].working_ns;
	return left;
}

void figures_count(void)
{
	if (figures.counts || host_now() < host.scenario->count_from_ns)
		return;
	phases_settle();
	figures.counts = true;
	figures.work_before_ns = work_left();
	figures.longest_pause_ns = 0;
	figures.overdue = 0;
}

void figures_end(void)
{
	figures.time_ns = host_now();
	figures.finished = !host.here && host.arrived == host.scenario->njobs;
	figures.work_left_ns = work_left();
	if (host.here == host.arrived)
		figures_jain();
	figures.swapped_in += (u64)(host.cycles >> FIX) * PAGE_SIZE;
	figures.swapped_out += (u64)(host.cycles >> FIX) * PAGE_SIZE;
	figures.passed = mts_stats_read(passes);
	figures.regroups = mts_stats_read(regroups);
	/* A switch that was under way counts as freezing, whatever it was at. */
	if (doing == DOING_SWITCH)
		figures.freeze_ns += switching_ns;
}

/* ---- events --------------------------------------------------------------------------------- */

/* Of the second round, if there is one: its slices know what a switch takes. */
static void keep_plan(const struct mts_plan *plan)
{
	struct mts_bin_info *bins;
	u32 i;

	if (figures.rounds > 2)
		return;
	bins = calloc(plan->nbins, sizeof(*bins));
	if (!bins)
		return;
	mutex_lock(&mts_lock);
	figures.nbins = min(mts_status_bins(bins, plan->nbins), plan->nbins);
	mutex_unlock(&mts_lock);
	for (i = 0; i < figures.nbins; i++)
		figures.bins[i] = (struct shown_bin){ .demand = bins[i].demand,
						      .slice_ns = bins[i].slice_ns,
						      .jobs = bins[i].jobs };
	figures.capacity = plan->capacity;
	figures.round_ns = plan->round_ns;
	figures.shown_pause_ns = plan->longest_pause_ns;
	free(bins);
}

void trace_mts_round(u64 round, const struct mts_plan *plan, u32 jobs)
{
	figures.rounds++;
	keep_plan(plan);
	if (host.scenario->rounds)
		fprintf(stderr,
			"%12.3f s  round %llu: %u jobs in %u bins of %llu MiB, %.3f s, of these "
			"%.3f s in slices\n",
			(double)host_now() / 1e9, figures.rounds, jobs, plan->nbins,
			plan->capacity >> 20, (double)plan->round_ns / 1e9,
			(double)plan->run_ns / 1e9);
}

void trace_mts_switch_begin(u64 round, u32 from, u32 to)
{
	host_advance();
	figures.switches++;
	doing = DOING_SWITCH;
	switching_ns = 0;
}

void trace_mts_switch_end(u64 round, u32 from, u32 to, u64 took,
			  const struct mts_switch_parts *parts, int err)
{
	host_advance();
	figures.evict_ns += parts->evict_ns;
	figures.bring_back_ns += parts->bring_back_ns;
	/* Thawing takes no time of its own. */
	figures.freeze_ns += mts_sub_floor(switching_ns, parts->evict_ns + parts->bring_back_ns);
	doing = err ? DOING_TOGETHER : DOING_SLICE;
}

void trace_mts_slice_begin(u64 round, u32 bin, const struct mts_plan_bin *plan)
{
	slice_runs = true;
	host_changes();
}

void trace_mts_slice_end(u64 round, u32 bin, enum mts_slice_end why, u64 planned, u64 ran)
{
	host_advance();
	doing = DOING_TOGETHER;
	slice_runs = false;
	machine_calm(0);
}

void trace_mts_freeze(struct mts_job *job)
{
}

void trace_mts_hold(struct mts_job *job)
{
}

void trace_mts_release(struct mts_job *job)
{
}

void trace_mts_policy(u32 before, const struct mts_choice *choice)
{
}

void trace_mts_thaw(struct mts_job *job, enum mts_thaw_why why)
{
	u64 pause = host_now() - job_of(job)->frozen_at;

	/* It begins. */
	if (job->held)
		return;
	figures.longest_pause_ns = mts_max(figures.longest_pause_ns, pause);
	figures.overdue += why == MTS_THAW_OVERDUE;
}

void trace_mts_job(struct mts_job *job, enum mts_job_what what)
{
}

void trace_mts_stop(u32 reason, u32 frozen, const char *detail)
{
}

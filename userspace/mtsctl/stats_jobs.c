// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>

#include "metrics.h"
#include "mtsctl.h"
#include "stats.h"
#include "words.h"

static u64 frozen_now(const struct snapshot *s, const struct mts_job_info *job)
{
	return job->frozen_since_ns ? mts_sub_floor(s->status.now_ns, job->frozen_since_ns) : 0;
}

/* ---- all jobs together ----------------------------------------------------------- */

struct together {
	u64 longest_frozen_ns;
	u64 longest_queued_ns;
	u32 frozen_overdue; /* frozen for longer than their limit */
	u32 queue_overdue; /* in the queue after their longest wait */
};

/* Of the turns, or its own if that is shorter; U64_MAX: none. */
static u64 pause_limit(const struct snapshot *s, const struct mts_job_info *job)
{
	return mts_min(s->status.max_pause_ns ?: U64_MAX, job->max_pause_ns ?: U64_MAX);
}

static struct together add_up(const struct snapshot *s)
{
	struct together all = { 0 };

	for (u32 i = 0; i < s->njobs; i++) {
		const struct mts_job_info *job = &s->jobs[i];
		u64 frozen = frozen_now(s, job), now = s->status.now_ns;

		if (job->state == MTS_JOB_QUEUED) {
			all.longest_queued_ns =
				mts_max(all.longest_queued_ns,
					mts_sub_floor(now, job->queued_since_ns ?: now));
			all.queue_overdue += job->starts_by_ns && now > job->starts_by_ns;
		} else {
			all.longest_frozen_ns = mts_max(all.longest_frozen_ns, frozen);
			all.frozen_overdue += frozen > pause_limit(s, job);
		}
	}
	return all;
}

/* Every state, so that a series does not end where no job has it. */
static void show_states(const struct snapshot *s)
{
	metric_head("jobs_in_state", "gauge", "Jobs by their state");
	for (const struct word *w = job_state_words; w->word; w++) {
		u32 count = 0;

		for (u32 i = 0; i < s->njobs; i++)
			count += s->jobs[i].state == w->value;
		printf("mts_jobs_in_state{state=\"%s\"}", w->word);
		metric_end(count);
	}
}

static void show_together(const struct snapshot *s)
{
	struct together all = add_up(s);

	show_states(s);
	metric_gauge_seconds("longest_frozen_seconds",
			     "For how long the job that waits longest has been frozen now",
			     all.longest_frozen_ns);
	metric_gauge("overdue_jobs", "Jobs that have been frozen for longer than their limit",
		     all.frozen_overdue);
	metric_gauge_seconds("queue_longest_wait_seconds",
			     "For how long the oldest job of the queue has been in it",
			     all.longest_queued_ns);
	metric_gauge("queue_overdue_jobs", "Jobs in the queue after their longest wait",
		     all.queue_overdue);
}

/* ---- each job -------------------------------------------------------------------- */

struct job_metric {
	const char *name;
	const char *type;
	const char *help;
	bool seconds; /* the value is in ns */
	u64 (*value)(const struct snapshot *s, const struct mts_job_info *job);
};

#define JOB_VALUE(function, expression)                                               \
	static u64 function(const struct snapshot *s, const struct mts_job_info *job) \
	{                                                                             \
		(void)s;                                                              \
		return expression;                                                    \
	}

JOB_VALUE(demand, job->demand)
JOB_VALUE(resident, job->resident)
JOB_VALUE(swapped, job->swapped)
JOB_VALUE(unused, job->unused)
JOB_VALUE(threads, job->threads)
JOB_VALUE(frozen, job->frozen_since_ns != 0)
JOB_VALUE(frozen_total, mts_add_sat(job->frozen_total_ns, frozen_now(s, job)))
JOB_VALUE(frozen_longest, mts_max(job->frozen_longest_ns, frozen_now(s, job)))
JOB_VALUE(run, job->run_ns)
JOB_VALUE(slices, job->slices)
JOB_VALUE(evicted, job->evicted)
JOB_VALUE(freeze_failures, job->freeze_failures)
JOB_VALUE(max_pause, job->max_pause_ns)
JOB_VALUE(weight, job->weight)
JOB_VALUE(calls, job->calls)
JOB_VALUE(calls_refused, job->calls_refused)

static const struct job_metric job_metrics[] = {
	{ "job_demand_bytes", "gauge", "Memory that the job needs to run without faulting", false,
	  demand },
	{ "job_resident_bytes", "gauge", "Its bytes in memory when last measured", false,
	  resident },
	{ "job_swapped_bytes", "gauge", "Its bytes in swap when last measured", false, swapped },
	{ "job_unused_bytes", "gauge", "Memory that its last slices did not use; not in its demand",
	  false, unused },
	{ "job_threads", "gauge", "Threads that wanted to run at a time when last seen", false,
	  threads },
	{ "job_frozen", "gauge", "1: frozen by mts", false, frozen },
	{ "job_frozen_seconds_total", "counter", "Time that it was frozen by mts", true,
	  frozen_total },
	{ "job_frozen_longest_seconds", "gauge", "Longest time that it was frozen at once", true,
	  frozen_longest },
	{ "job_run_seconds_total", "counter", "Time thawed in slices of its bin that are over",
	  true, run },
	{ "job_slices_total", "counter", "Slices of its bin that are over", false, slices },
	{ "job_evicted_bytes_total", "counter", "Bytes that mts evicted from it", false, evicted },
	{ "job_freeze_failures_total", "counter", "Times that it did not freeze in 1 s", false,
	  freeze_failures },
	{ "job_max_pause_seconds", "gauge", "Its own pause limit; 0: none", true, max_pause },
	{ "job_weight", "gauge", "What its turns are in proportion to; 0: an older module", false,
	  weight },
	{ "job_calls_total", "counter", "Times that a process outside waited for it while frozen",
	  false, calls },
	{ "job_calls_refused_total", "counter", "Of these: its budget was used up", false,
	  calls_refused },
};

static void print_job(const char *name, const struct mts_job_info *job)
{
	printf("mts_%s{id=\"%u\",name=\"", name, job->id);
	metric_label(job->name);
	putchar('"');
}

static void show_infos(const struct snapshot *s, u32 n)
{
	metric_head("job_info", "gauge", "State of the job, and where it belongs");
	for (u32 i = 0; i < n; i++) {
		const struct mts_job_info *job = &s->jobs[i];
		char bin[16] = "", parent[16] = "", user[16] = "";

		if (job->bin == MTS_BIN_EVERY)
			snprintf(bin, sizeof(bin), "every");
		else if (job->bin != MTS_BIN_NONE)
			snprintf(bin, sizeof(bin), "%u", job->bin);
		if (job->parent)
			snprintf(parent, sizeof(parent), "%u", job->parent);
		if (snapshot_knows_users(s))
			snprintf(user, sizeof(user), "%u", job->user);
		print_job("job_info", job);
		printf(",user=\"%s\",state=\"%s\",bin=\"%s\",parent=\"%s\",pin=\"%d\","
		       "each=\"%d\"} 1\n",
		       user, word_of(job_state_words, job->state), bin, parent,
		       !!(job->flags & MTS_JOB_PIN),
		       !!(job->flags & (MTS_JOB_EACH | MTS_JOB_EACH_LEAF)));
	}
}

/* The oldest @n jobs: which jobs these are changes least often. */
static void show_each(const struct snapshot *s, u32 n)
{
	if (!n)
		return;
	show_infos(s, n);
	for (size_t k = 0; k < sizeof(job_metrics) / sizeof(job_metrics[0]); k++) {
		const struct job_metric *metric = &job_metrics[k];

		metric_head(metric->name, metric->type, metric->help);
		for (u32 i = 0; i < n; i++) {
			u64 value = metric->value(s, &s->jobs[i]);

			print_job(metric->name, &s->jobs[i]);
			putchar('}');
			if (metric->seconds)
				metric_end_seconds(value);
			else
				metric_end(value);
		}
	}
}

void stats_show_jobs(const struct snapshot *s, u32 jobs_max)
{
	u32 n = mts_min(s->njobs, jobs_max);

	show_together(s);
	if (jobs_max)
		metric_gauge("jobs_without_metrics",
			     "Jobs beyond the limit of --per-job, without metrics of their own",
			     s->njobs - n);
	show_each(s, n);
}

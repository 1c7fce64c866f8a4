// SPDX-License-Identifier: GPL-2.0
/*
 * mtsctl stats --prometheus: the text format, version 0.0.4, for the textfile
 * collector of the node exporter. It requires base units, and all samples of a
 * metric together.
 */
#include <stdio.h>
#include <string.h>

#include "format.h"
#include "mtsctl.h"
#include "stats.h"
#include "version.h"
#include "words.h"

#define SECOND 1000000000ull

static void head(const char *name, const char *type, const char *help)
{
	printf("# HELP mts_%s %s\n# TYPE mts_%s %s\n", name, help, name, type);
}

/* A decimal fraction, without rounding. */
static void print_seconds(u64 ns)
{
	printf(" %llu.%09llu\n", ns / SECOND, ns % SECOND);
}

static void gauge(const char *name, const char *help, u64 value)
{
	head(name, "gauge", help);
	printf("mts_%s %llu\n", name, value);
}

static void gauge_permille(const char *name, const char *help, u32 permille)
{
	head(name, "gauge", help);
	printf("mts_%s %u.%03u\n", name, permille / 1000, permille % 1000);
}

static void gauge_seconds(const char *name, const char *help, u64 ns)
{
	head(name, "gauge", help);
	printf("mts_%s", name);
	print_seconds(ns);
}

/* A cgroup may have any name, but the format takes only UTF-8. */
static void print_label(const char *text)
{
	json_t *valid = json_text(text);

	for (const char *p = valid ? json_string_value(valid) : "?"; *p; p++) {
		if (*p == '\n')
			fputs("\\n", stdout);
		else if (*p == '"' || *p == '\\')
			printf("\\%c", *p);
		else
			putchar(*p);
	}
	json_decref(valid);
}

/* ---- the module ---------------------------------------------------------------- */

static const char *step_word(u32 step)
{
	return step == MTS_STEP_BIN ? "bin" : step == MTS_STEP_AUTO ? "auto" : "size";
}

static void show_info(const struct snapshot *s, const struct mts_config *config)
{
	head("info", "gauge", "Versions of the tool and of the module's protocol");
	printf("mts_info{version=\"%s\",abi=\"%u\"} 1\n", MTS_VERSION, s->status.abi);
	head("state_info", "gauge", "State of the rotation, and why");
	printf("mts_state_info{state=\"%s\",reason=\"%s\"} 1\n",
	       word_of(state_words, s->status.state), word_of(reason_words, s->status.reason));
	head("config_info", "gauge", "Configuration: the values that are words");
	printf("mts_config_info{mode=\"%s\",policy=\"%s\",pack=\"%s\",evict=\"%s\",demand=\"%s\","
	       "step=\"%s\"} 1\n",
	       word_of(mode_words, config->mode), word_of(policy_words, config->policy),
	       word_of(pack_words, config->pack), word_of(evict_words, config->evict),
	       word_of(demand_words, config->demand), step_word(config->step));
	gauge_seconds("config_slice_seconds", "Slice of a full bin, at least", config->slice_ns);
	gauge_seconds("config_min_slice_seconds", "Shortest slice", config->min_slice_ns);
	gauge_seconds("config_max_pause_seconds",
		      "Longest time that a job may be frozen; 0: automatic", config->max_pause_ns);
	gauge("config_bin_bytes", "Size of a bin; 0: automatic", config->bin_bytes);
	gauge("config_step_bytes",
	      "Memory that changes hands at a switch; 0: as mts_config_info says",
	      config->step == MTS_STEP_BIN ? 0 : (u64)config->step << 20);
	gauge_permille("config_overhead_ratio",
		       "Share of the time that switches may take; 0: slices do not grow",
		       config->overhead);
	gauge_permille("config_interactive_ratio",
		       "Share of the capacity for interactive jobs; 0: all jobs take turns alike",
		       config->interactive);
}

static void show_status(const struct mts_status *st)
{
	gauge("jobs", "Jobs", st->jobs);
	gauge("frozen_jobs", "Jobs that are frozen by mts now", st->frozen);
	gauge("bins", "Bins; 0 while no turns are taken", st->bins);
	gauge("limited_jobs", "Jobs that are in every bin because of their own pause limit",
	      st->limited);
	gauge("capacity_bytes", "Memory that a bin may hold; 0: not yet known", st->capacity);
	gauge("demand_bytes", "Demand of the jobs in bins", st->demand);
	gauge("resident_demand_bytes", "Demand of the resident jobs", st->resident_demand);
	gauge_seconds("round_seconds", "Length of this round as planned; 0: none", st->round_ns);
	gauge_seconds("longest_pause_seconds",
		      "Longest time that a job is frozen in this round, as planned",
		      st->longest_pause_ns);
}

static void show_ways(const char *name, const char *help, u64 out, u64 in,
		      const struct mts_disk_info *disk)
{
	if (!disk->out.elapsed_ns && !disk->in.elapsed_ns)
		return;
	head(name, "gauge", help);
	if (disk->out.elapsed_ns) {
		printf("mts_%s{way=\"out\"}", name);
		print_seconds(out);
	}
	if (disk->in.elapsed_ns) {
		printf("mts_%s{way=\"in\"}", name);
		print_seconds(in);
	}
}

static void show_disk(const struct mts_disk_info *disk)
{
	show_ways("page_seconds", "Time until the next page is moved out to swap, or back in",
		  disk->out.elapsed_ns, disk->in.elapsed_ns, disk);
	show_ways("page_work_seconds", "Processor time to move a page", disk->out.worked_ns,
		  disk->in.worked_ns, disk);
	show_ways("page_wait_seconds", "Time for which a page waits for the disk",
		  disk->out.waited_ns, disk->in.waited_ns, disk);
	show_ways("page_age_seconds", "Time since that was measured", disk->out.age_ns,
		  disk->in.age_ns, disk);
}

static void show_counters(const struct mts_stats *stats)
{
	static const struct {
		const char *suffix, *of;
	} units[] = {
		[COUNT] = { "_total", "Number of " },
		[BYTES] = { "_bytes_total", "Bytes " },
		[PAGES] = { "_bytes_total", "Bytes " },
		[TIME] = { "_seconds_total", "Seconds " },
	};

	for (const struct stats_line *line = stats_lines; line->name; line++) {
		size_t length = strlen(line->name);
		char name[64], help[128];

		if (length > 3 && !strcmp(line->name + length - 3, "_ns"))
			length -= 3;
		snprintf(name, sizeof(name), "%.*s%s", (int)length, line->name,
			 units[line->unit].suffix);
		snprintf(help, sizeof(help), "%s%s", units[line->unit].of, line->text);
		head(name, "counter", help);
		printf("mts_%s", name);
		if (line->unit == TIME)
			print_seconds(stats_value(stats, line));
		else
			printf(" %llu\n", stats_value(stats, line));
	}
}

/* ---- bins ------------------------------------------------------------------------ */

static void show_bins(const struct snapshot *s)
{
	if (!s->nbins)
		return;
	head("bin_jobs", "gauge", "Jobs in the bin");
	for (u32 i = 0; i < s->nbins; i++)
		printf("mts_bin_jobs{bin=\"%u\"} %u\n", i, s->bins[i].jobs);
	head("bin_demand_bytes", "gauge", "Demand of the bin's jobs");
	for (u32 i = 0; i < s->nbins; i++)
		printf("mts_bin_demand_bytes{bin=\"%u\"} %llu\n", i, s->bins[i].demand);
	head("bin_slice_seconds", "gauge", "Slice of the bin in this round");
	for (u32 i = 0; i < s->nbins; i++) {
		printf("mts_bin_slice_seconds{bin=\"%u\"}", i);
		print_seconds(s->bins[i].slice_ns);
	}
	head("bin_running", "gauge",
	     "1: the bin runs, or is being brought back; several where bins overlap");
	for (u32 i = 0; i < s->nbins; i++)
		printf("mts_bin_running{bin=\"%u\"} %d\n", i, snapshot_runs(s, i));
}

/* ---- jobs ------------------------------------------------------------------------ */

struct job_metric {
	const char *name;
	const char *type;
	const char *help;
	bool seconds; /* the value is in ns */
	u64 (*value)(const struct snapshot *s, const struct mts_job_info *job);
};

static u64 frozen_now(const struct snapshot *s, const struct mts_job_info *job)
{
	return job->frozen_since_ns ? mts_sub_floor(s->status.now_ns, job->frozen_since_ns) : 0;
}

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
	{ "job_calls_total", "counter", "Times that a process outside waited for it while frozen",
	  false, calls },
	{ "job_calls_refused_total", "counter", "Of these: its budget was used up", false,
	  calls_refused },
};

static void print_job(const char *name, const struct mts_job_info *job)
{
	printf("mts_%s{id=\"%u\",job=\"", name, job->id);
	print_label(job->name);
	putchar('"');
}

static void show_job_infos(const struct snapshot *s)
{
	head("job_info", "gauge", "State of the job, and where it belongs");
	for (u32 i = 0; i < s->njobs; i++) {
		const struct mts_job_info *job = &s->jobs[i];
		char bin[16] = "", parent[16] = "";

		if (job->bin == MTS_BIN_EVERY)
			snprintf(bin, sizeof(bin), "every");
		else if (job->bin != MTS_BIN_NONE)
			snprintf(bin, sizeof(bin), "%u", job->bin);
		if (job->parent)
			snprintf(parent, sizeof(parent), "%u", job->parent);
		print_job("job_info", job);
		printf(",state=\"%s\",bin=\"%s\",parent=\"%s\",pin=\"%d\",each=\"%d\"} 1\n",
		       word_of(job_state_words, job->state), bin, parent,
		       !!(job->flags & MTS_JOB_PIN),
		       !!(job->flags & (MTS_JOB_EACH | MTS_JOB_EACH_LEAF)));
	}
}

static void show_jobs(const struct snapshot *s)
{
	if (!s->njobs)
		return;
	show_job_infos(s);
	for (size_t k = 0; k < sizeof(job_metrics) / sizeof(job_metrics[0]); k++) {
		const struct job_metric *metric = &job_metrics[k];

		head(metric->name, metric->type, metric->help);
		for (u32 i = 0; i < s->njobs; i++) {
			u64 value = metric->value(s, &s->jobs[i]);

			print_job(metric->name, &s->jobs[i]);
			putchar('}');
			if (metric->seconds)
				print_seconds(value);
			else
				printf(" %llu\n", value);
		}
	}
}

void stats_show_prometheus(const struct mts_stats *stats, const struct snapshot *s,
			   const struct mts_config *config)
{
	show_info(s, config);
	show_status(&s->status);
	show_disk(&s->disk);
	show_counters(stats);
	show_bins(s);
	show_jobs(s);
}

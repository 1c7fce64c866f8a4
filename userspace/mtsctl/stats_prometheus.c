// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>
#include <string.h>

#include "metrics.h"
#include "mtsctl.h"
#include "policy.h"
#include "stats.h"
#include "version.h"
#include "words.h"

/* Of a plan that has more bins, only the first ones have metrics of their own. */
#define BINS_MAX 64u
#define UP_HELP "1: the module or mtsd answers"

/* ---- the module ---------------------------------------------------------------- */

static const char *step_word(u32 step)
{
	return step == MTS_STEP_BIN ? "bin" : step == MTS_STEP_AUTO ? "auto" : "size";
}

static void show_info(const struct snapshot *s, const struct mts_config *config)
{
	metric_head("info", "gauge", "What answers, and the versions of the tool and the protocol");
	printf("mts_info{version=\"%s\",abi=\"%u\",engine=\"%s\"} 1\n", MTS_VERSION, s->status.abi,
	       s->status.sees & MTS_SEES_BY_USERSPACE ? "userspace" : "module");
	metric_head("state_info", "gauge", "State of the rotation, and why");
	printf("mts_state_info{state=\"%s\",reason=\"%s\"} 1\n",
	       word_of(state_words, s->status.state), word_of(reason_words, s->status.reason));
	metric_head("config_info", "gauge", "Configuration: the values that are words");
	printf("mts_config_info{mode=\"%s\",policy=\"%s\",share=\"%s\",pack=\"%s\",evict=\"%s\","
	       "demand=\"%s\",step=\"%s\"} 1\n",
	       word_of(mode_words, config->mode), word_of(policy_words, config->policy),
	       word_of(share_words, config->share), word_of(pack_words, config->pack),
	       word_of(evict_words, config->evict), word_of(demand_words, config->demand),
	       step_word(config->step));
	metric_gauge_seconds("config_slice_seconds", "Slice of a full bin, at least",
			     config->slice_ns);
	metric_gauge_seconds("config_min_slice_seconds", "Shortest slice", config->min_slice_ns);
	metric_gauge_seconds("config_max_pause_seconds",
			     "Longest time that a job may be frozen; 0: automatic",
			     config->max_pause_ns);
	metric_gauge("config_bin_bytes", "Size of a bin; 0: automatic", config->bin_bytes);
	metric_gauge("config_step_bytes",
		     "Memory that changes hands at a switch; 0: as mts_config_info says",
		     config->step == MTS_STEP_BIN ? 0 : (u64)config->step << 20);
	metric_gauge_permille("config_overhead_ratio",
			      "Share of the time that switches may take; 0: slices do not grow",
			      config->overhead);
	metric_gauge_permille(
		"config_interactive_ratio",
		"Share of the capacity for interactive jobs; 0: all jobs take turns alike",
		config->interactive);
}

static void show_status(const struct mts_status *st)
{
	metric_gauge("jobs", "Jobs", st->jobs);
	metric_gauge("frozen_jobs", "Jobs that are frozen by mts now", st->frozen);
	metric_gauge("bins", "Bins; 0 while no turns are taken", st->bins);
	metric_gauge("limited_jobs", "Jobs that are in every bin because of their own pause limit",
		     st->limited);
	metric_gauge("capacity_bytes", "Memory that a bin may hold; 0: not yet known",
		     st->capacity);
	metric_gauge("demand_bytes", "Demand of the jobs in bins", st->demand);
	metric_gauge("resident_demand_bytes", "Demand of the resident jobs", st->resident_demand);
	metric_gauge_seconds("round_seconds", "Length of this round as planned; 0: none",
			     st->round_ns);
	metric_gauge_seconds("longest_pause_seconds",
			     "Longest time that a job is frozen in this round, as planned",
			     st->longest_pause_ns);
	metric_gauge_seconds("pause_limit_seconds",
			     "Longest time that a job may be frozen now; 0: no turns are taken",
			     st->max_pause_ns);
}

/* One sample a policy; what is not known has none. */
static void show_policy(const struct mts_policy_info *info)
{
	metric_head("policy_info", "gauge", "The policy in force; trial=\"1\": it is being tried");
	printf("mts_policy_info{policy=\"%s\",trial=\"%u\"} 1\n",
	       word_of(policy_words, info->policy), info->on_trial);
	if (!policy_is_chosen(info))
		return;
	metric_head("policy_processors", "gauge",
		    "With policy=auto: processors' worth of work that jobs get with a policy");
	for (u32 i = 0; i < MTS_POLICIES; i++)
		if (info->of[i].how != MTS_GIVES_UNKNOWN)
			printf("mts_policy_processors{policy=\"%s\",how=\"%s\"} %u.%03u\n",
			       word_of(policy_words, i), word_of(gives_words, info->of[i].how),
			       info->of[i].permille / 1000, info->of[i].permille % 1000);
}

static void show_ways(const char *name, const char *help, u64 out, u64 in,
		      const struct mts_disk_info *disk)
{
	if (!disk->out.elapsed_ns && !disk->in.elapsed_ns)
		return;
	metric_head(name, "gauge", help);
	if (disk->out.elapsed_ns) {
		printf("mts_%s{way=\"out\"}", name);
		metric_end_seconds(out);
	}
	if (disk->in.elapsed_ns) {
		printf("mts_%s{way=\"in\"}", name);
		metric_end_seconds(in);
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
		metric_head(name, "counter", help);
		printf("mts_%s", name);
		if (line->unit == TIME)
			metric_end_seconds(stats_value(stats, line));
		else
			printf(" %llu\n", stats_value(stats, line));
	}
}

/* ---- bins ------------------------------------------------------------------------ */

static void show_bins(const struct snapshot *s)
{
	u32 n = mts_min(s->nbins, BINS_MAX);

	if (!n)
		return;
	metric_head("bin_jobs", "gauge", "Jobs in the bin");
	for (u32 i = 0; i < n; i++)
		printf("mts_bin_jobs{bin=\"%u\"} %u\n", i, s->bins[i].jobs);
	metric_head("bin_demand_bytes", "gauge", "Demand of the bin's jobs");
	for (u32 i = 0; i < n; i++)
		printf("mts_bin_demand_bytes{bin=\"%u\"} %llu\n", i, s->bins[i].demand);
	metric_head("bin_slice_seconds", "gauge", "Slice of the bin in this round");
	for (u32 i = 0; i < n; i++) {
		printf("mts_bin_slice_seconds{bin=\"%u\"}", i);
		metric_end_seconds(s->bins[i].slice_ns);
	}
	metric_head("bin_running", "gauge",
		    "1: the bin runs, or is being brought back; several where bins overlap");
	for (u32 i = 0; i < n; i++)
		printf("mts_bin_running{bin=\"%u\"} %d\n", i, snapshot_runs(s, i));
}

/* ---- all -------------------------------------------------------------------------- */

void stats_show_absent(void)
{
	metric_gauge("up", UP_HELP, 0);
	stats_show_host();
}

void stats_show_prometheus(const struct stats_all *all, u32 jobs_max)
{
	metric_gauge("up", UP_HELP, 1);
	show_info(&all->snapshot, &all->config);
	show_status(&all->snapshot.status);
	stats_show_jobs(&all->snapshot, jobs_max);
	show_policy(&all->snapshot.policy);
	show_disk(&all->snapshot.disk);
	show_counters(&all->stats);
	show_bins(&all->snapshot);
	stats_show_host();
}

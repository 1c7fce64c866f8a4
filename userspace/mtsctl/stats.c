// SPDX-License-Identifier: GPL-2.0
#include <stddef.h>
#include <stdio.h>
#include <unistd.h>

#include "format.h"
#include "ipc.h"
#include "mtsctl.h"
#include "parse.h"
#include "stats.h"
#include "status.h"

#define STAT(field, unit, text)                                       \
	{                                                             \
#field, offsetof(struct mts_stats, field), unit, text \
	}

const struct stats_line stats_lines[] = {
	STAT(rounds, COUNT, "rounds begun"),
	STAT(switches, COUNT, "switches between bins"),
	STAT(early_switches, COUNT, "slices cut short: nothing in the bin could run"),
	STAT(regroups, COUNT, "rounds cut short: the bin outgrew the capacity"),
	STAT(freezes, COUNT, "jobs frozen"),
	STAT(thaws, COUNT, "jobs thawed"),
	STAT(freeze_timeouts, COUNT, "jobs that did not freeze in 1 s"),
	STAT(overdue_thaws, COUNT, "jobs thawed by the watchdog: frozen too long"),
	STAT(foreign_thaws, COUNT, "jobs frozen by mts, and thawed by another process"),
	STAT(failsafe_thaws, COUNT, "times a fail-safe thawed everything"),
	STAT(evict_asked, BYTES, "asked for when evicting"),
	STAT(evict_got, BYTES, "evicted"),
	STAT(slice_ns, TIME, "in slices"),
	STAT(freeze_ns, TIME, "in freezing"),
	STAT(evict_ns, TIME, "in evicting"),
	STAT(jobs_created, COUNT, "jobs made by run"),
	STAT(jobs_added, COUNT, "jobs made by add"),
	STAT(jobs_each, COUNT, "jobs made by --each"),
	STAT(jobs_gone, COUNT, "jobs whose last process exited"),
	STAT(jobs_moved, COUNT, "jobs whose last process moved to another cgroup"),
	STAT(jobs_lapsed, COUNT, "added cgroups that ceased to be jobs: empty, or removed"),
	STAT(queue_starts, COUNT, "jobs that were in the queue, and have begun"),
	STAT(queue_passes, COUNT, "of these, before an older job of the queue"),
	STAT(queue_expired, COUNT, "of these, after their longest wait"),
	STAT(queue_ns, TIME, "time that they were in the queue"),
	STAT(delays, COUNT, "times that policy=fair froze a job for a moment"),
	STAT(delay_ns, TIME, "time of these"),
	STAT(holdings, COUNT, "times that policy=token gave the memory to another job"),
	STAT(holding_ns, TIME, "time for which a job had it"),
	STAT(begins, COUNT, "times that turns, or a policy without turns, began"),
	STAT(stops, COUNT, "times that a user or a fail-safe stopped mts"),
	STAT(each_missed, COUNT, "processes that --each left in the job of their parent"),
	STAT(bring_back_ns, TIME, "in bringing bins back"),
	STAT(brought_back, PAGES, "brought back"),
	STAT(left_in_swap, PAGES, "left in swap, because the last slices did not use them"),
	STAT(missed, PAGES, "left in swap, but used in the next slice"),
	STAT(inputs, COUNT, "times that a person's input reached a job"),
	STAT(interactive_thaws, COUNT, "jobs thawed at once: input, or a real-time thread"),
	STAT(interactive_wait_ns, TIME, "in waiting for these thaws"),
	STAT(hook_hits, COUNT, "kprobe hits"),
	STAT(hook_misses, COUNT, "kprobe hits that the kernel missed"),
	STAT(waits, COUNT, "times that a job waited for a frozen one"),
	STAT(wait_joins, COUNT, "pairs of such jobs put in one bin"),
	STAT(wait_thaws, COUNT, "jobs thawed for a lock that others waited for"),
	STAT(call_tasks, COUNT, "calls: a task was started in a frozen job"),
	STAT(call_signals, COUNT, "calls: a signal was to end a frozen job"),
	STAT(call_writes, COUNT, "calls: a write waited for a frozen job to read"),
	STAT(call_locks, COUNT, "calls: a file lock of a frozen job was waited for"),
	STAT(call_thaws, COUNT, "jobs thawed for a call"),
	STAT(call_refused, COUNT, "calls refused: the budget was used up"),
	STAT(foreign_freezes, COUNT, "freezes by other processes of jobs that mts had frozen"),
	STAT(passes, COUNT, "of the switches: those of overlapping bins"),
	STAT(early_begins, COUNT, "times that turns began at the first shortage"),
	STAT(workers_ns, TIME, "processor time of the threads that help to move memory"),
	STAT(reclaim_wakeups, COUNT, "wake-ups by the host's reclaim"),
	{ 0 },
};

/* Under the names and in the units of uapi/mts.h: pages are not converted to bytes. */
static u64 counter(const struct mts_stats *stats, const struct stats_line *line)
{
	return *(const __u64 *)((const char *)stats + line->offset);
}

u64 stats_value(const struct mts_stats *stats, const struct stats_line *line)
{
	u64 value = counter(stats, line);

	return line->unit == PAGES ? value * sysconf(_SC_PAGESIZE) : value;
}

static int show_json(const struct mts_stats *stats, const struct mts_disk_info *disk)
{
	json_t *root = json_root();

	for (const struct stats_line *line = stats_lines; line->name; line++)
		json_put(&root, line->name, json_u64(counter(stats, line)));
	json_put(&root, "page", status_disk_json(disk));
	return json_print(root);
}

static void show_way(const struct mts_page_way *way, const char *text)
{
	char buf[FORMAT_SIZE], age[FORMAT_SIZE];

	if (way->elapsed_ns)
		printf("%20s  %s, measured %s ago\n", format_page_time(buf, way->elapsed_ns), text,
		       format_time(age, way->age_ns));
	else
		printf("%20s  %s: not known\n", "-", text);
}

static void show(const struct mts_stats *stats, const struct mts_disk_info *disk)
{
	char buf[FORMAT_SIZE];

	for (const struct stats_line *line = stats_lines; line->name; line++) {
		u64 value = stats_value(stats, line);

		if (line->unit == COUNT)
			snprintf(buf, sizeof(buf), "%llu", value);
		else if (line->unit == TIME)
			format_time(buf, value);
		else
			format_size(buf, value);
		printf("%20s  %s\n", buf, line->text);
	}
	show_way(&disk->out, "a page out");
	show_way(&disk->in, "a page in");
}

int stats_take(struct stats_all *all)
{
	int ret;

	*all = (struct stats_all){ 0 };
	ret = ipc_stats(&all->stats);
	if (!ret)
		ret = snapshot_take(&all->snapshot);
	if (!ret)
		ret = ipc_config_get(&all->config);
	return ret;
}

void stats_free(struct stats_all *all)
{
	snapshot_free(&all->snapshot);
}

static int show_prometheus(u32 jobs_max)
{
	struct stats_all all;
	int ret;

	ret = stats_take(&all);
	if (ret)
		ret = device_failed("stats", -ret);
	else
		stats_show_prometheus(&all, jobs_max);
	stats_free(&all);
	return ret;
}

static int show_counters(bool json)
{
	struct mts_stats stats = { 0 };
	struct mts_disk_info disk;
	int ret;

	ret = ipc_stats(&stats);
	if (!ret)
		ret = ipc_disk(&disk);
	if (ret)
		return device_failed("stats", -ret);
	if (json)
		return show_json(&stats, &disk);
	show(&stats, &disk);
	return EXIT_OK;
}

struct stats_options {
	bool json, prometheus, http;
	u32 jobs_max; /* jobs that have metrics of their own */
};

static int parse_options(const struct command *command, int argc, char **argv,
			 struct stats_options *o)
{
	static const struct option options[] = {
		{ "json", no_argument, NULL, 'j' },
		{ "prometheus", no_argument, NULL, 'p' },
		{ "http", no_argument, NULL, 'w' },
		{ "per-job", optional_argument, NULL, 'o' },
		{ 0 },
	};
	const char *error;
	int opt;

	while ((opt = next_option(command, argc, argv, "", options)) != OPTION_END) {
		switch (opt) {
		case 'j':
			o->json = true;
			break;
		case 'p':
			o->prometheus = true;
			break;
		case 'w':
			o->http = true;
			break;
		case 'o':
			o->jobs_max = PER_JOB_DEFAULT;
			error = optarg ? parse_count(optarg, PER_JOB_MAX, &o->jobs_max) : NULL;
			if (error)
				return usage_error(command, "--per-job %s: %s", optarg, error);
			break;
		default:
			return opt == OPTION_HELP ? OPTION_HELP : EXIT_USAGE;
		}
	}
	if (optind != argc)
		return usage_error(command, "unexpected '%s'", argv[optind]);
	if (o->json + o->prometheus + o->http > 1)
		return usage_error(command, "--json, --prometheus or --http: one of them");
	if (o->jobs_max && !o->prometheus && !o->http)
		return usage_error(command, "--per-job: only with --prometheus or --http");
	return EXIT_OK;
}

int stats_main(const struct command *command, int argc, char **argv)
{
	struct stats_options o = { 0 };
	int ret;

	ret = parse_options(command, argc, argv, &o);
	if (ret)
		return ret == OPTION_HELP ? EXIT_OK : ret;
	if (o.http)
		return stats_answer_http(o.jobs_max);
	ret = device_open();
	if (ret)
		return ret;
	return o.prometheus ? show_prometheus(o.jobs_max) : show_counters(o.json);
}

// SPDX-License-Identifier: GPL-2.0
#include <stddef.h>
#include <stdio.h>

#include "format.h"
#include "ipc.h"
#include "mtsctl.h"

enum unit {
	COUNT,
	BYTES,
	TIME
};

#define STAT(field, unit, text)                                       \
	{                                                             \
#field, offsetof(struct mts_stats, field), unit, text \
	}

static const struct {
	const char *name;
	size_t offset;
	enum unit unit;
	const char *text;
} lines[] = {
	STAT(rounds, COUNT, "rounds begun"),
	STAT(switches, COUNT, "switches between bins"),
	STAT(early_switches, COUNT, "slices cut short: nothing in the bin could run"),
	STAT(regroups, COUNT, "rounds cut short: the bin outgrew the capacity"),
	STAT(freezes, COUNT, "jobs frozen"),
	STAT(thaws, COUNT, "jobs thawed"),
	STAT(freeze_timeouts, COUNT, "jobs that did not freeze in 1 s"),
	STAT(overdue_thaws, COUNT, "jobs thawed by the watchdog: frozen too long"),
	STAT(foreign_thaws, COUNT, "jobs of ours thawed by somebody else"),
	STAT(failsafe_thaws, COUNT, "times a fail-safe thawed everything"),
	STAT(evict_asked, BYTES, "asked for when evicting"),
	STAT(evict_got, BYTES, "evicted"),
	STAT(slice_ns, TIME, "in slices"),
	STAT(freeze_ns, TIME, "in freezing"),
	STAT(evict_ns, TIME, "in evicting"),
	STAT(jobs_created, COUNT, "jobs made by run"),
	STAT(jobs_added, COUNT, "jobs made by add"),
	STAT(jobs_each, COUNT, "jobs made by --each"),
	STAT(jobs_gone, COUNT, "jobs gone: nothing lives in them any more"),
	STAT(each_missed, COUNT, "children that stayed with their --each parent"),
	STAT(bring_back_ns, TIME, "time in bringing bins back"),
	STAT(brought_back, COUNT, "pages brought back"),
	STAT(left_in_swap, COUNT, "pages left in swap as not used"),
	STAT(missed, COUNT, "of these, pages that were used all the same"),
	STAT(reclaim_wakeups, COUNT, "wake-ups by the host's reclaim"),
};

#define N_LINES (sizeof(lines) / sizeof(lines[0]))

static u64 value_of(const struct mts_stats *stats, size_t line)
{
	return *(const __u64 *)((const char *)stats + lines[line].offset);
}

static int show_json(const struct mts_stats *stats)
{
	json_t *root = json_object();

	for (size_t i = 0; i < N_LINES; i++)
		json_put(&root, lines[i].name, json_u64(value_of(stats, i)));
	return json_print(root);
}

static void show(const struct mts_stats *stats)
{
	char buf[FORMAT_SIZE];

	for (size_t i = 0; i < N_LINES; i++) {
		u64 value = value_of(stats, i);

		if (lines[i].unit == COUNT)
			snprintf(buf, sizeof(buf), "%llu", value);
		else if (lines[i].unit == BYTES)
			format_size(buf, value);
		else
			format_time(buf, value);
		printf("%20s  %s\n", buf, lines[i].text);
	}
}

int stats_main(const struct command *command, int argc, char **argv)
{
	struct mts_stats stats = { 0 };
	bool json = false;
	int ret;

	ret = simple_options(command, argc, argv, &json);
	if (ret != OPTION_END)
		return ret;
	if (optind != argc)
		return usage_error(command, "unexpected '%s'", argv[optind]);
	ret = device_open();
	if (ret)
		return ret;
	ret = ipc_stats(&stats);
	if (ret)
		return device_failed("stats", -ret);
	if (json)
		return show_json(&stats);
	show(&stats);
	return EXIT_OK;
}

// SPDX-License-Identifier: GPL-2.0
/* Writes the statistics to a file. */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "rotator.h"

struct stats stats;

static const struct {
	const char *name;
	const uint64_t *value;
} fields[] = {
	{ "rounds", &stats.rounds },
	{ "switches", &stats.switches },
	{ "early_switches", &stats.early_switches },
	{ "regroups", &stats.regroups },
	{ "freeze_ns", &stats.freeze_ns },
	{ "evict_ns", &stats.evict_ns },
	{ "bring_back_ns", &stats.bring_back_ns },
	{ "evict_asked", &stats.evict_asked },
	{ "evict_got", &stats.evict_got },
	{ "brought_back", &stats.brought_back },
	{ "freeze_timeouts", &stats.freeze_timeouts },
	{ "split", &stats.split },
	{ "split_late", &stats.split_late },
	{ "split_late_bytes", &stats.split_late_bytes },
};

static bool write_all(const char *path)
{
	FILE *file = fopen(path, "we");
	bool good;

	if (!file)
		return false;
	fputs("{\"stats\": {", file);
	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
		fprintf(file, "%s\"%s\": %" PRIu64, i ? ", " : "", fields[i].name,
			*fields[i].value);
	fprintf(file,
		"}, \"jobs\": %" PRIu32 ", \"bins\": %" PRIu32 ", \"capacity\": %" PRIu64 "}\n",
		job_count, round_now.nbins, (uint64_t)round_now.plan.capacity);
	good = !ferror(file);
	return !fclose(file) && good;
}

void stats_write(void)
{
	static bool told;
	char path[PATH_MAX];

	if (!*options.stats)
		return;
	snprintf(path, sizeof(path), "%s.new", options.stats);
	if ((write_all(path) && !rename(path, options.stats)) || told)
		return;
	told = true;
	fprintf(stderr, "rotator: %s: %s\n", options.stats, strerror(errno));
}

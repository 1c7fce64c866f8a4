/* SPDX-License-Identifier: GPL-2.0 */
#ifndef MTSCTL_STATS_H
#define MTSCTL_STATS_H

#include "snapshot.h"

struct stats_line {
	const char *name; /* of the field in struct mts_stats */
	size_t offset;
	enum stats_unit {
		COUNT,
		BYTES,
		PAGES,
		TIME,
	} unit;
	const char *text; /* printed after the value */
};

/* Ends with a NULL name. */
extern const struct stats_line stats_lines[];

/* Pages as bytes. */
u64 stats_value(const struct mts_stats *stats, const struct stats_line *line);

void stats_show_prometheus(const struct mts_stats *stats, const struct snapshot *s,
			   const struct mts_config *config);

#endif /* MTSCTL_STATS_H */

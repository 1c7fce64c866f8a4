// SPDX-License-Identifier: GPL-2.0
/*
 * As much of the host as rules and dashboards of mts ask for, so that they need no other exporter.
 */
#include <stdio.h>
#include <unistd.h>

#include "host.h"
#include "host_file.h"
#include "metrics.h"
#include "stats.h"
#include "vitals.h"

static void show_processors(void)
{
	u64 tick_ns = 1000000000ull / sysconf(_SC_CLK_TCK);
	u64 user, nice;
	const char *text;

	metric_gauge("host_processors", "Processors that are online", host_processors());
	text = host_file_read("/proc/stat");
	if (text && sscanf(text, "cpu %llu %llu", &user, &nice) == 2)
		metric_counter_seconds(
			"host_user_seconds_total",
			"Processor time of programs, without the kernel's, since boot",
			mts_add_sat(user, nice) * tick_ns);
}

void stats_show_host(void)
{
	u64 page = sysconf(_SC_PAGESIZE);
	struct vitals v;

	show_processors();
	if (vitals_open() || vitals_read(&v))
		return;
	metric_gauge("host_available_bytes", "Memory that is available without swapping",
		     v.mem_available);
	metric_gauge("host_swap_size_bytes", "Size of swap", v.swap_total);
	metric_gauge("host_swap_free_bytes", "Swap that is free", v.swap_free);
	metric_counter("host_swapped_out_bytes_total", "Bytes that went to swap, or to zswap",
		       mts_add_sat(v.pswpout, v.zswpout) * page);
	metric_counter("host_swapped_in_bytes_total", "Bytes that came from swap, or from zswap",
		       mts_add_sat(v.pswpin, v.zswpin) * page);
	metric_counter("host_major_faults_total", "Faults that waited for a page to be read",
		       v.pgmajfault);
}

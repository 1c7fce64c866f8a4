// SPDX-License-Identifier: GPL-2.0
/*
 * The measuring process (section 4.2): processor time at user and system level from /proc/stat,
 * pgpgin and pgpgout from /proc/vmstat, once an interval. Its memory is locked, and a line is
 * out as soon as it is measured, so that nothing is lost however it ends.
 */
#include "consumers.h"

#include <err.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "clock.h"
#include "proc.h"
#include "signals.h"

struct sample {
	uint64_t ns;
	struct proc_cpu cpu;
	uint64_t in, out; /* KiB */
};

static void take(struct sample *sample)
{
	const char *text = proc_read("/proc/vmstat");

	if (!text)
		err(EXIT_FAILURE, "/proc/vmstat");
	sample->in = proc_value(text, "pgpgin");
	sample->out = proc_value(text, "pgpgout");
	if (!proc_cpu(&sample->cpu))
		errx(EXIT_FAILURE, "/proc/stat: not as expected");
	sample->ns = clock_now();
}

int measure(const struct options *options)
{
	struct sample last, now;
	uint64_t next;

	proc_lock();
	take(&last);
	next = last.ns;
	printf("{\"program\": \"consumers\", \"part\": \"measure\", \"start\": %.6f"
	       ", \"interval\": %.6f, \"ticks_per_second\": %ld, \"columns\": [\"t\", \"user_ticks\""
	       ", \"system_ticks\", \"pgpgin_kib\", \"pgpgout_kib\"]}\n",
	       clock_seconds(last.ns), clock_seconds(options->interval_ns), sysconf(_SC_CLK_TCK));
	fflush(stdout);
	while (!signalled) {
		if (clock_tick(&next, options->interval_ns))
			continue;
		take(&now);
		printf("[%.4f,%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 "]\n",
		       clock_seconds(now.ns), now.cpu.user - last.cpu.user,
		       now.cpu.system - last.cpu.system, now.in - last.in, now.out - last.out);
		fflush(stdout);
		last = now;
	}
	return EXIT_SUCCESS;
}

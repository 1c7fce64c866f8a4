// SPDX-License-Identifier: GPL-2.0
/*
 * The measuring process (section 4.2): processor time at user and system level from /proc/stat,
 * pgpgin and pgpgout from /proc/vmstat, once an interval. Its memory is locked, and a line is
 * out as soon as it is measured, so that nothing is lost however it ends.
 */
#include "consumers.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "clock.h"
#include "proc.h"

struct sample {
	uint64_t ns;
	struct proc_cpu cpu;
	uint64_t in, out; /* KiB */
};

static void take(struct sample *sample)
{
	const char *text = proc_read("/proc/vmstat");

	if (!text) {
		fprintf(stderr, "consumers: /proc/vmstat: %s\n", strerror(errno));
		exit(EXIT_FAILURE);
	}
	sample->in = proc_value(text, "pgpgin");
	sample->out = proc_value(text, "pgpgout");
	if (!proc_cpu(&sample->cpu)) {
		fputs("consumers: /proc/stat: not as expected\n", stderr);
		exit(EXIT_FAILURE);
	}
	sample->ns = clock_now();
}

int measure(const struct options *options)
{
	struct sample last, now;
	uint64_t next;

	if (mlockall(MCL_CURRENT | MCL_FUTURE))
		fprintf(stderr, "consumers: cannot lock the memory (%s): samples may be late\n",
			strerror(errno));
	take(&last);
	next = last.ns;
	printf("{\"program\": \"consumers\", \"part\": \"measure\", \"start\": %.6f"
	       ", \"interval\": %.6f, \"ticks_per_second\": %ld, \"columns\": [\"t\", \"user_ticks\""
	       ", \"system_ticks\", \"pgpgin_kib\", \"pgpgout_kib\"]}\n",
	       clock_seconds(last.ns), clock_seconds(options->interval_ns), sysconf(_SC_CLK_TCK));
	fflush(stdout);
	while (!signalled) {
		next += options->interval_ns;
		if (next < clock_now()) /* late: what was missed is not made up for */
			next += (clock_now() - next) / options->interval_ns * options->interval_ns;
		if (clock_sleep_until(next))
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

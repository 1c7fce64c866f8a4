// SPDX-License-Identifier: GPL-2.0
/*
 * The scanners and the monitor of Hartman & Narasimhan, "Virtual Memory-Induced Priority
 * Inversion in Multi-Tasked Systems", section 3.3.
 */
#include "scanners.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "children.h"
#include "clock.h"
#include "signals.h"

static pid_t start(const struct options *options, int (*part)(const struct options *))
{
	pid_t pid = children_fork(SIGTERM);

	if (!pid)
		exit(part(options));
	return pid;
}

/*
 * Launches the scanners, waits for them, and then ends the monitor. (The paper's monitor launched
 * them itself; apart from it they can be jobs of their own.)
 */
static int run(struct options *options)
{
	pid_t watching = start(options, monitor);
	pid_t scanners[100];
	uint64_t next = clock_now() + options->first_ns;
	unsigned int count = 0;
	char name[32];

	for (; count < options->scanners && !signalled; count++) {
		while (clock_sleep_until(next) && !signalled)
			;
		if (signalled)
			break;
		snprintf(name, sizeof(name), "scanner%u", count);
		options->name = name;
		scanners[count] = start(options, scan);
		next += options->delay_ns;
	}
	return children_wait(scanners, count, watching);
}

int main(int argc, char **argv)
{
	struct options options;
	enum part part = options_parse(&options, argc, argv);

	signals_catch();
	switch (part) {
	case PART_SCAN:
		return scan(&options);
	case PART_MONITOR:
		return monitor(&options);
	default:
		return run(&options);
	}
}

// SPDX-License-Identifier: GPL-2.0
/*
 * The benchmark tool of Maziero, dos Santos & Santin, "Evaluation of desktop operating systems
 * under thrashing conditions" (2012), section 4: N consumer processes that bring the system to
 * thrashing one by one and let it recover, a process that measures, and a master.
 */
#include "consumers.h"

#include <signal.h>
#include <stdlib.h>

#include "children.h"
#include "signals.h"

static pid_t start(const struct options *options, int (*part)(const struct options *))
{
	pid_t pid = children_fork(SIGKILL);

	if (!pid)
		exit(part(options));
	return pid;
}

/* The master process. It has little memory of its own, and only waits. */
static int run(struct options *options)
{
	pid_t measuring = start(options, measure);
	pid_t consumers[1000];
	unsigned int count = 0;

	for (; count < options->processes; count++) {
		options->index = count;
		consumers[count] = start(options, consume);
	}
	return children_wait(consumers, count, measuring);
}

int main(int argc, char **argv)
{
	struct options options;
	enum part part = options_parse(&options, argc, argv);

	signals_catch();
	switch (part) {
	case PART_CONSUME:
		return consume(&options);
	case PART_MEASURE:
		return measure(&options);
	default:
		return run(&options);
	}
}

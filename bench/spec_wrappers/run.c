// SPDX-License-Identifier: GPL-2.0
#define _GNU_SOURCE
#include "run.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "args.h"
#include "random.h"

#define MAX_RUNS 1000000u

struct run run_parse(const char *name, const char *usage, uint64_t most, int argc, char **argv)
{
	static const struct option options[] = { { "seed", required_argument, NULL, 's' },
						 { "runs", required_argument, NULL, 'n' },
						 { "help", no_argument, NULL, 'h' },
						 { NULL, 0, NULL, 0 } };
	struct run run = { .runs = 1 };
	uint64_t seed = 1;
	int option;

	args_program(name);
	while ((option = getopt_long(argc, argv, "s:n:h", options, NULL)) != -1) {
		switch (option) {
		case 's':
			seed = args_number("--seed", optarg, 0);
			break;
		case 'n':
			run.runs = args_number("--runs", optarg, 0);
			break;
		case 'h':
			fputs(usage, stdout);
			exit(EXIT_SUCCESS);
		default:
			exit(ARGS_USAGE);
		}
	}
	if (!run.runs || run.runs > MAX_RUNS)
		args_refuse("--runs %" PRIu64 ": not from 1 to %u", run.runs, MAX_RUNS);
	if (optind + 1 != argc)
		args_refuse("exactly one size is needed");
	run.size = args_number("SIZE", argv[optind], 0);
	if (!run.size || run.size > most)
		args_refuse("SIZE %" PRIu64 ": not from 1 to %" PRIu64, run.size, most);
	run.random = random_start(seed, 0);
	return run;
}

void run_fail(const char *format, ...)
{
	va_list args;

	fprintf(stderr, "%s: ", program_invocation_short_name);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	exit(EXIT_FAILURE);
}

void *run_calloc(uint64_t count, uint64_t size)
{
	void *memory = calloc(count, size);

	if (!memory)
		run_fail("no memory for %" PRIu64 " bytes", count * size);
	return memory;
}

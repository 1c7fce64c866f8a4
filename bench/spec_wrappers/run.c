// SPDX-License-Identifier: GPL-2.0
#include "run.h"

#include <err.h>
#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

#include "args.h"
#include "random.h"

#define MAX_RUNS 1000000u

struct run run_parse(const char *name, const char *usage, uint64_t most, int argc, char **argv)
{
	struct run run = { .runs = 1 };
	uint64_t seed = 1;
	const struct args_option table[] = {
		{ "seed", 's', ARGS_NUMBER, &seed },
		{ "runs", 'n', ARGS_NUMBER, &run.runs },
		{ 0 },
	};

	args_options(name, usage, table, argc, argv);
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

void *run_calloc(uint64_t count, uint64_t size)
{
	void *memory = calloc(count, size);

	if (!memory)
		errx(EXIT_FAILURE, "no memory for %" PRIu64 " bytes", count * size);
	return memory;
}

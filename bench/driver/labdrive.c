// SPDX-License-Identifier: GPL-2.0
/*
 * labdrive: starts the jobs of an experiment in a laboratory guest, watches them, and reports
 * what came of it. README.md specifies input and output.
 */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "args.h"
#include "counters.h"
#include "pin.h"
#include "report.h"
#include "run.h"
#include "spawn.h"
#include "util.h"

static const char usage[] =
	"usage: labdrive [options] JOBS.json\n"
	"\n"
	"Starts the jobs of JOBS.json, watches them, and reports on standard output.\n"
	"\n"
	"      --directory DIR  for work and output files (/run/lab); best in a tmpfs\n"
	"      --mtsctl PATH    for start \"mts\" (/bin/mtsctl)\n"
	"      --unprivileged   neither lock memory nor ask for real-time priority:\n"
	"                       for tests; only with free_mib 0\n"
	"  -h, --help\n"
	"\n"
	"exit status: 0 there is a result, 1 there is none, 2 usage\n";

struct options {
	const char *directory;
	const char *mtsctl;
	const char *input;
	bool unprivileged;
};

static void parse(struct options *options, int argc, char **argv)
{
	const struct args_option table[] = {
		{ "directory", 0, ARGS_TEXT, &options->directory },
		{ "mtsctl", 0, ARGS_TEXT, &options->mtsctl },
		{ "unprivileged", 0, ARGS_FLAG, &options->unprivileged },
		{ 0 },
	};

	*options = (struct options){ .directory = "/run/lab", .mtsctl = "/bin/mtsctl" };
	args_options("labdrive", usage, table, argc, argv);
	if (argc - optind != 1)
		args_refuse("exactly one JOBS.json is needed");
	options->input = argv[optind];
}

/* Freed memory stays with the driver, so that it does not have to be allocated again. */
static void keep_memory(void)
{
	mallopt(M_TRIM_THRESHOLD, -1);
	mallopt(M_MMAP_MAX, 0);
}

int main(int argc, char **argv)
{
	struct options options;
	struct input input = { 0 };
	struct run run = { 0 };

	parse(&options, argc, argv);
	keep_memory();
	input_read(options.input, &input);
	if (options.unprivileged && input.free_mib > 0)
		fail("--unprivileged: only with free_mib 0");
	spawn_setup();
	run.jobs.mtsctl = options.mtsctl;
	run_prepare(&run, &input);
	jobs_prepare(&run.jobs, &input, options.directory);
	counters_open();
	if (!options.unprivileged)
		pin_self();
	if (input.free_mib > 0)
		run.pinned_mib = pin_rest(input.free_mib);
	run.free_mib = pin_available_mib();
	run_measure(&run);
	run_end(&run);
	report(&run);
	if (fflush(stdout) || ferror(stdout))
		return EXIT_FAILURE;
	return EXIT_SUCCESS;
}

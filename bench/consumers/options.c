// SPDX-License-Identifier: GPL-2.0
/* The command line. */
#include "consumers.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "args.h"

static const char usage[] =
	"usage: consumers run|consume|measure [options]\n"
	"\n"
	"  run        the whole tool: N consumers, and a measuring process beside them\n"
	"  consume    one consumer\n"
	"  measure    the measuring process, until SIGTERM\n"
	"\n"
	"  -N, --processes N      consumers (25)\n"
	"  -i, --index N          of this consumer, 0 to N-1 (0)\n"
	"  -S, --size SIZE        memory of each (100M)\n"
	"  -W, --writes COUNT     writes in a cycle (10000)\n"
	"  -s, --sleep SECONDS    between two cycles (0.1)\n"
	"  -c, --delay SECONDS    between the starts of two consumers (30)\n"
	"  -l, --lead SECONDS     before the first one starts (10)\n"
	"  -a, --active SECONDS   how long a consumer is active ((N + 1) times --delay)\n"
	"      --interval SECONDS of measuring (1)\n"
	"      --seed N           of the writes (1)\n"
	"  -h, --help\n"
	"\n"
	"SIZE: bytes, or with K, M or G (1024). COUNT: or with K, M or G (1000).\n"
	"What is printed: README.md. exit status: 0 done, 1 no memory, 2 usage,\n"
	"4 ended by a signal\n";

static const struct option long_options[] = {
	{ "processes", required_argument, NULL, 'N' },
	{ "index", required_argument, NULL, 'i' },
	{ "size", required_argument, NULL, 'S' },
	{ "writes", required_argument, NULL, 'W' },
	{ "sleep", required_argument, NULL, 's' },
	{ "delay", required_argument, NULL, 'c' },
	{ "lead", required_argument, NULL, 'l' },
	{ "active", required_argument, NULL, 'a' },
	{ "interval", required_argument, NULL, 'I' },
	{ "seed", required_argument, NULL, 'R' },
	{ "help", no_argument, NULL, 'h' },
	{ NULL, 0, NULL, 0 },
};

static enum part find_part(const char *name)
{
	if (!strcmp(name, "run"))
		return PART_RUN;
	if (!strcmp(name, "consume"))
		return PART_CONSUME;
	if (!strcmp(name, "measure"))
		return PART_MEASURE;
	args_refuse("%s: not one of run, consume, measure", name);
}

static void check(struct options *options)
{
	if (!options->processes || options->processes > 1000)
		args_refuse("--processes: from 1 to 1000");
	if (options->index >= options->processes)
		args_refuse("--index: from 0 to one less than --processes");
	if (!options->writes)
		args_refuse("--writes 0: nothing to do");
	if (!options->sleep_ns || !options->delay_ns || !options->interval_ns)
		args_refuse("--sleep, --delay and --interval cannot be 0");
	if (!options->active_ns)
		options->active_ns = (options->processes + 1) * options->delay_ns;
}

enum part options_parse(struct options *options, int argc, char **argv)
{
	enum part part;
	int option;

	args_program("consumers");
	*options = (struct options){
		.processes = 25,
		.size = 100u << 20,
		.writes = 10000,
		.sleep_ns = 100000000u,
		.delay_ns = 30000000000u,
		.lead_ns = 10000000000u,
		.interval_ns = 1000000000u,
		.seed = 1,
	};
	while ((option = getopt_long(argc, argv, "N:i:S:W:s:c:l:a:h", long_options, NULL)) != -1) {
		switch (option) {
		case 'N':
			options->processes = args_number("--processes", optarg, 0);
			break;
		case 'i':
			options->index = args_number("--index", optarg, 0);
			break;
		case 'S':
			options->size = args_size("--size", optarg);
			break;
		case 'W':
			options->writes = args_number("--writes", optarg, 1000);
			break;
		case 's':
			options->sleep_ns = args_seconds("--sleep", optarg);
			break;
		case 'c':
			options->delay_ns = args_seconds("--delay", optarg);
			break;
		case 'l':
			options->lead_ns = args_seconds("--lead", optarg);
			break;
		case 'a':
			options->active_ns = args_seconds("--active", optarg);
			break;
		case 'I':
			options->interval_ns = args_seconds("--interval", optarg);
			break;
		case 'R':
			options->seed = args_number("--seed", optarg, 0);
			break;
		case 'h':
			fputs(usage, stdout);
			exit(EXIT_SUCCESS);
		default:
			fputs("Try 'consumers --help'.\n", stderr);
			exit(ARGS_USAGE);
		}
	}
	if (optind != argc - 1)
		args_refuse("exactly one of run, consume and measure is needed");
	part = find_part(argv[optind]);
	check(options);
	return part;
}

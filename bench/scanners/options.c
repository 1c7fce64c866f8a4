// SPDX-License-Identifier: GPL-2.0
/* The command line. */
#include "scanners.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "args.h"

static const char usage[] =
	"usage: scanners run|scan|monitor [options]\n"
	"\n"
	"  run        a monitor, and scanners that it launches one after the other\n"
	"  scan       one scanner: writes its memory byte by byte, again and again\n"
	"  monitor    the monitor alone, until SIGTERM: of itself and of all processes whose\n"
	"             name is --name and a number\n"
	"\n"
	"  -s, --size SIZE        memory of a scanner (384M)\n"
	"  -d, --duration SECONDS how long a scanner runs (0: until SIGTERM or SIGINT)\n"
	"  -g, --goal N           passes that are all of its work, for the work counter (0: none)\n"
	"  -n, --name NAME        of scanners' processes and counters (scanner)\n"
	"      --nice N           of a scanner: 0 to 19 (0)\n"
	"      --seed N           of what it writes (1)\n"
	"  -i, --interval SECONDS of monitoring (1)\n"
	"  -c, --scanners N       to run (3)\n"
	"  -f, --first SECONDS    before the first scanner is launched (12)\n"
	"  -l, --delay SECONDS    between two launches (115)\n"
	"  -h, --help\n"
	"\n"
	"SIZE: bytes, or with K, M or G (1024). What is printed: README.md.\n"
	"exit status: 0 done, 1 no memory or data lost, 2 usage, 4 ended by a signal\n";

static const struct option long_options[] = {
	{ "size", required_argument, NULL, 's' },     { "duration", required_argument, NULL, 'd' },
	{ "goal", required_argument, NULL, 'g' },     { "name", required_argument, NULL, 'n' },
	{ "nice", required_argument, NULL, 'N' },     { "seed", required_argument, NULL, 'S' },
	{ "interval", required_argument, NULL, 'i' }, { "scanners", required_argument, NULL, 'c' },
	{ "first", required_argument, NULL, 'f' },    { "delay", required_argument, NULL, 'l' },
	{ "help", no_argument, NULL, 'h' },	      { NULL, 0, NULL, 0 },
};

static enum part find_part(const char *name)
{
	if (!strcmp(name, "run"))
		return PART_RUN;
	if (!strcmp(name, "scan"))
		return PART_SCAN;
	if (!strcmp(name, "monitor"))
		return PART_MONITOR;
	args_refuse("%s: not one of run, scan, monitor", name);
}

static void set(struct options *options, int option)
{
	switch (option) {
	case 's':
		options->size = args_size("--size", optarg);
		break;
	case 'd':
		options->duration_ns = args_seconds("--duration", optarg);
		break;
	case 'g':
		options->goal = args_number("--goal", optarg, 0);
		break;
	case 'n':
		options->name = optarg;
		break;
	case 'N':
		options->nice = (int)args_number("--nice", optarg, 0);
		if (options->nice > 19)
			args_refuse("--nice %s: from 0 to 19", optarg);
		break;
	case 'S':
		options->seed = args_number("--seed", optarg, 0);
		break;
	case 'i':
		options->interval_ns = args_seconds("--interval", optarg);
		break;
	case 'c':
		options->scanners = args_number("--scanners", optarg, 0);
		break;
	case 'f':
		options->first_ns = args_seconds("--first", optarg);
		break;
	case 'l':
		options->delay_ns = args_seconds("--delay", optarg);
		break;
	case 'h':
		fputs(usage, stdout);
		exit(EXIT_SUCCESS);
	default:
		fputs("Try 'scanners --help'.\n", stderr);
		exit(ARGS_USAGE);
	}
}

enum part options_parse(struct options *options, int argc, char **argv)
{
	int option;

	args_program("scanners");
	*options = (struct options){
		.name = "scanner",
		.size = 384u << 20,
		.seed = 1,
		.interval_ns = 1000000000u,
		.scanners = 3,
		.first_ns = 12000000000u,
		.delay_ns = 115000000000u,
	};
	while ((option = getopt_long(argc, argv, "s:d:g:n:i:c:f:l:h", long_options, NULL)) != -1)
		set(options, option);
	if (optind != argc - 1)
		args_refuse("exactly one of run, scan and monitor is needed");
	if (!options->interval_ns)
		args_refuse("--interval 0: no time between two samples");
	if (!*options->name || strpbrk(options->name, "\"\\"))
		args_refuse("--name %s: no quotes or backslashes, and not empty", options->name);
	if (!options->scanners || options->scanners > 100)
		args_refuse("--scanners: from 1 to 100");
	return find_part(argv[optind]);
}

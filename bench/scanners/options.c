// SPDX-License-Identifier: GPL-2.0
/* The command line. */
#include "scanners.h"

#include <string.h>
#include <unistd.h>

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

enum part options_parse(struct options *options, int argc, char **argv)
{
	uint64_t nice = 0;
	const struct args_option table[] = {
		{ "size", 's', ARGS_SIZE, &options->size },
		{ "duration", 'd', ARGS_SECONDS, &options->duration_ns },
		{ "goal", 'g', ARGS_NUMBER, &options->goal },
		{ "name", 'n', ARGS_TEXT, &options->name },
		{ "nice", 0, ARGS_NUMBER, &nice },
		{ "seed", 0, ARGS_NUMBER, &options->seed },
		{ "interval", 'i', ARGS_SECONDS | ARGS_POSITIVE, &options->interval_ns },
		{ "scanners", 'c', ARGS_NUMBER, &options->scanners },
		{ "first", 'f', ARGS_SECONDS, &options->first_ns },
		{ "delay", 'l', ARGS_SECONDS, &options->delay_ns },
		{ 0 },
	};

	*options = (struct options){
		.name = "scanner",
		.size = 384u << 20,
		.seed = 1,
		.interval_ns = 1000000000u,
		.scanners = 3,
		.first_ns = 12000000000u,
		.delay_ns = 115000000000u,
	};
	args_options("scanners", usage, table, argc, argv);
	if (optind != argc - 1)
		args_refuse("exactly one of run, scan and monitor is needed");
	if (nice > 19)
		args_refuse("--nice: from 0 to 19");
	options->nice = (int)nice;
	if (!*options->name || strpbrk(options->name, "\"\\"))
		args_refuse("--name %s: no quotes or backslashes, and not empty", options->name);
	if (!options->scanners || options->scanners > 100)
		args_refuse("--scanners: from 1 to 100");
	return args_word("", argv[optind], "run|scan|monitor"); /* as in enum part */
}

// SPDX-License-Identifier: GPL-2.0
/* The command line. */
#include "consumers.h"

#include <unistd.h>

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

static void check(struct options *options)
{
	if (!options->processes || options->processes > 1000)
		args_refuse("--processes: from 1 to 1000");
	if (options->index >= options->processes)
		args_refuse("--index: from 0 to one less than --processes");
	if (!options->active_ns)
		options->active_ns = (options->processes + 1) * options->delay_ns;
}

enum part options_parse(struct options *options, int argc, char **argv)
{
	enum part part;
	const struct args_option table[] = {
		{ "processes", 'N', ARGS_NUMBER, &options->processes },
		{ "index", 'i', ARGS_NUMBER, &options->index },
		{ "size", 'S', ARGS_SIZE, &options->size },
		{ "writes", 'W', ARGS_COUNT | ARGS_POSITIVE, &options->writes },
		{ "sleep", 's', ARGS_SECONDS | ARGS_POSITIVE, &options->sleep_ns },
		{ "delay", 'c', ARGS_SECONDS | ARGS_POSITIVE, &options->delay_ns },
		{ "lead", 'l', ARGS_SECONDS, &options->lead_ns },
		{ "active", 'a', ARGS_SECONDS, &options->active_ns },
		{ "interval", 0, ARGS_SECONDS | ARGS_POSITIVE, &options->interval_ns },
		{ "seed", 0, ARGS_NUMBER, &options->seed },
		{ 0 },
	};

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
	args_options("consumers", usage, table, argc, argv);
	if (optind != argc - 1)
		args_refuse("exactly one of run, consume and measure is needed");
	part = args_word("", argv[optind], "run|consume|measure"); /* as in enum part */
	check(options);
	return part;
}

// SPDX-License-Identifier: GPL-2.0
/* SYN8: the command line. */
#include <inttypes.h>
#include <unistd.h>

#include "args.h"
#include "syn8.h"

#define MAX_PROCESSES 4096u

static const char usage[] =
	"usage: syn8 (--processes N | --total SIZE) --accesses COUNT [options]\n"
	"\n"
	"Forks processes that access their memory at random, and measures them.\n"
	"\n"
	"  -n, --processes N      processes\n"
	"  -t, --total SIZE       memory of all processes together, instead of -n\n"
	"  -s, --size SIZE        memory of each process (8M)\n"
	"  -a, --accesses COUNT   accesses of each process, each a read and a write\n"
	"      --seed N           of the random numbers (1)\n"
	"      --limit SECONDS    end after this time and report the work done\n"
	"      --interval SECONDS print a line of progress this often\n"
	"      --progress FILE    append these lines to FILE (stderr)\n"
	"      --json             print the result as one JSON object\n"
	"  -h, --help\n"
	"\n"
	"SIZE: bytes, or with K, M or G (1024). COUNT: or with K, M or G (1000).\n"
	"exit status: 0 all work done, 1 a process failed, 2 usage, 3 limit reached,\n"
	"4 ended by SIGINT or SIGTERM\n";

static void check(struct options *options, uint64_t processes, uint64_t total)
{
	if (!processes == !total)
		args_refuse("exactly one of --processes and --total is needed");
	if (total % options->size)
		args_refuse("--total %" PRIu64 ": not a multiple of --size %" PRIu64, total,
			    options->size);
	if (total)
		processes = total / options->size;
	if (processes > MAX_PROCESSES)
		args_refuse("%" PRIu64 " processes: more than %u", processes, MAX_PROCESSES);
	options->processes = (unsigned int)processes;
	if (!options->accesses)
		args_refuse("--accesses is needed, and not 0");
	if (options->accesses > UINT64_MAX / MAX_PROCESSES)
		args_refuse("--accesses %" PRIu64 ": too large", options->accesses);
	if (options->progress && !options->interval_ns)
		args_refuse("--progress needs --interval");
}

void options_parse(struct options *options, int argc, char **argv)
{
	uint64_t processes = 0, total = 0;
	const struct args_option table[] = {
		{ "processes", 'n', ARGS_NUMBER | ARGS_POSITIVE, &processes },
		{ "total", 't', ARGS_BYTES | ARGS_POSITIVE, &total },
		{ "size", 's', ARGS_SIZE, &options->size },
		{ "accesses", 'a', ARGS_COUNT, &options->accesses },
		{ "seed", 0, ARGS_NUMBER, &options->seed },
		{ "limit", 0, ARGS_SECONDS | ARGS_POSITIVE, &options->limit_ns },
		{ "interval", 0, ARGS_SECONDS | ARGS_POSITIVE, &options->interval_ns },
		{ "progress", 0, ARGS_TEXT, &options->progress },
		{ "json", 0, ARGS_FLAG, &options->json },
		{ 0 },
	};

	*options = (struct options){ .size = 8u << 20, .seed = 1 };
	args_options("syn8", usage, table, argc, argv);
	if (optind < argc)
		args_refuse("%s: no argument is expected here", argv[optind]);
	check(options, processes, total);
}

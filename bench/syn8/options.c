// SPDX-License-Identifier: GPL-2.0
/* SYN8: the command line. */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "syn8.h"

#define MAX_PROCESSES 4096u
#define MAX_SECONDS 100000000.0

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

static __attribute__((noreturn, format(printf, 1, 2))) void refuse(const char *format, ...)
{
	va_list args;

	fputs("syn8: ", stderr);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputs("\nTry 'syn8 --help'.\n", stderr);
	exit(EXIT_USAGE);
}

/* A number without sign or space, with an optional K, M or G. */
static uint64_t parse_number(const char *option, const char *text, unsigned int kilo)
{
	static const char units[] = "KMG";
	const char *unit;
	uint64_t value;
	char *end;

	errno = 0;
	value = strtoull(text, &end, 10);
	if (text[0] < '0' || text[0] > '9' || errno)
		refuse("%s %s: not a number", option, text);
	if (!*end)
		return value;
	unit = kilo ? strchr(units, *end) : NULL;
	if (!unit || end[1])
		refuse("%s %s: not a number%s", option, text, kilo ? " (of K, M or G)" : "");
	for (; unit >= units; unit--)
		if (__builtin_mul_overflow(value, kilo, &value))
			refuse("%s %s: too large", option, text);
	return value;
}

static uint64_t parse_seconds(const char *option, const char *text)
{
	double value;
	char *end;

	if (strspn(text, "0123456789.") != strlen(text))
		refuse("%s %s: not a number of seconds", option, text);
	value = strtod(text, &end);
	if (end == text || *end || value > MAX_SECONDS)
		refuse("%s %s: not a number of seconds", option, text);
	if (value < 0.001)
		refuse("%s %s: less than a millisecond", option, text);
	return (uint64_t)(value * 1e9);
}

enum {
	OPTION_SEED = 256,
	OPTION_LIMIT,
	OPTION_INTERVAL,
	OPTION_PROGRESS,
	OPTION_JSON
};

static const struct option long_options[] = {
	{ "processes", required_argument, NULL, 'n' },
	{ "total", required_argument, NULL, 't' },
	{ "size", required_argument, NULL, 's' },
	{ "accesses", required_argument, NULL, 'a' },
	{ "seed", required_argument, NULL, OPTION_SEED },
	{ "limit", required_argument, NULL, OPTION_LIMIT },
	{ "interval", required_argument, NULL, OPTION_INTERVAL },
	{ "progress", required_argument, NULL, OPTION_PROGRESS },
	{ "json", no_argument, NULL, OPTION_JSON },
	{ "help", no_argument, NULL, 'h' },
	{ NULL, 0, NULL, 0 },
};

static void check(struct options *options, uint64_t processes, uint64_t total)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);

	if (!options->size || options->size % page)
		refuse("--size %" PRIu64 ": not a multiple of a page, %" PRIu64 " bytes",
		       options->size, page);
	if (options->size > SIZE_MAX / 2)
		refuse("--size %" PRIu64 ": too large", options->size);
	if (!processes == !total)
		refuse("exactly one of --processes and --total is needed");
	if (total % options->size)
		refuse("--total %" PRIu64 ": not a multiple of --size %" PRIu64, total,
		       options->size);
	if (total)
		processes = total / options->size;
	if (processes > MAX_PROCESSES)
		refuse("%" PRIu64 " processes: more than %u", processes, MAX_PROCESSES);
	options->processes = (unsigned int)processes;
	if (!options->accesses)
		refuse("--accesses is needed, and not 0");
	if (options->accesses > UINT64_MAX / MAX_PROCESSES)
		refuse("--accesses %" PRIu64 ": too large", options->accesses);
	if (options->progress && !options->interval_ns)
		refuse("--progress needs --interval");
}

void options_parse(struct options *options, int argc, char **argv)
{
	uint64_t processes = 0, total = 0;
	int option;

	*options = (struct options){ .size = 8u << 20, .seed = 1 };
	while ((option = getopt_long(argc, argv, "n:t:s:a:h", long_options, NULL)) != -1) {
		switch (option) {
		case 'n':
			processes = parse_number("--processes", optarg, 0);
			if (!processes)
				refuse("--processes 0: nothing to do");
			break;
		case 't':
			total = parse_number("--total", optarg, 1024);
			if (!total)
				refuse("--total 0: nothing to do");
			break;
		case 's':
			options->size = parse_number("--size", optarg, 1024);
			break;
		case 'a':
			options->accesses = parse_number("--accesses", optarg, 1000);
			break;
		case OPTION_SEED:
			options->seed = parse_number("--seed", optarg, 0);
			break;
		case OPTION_LIMIT:
			options->limit_ns = parse_seconds("--limit", optarg);
			break;
		case OPTION_INTERVAL:
			options->interval_ns = parse_seconds("--interval", optarg);
			break;
		case OPTION_PROGRESS:
			options->progress = optarg;
			break;
		case OPTION_JSON:
			options->json = true;
			break;
		case 'h':
			fputs(usage, stdout);
			exit(EXIT_DONE);
		default:
			fputs("Try 'syn8 --help'.\n", stderr);
			exit(EXIT_USAGE);
		}
	}
	if (optind < argc)
		refuse("%s: no argument is expected here", argv[optind]);
	check(options, processes, total);
}

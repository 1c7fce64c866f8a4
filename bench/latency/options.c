// SPDX-License-Identifier: GPL-2.0
/* The command line. */
#include "latency.h"

#include <string.h>
#include <unistd.h>

#include "args.h"

/* 100 a second for more than a day. All due times are in memory. */
#define MOST 10000000u

static const char usage[] =
	"usage: latency type|ask --at PATH --duration SECONDS [options]\n"
	"       latency edit|serve --at PATH --size SIZE [options]\n"
	"       latency tick --size SIZE --duration SECONDS [options]\n"
	"\n"
	"  type       keys for a terminal, and how long each takes to its echo\n"
	"  edit       the program in that terminal: echoes each key\n"
	"  ask        requests through a socket, and how long each takes to its answer\n"
	"  serve      the server that answers them\n"
	"  tick       a periodic task, and how late it is\n"
	"\n"
	"      --at PATH          where the two meet; what is there is replaced\n"
	"  -p, --period SECONDS   between keys, requests, times (0.2, 0.01, 1)\n"
	"  -j, --jitter SECONDS   each key or request is so much later at most (0)\n"
	"      --skip SECONDS     what is due in the beginning is not counted (0)\n"
	"  -d, --duration SECONDS how long what is due after that is counted\n"
	"  -s, --size SIZE        memory of edit, serve and tick\n"
	"  -t, --touch SIZE       as much of it is read and written each time (all)\n"
	"  -n, --name NAME        of the work counter\n"
	"      --seed N           of the random numbers (1)\n"
	"  -h, --help\n"
	"\n"
	"SIZE: bytes, or with K, M or G (1024). type, ask and tick print a JSON object at\n"
	"their end; README.md.\n"
	"exit status: 0 done, 1 wrong answer, data lost or no other side, 2 usage,\n"
	"4 ended by a signal\n";

static const char words[] = "type|edit|ask|serve|tick"; /* as in enum part */
static const char *const names[] = { "type", "edit", "ask", "serve", "tick" };
static const uint64_t periods_ns[] = { 200000000u, 0, 10000000u, 0, 1000000000u };

static void check(const struct options *options, enum part part)
{
	bool measures = part == PART_TYPE || part == PART_ASK || part == PART_TICK;
	bool has_memory = part != PART_TYPE && part != PART_ASK;

	if (part != PART_TICK && !options->at)
		args_refuse("%s: --at is needed", names[part]);
	if (measures && !options->duration_ns)
		args_refuse("%s: --duration is needed", names[part]);
	if (has_memory && !options->size)
		args_refuse("%s: --size is needed", names[part]);
	if (options->touch > options->size)
		args_refuse("--touch is more than --size");
	if (measures && options->jitter_ns >= options->period_ns)
		args_refuse("--jitter is not less than --period");
	if (measures && (options->skip_ns + options->duration_ns) / options->period_ns > MOST)
		args_refuse("more than %u times", MOST);
}

enum part options_parse(struct options *options, int argc, char **argv)
{
	const struct args_option table[] = {
		{ "at", 0, ARGS_TEXT, &options->at },
		{ "period", 'p', ARGS_SECONDS | ARGS_POSITIVE, &options->period_ns },
		{ "jitter", 'j', ARGS_SECONDS, &options->jitter_ns },
		{ "skip", 0, ARGS_SECONDS, &options->skip_ns },
		{ "duration", 'd', ARGS_SECONDS | ARGS_POSITIVE, &options->duration_ns },
		{ "size", 's', ARGS_SIZE, &options->size },
		{ "touch", 't', ARGS_SIZE, &options->touch },
		{ "name", 'n', ARGS_TEXT, &options->name },
		{ "seed", 0, ARGS_NUMBER, &options->seed },
		{ 0 },
	};
	enum part part;

	*options = (struct options){ .seed = 1 };
	args_options("latency", usage, table, argc, argv);
	if (optind != argc - 1)
		args_refuse("exactly one of type, edit, ask, serve and tick is needed");
	part = args_word("", argv[optind], words);
	if (!options->period_ns)
		options->period_ns = periods_ns[part];
	if (!options->name)
		options->name = names[part];
	if (!*options->name || strpbrk(options->name, "\"\\"))
		args_refuse("--name %s: no quotes or backslashes, and not empty", options->name);
	check(options, part);
	if (!options->touch)
		options->touch = options->size;
	return part;
}

// SPDX-License-Identifier: GPL-2.0
/*
 * A swapper of Goichon, Salagnac & Frénot, "Swap Fairness for Thrashing Mitigation" (2013),
 * section 4.2: it allocates a fixed portion of the memory, performs a simple memory operation
 * on every page in sequence, again and again, and records how long each round took. A timed
 * swapper does so for a set time, an infinite one until it is ended.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "args.h"
#include "clock.h"
#include "pages.h"
#include "signals.h"
#include "work.h"

#define RECORDED 500u /* rounds whose times are kept: the report is about 5 KB at most */
#define BATCH 8u /* pages between two looks at the clock */

struct options {
	uint64_t size;
	uint64_t duration_ns; /* 0: no end */
	uint64_t rounds; /* 0: no end */
	uint64_t goal; /* rounds, for the work counter */
	uint64_t seed;
	uint64_t index;
	const char *name;
};

struct result {
	const char *outcome;
	uint64_t elapsed_ns;
	uint64_t fill_ns;
	uint64_t rounds; /* whole ones */
	uint64_t touched; /* pages, without the first writing */
	uint64_t round_ns[RECORDED];
};

static const char usage[] =
	"usage: swappers --size SIZE [--duration SECONDS | --rounds N] [options]\n"
	"\n"
	"Writes its memory, then visits its pages in sequence, again and again.\n"
	"\n"
	"  -s, --size SIZE        its memory\n"
	"  -d, --duration SECONDS a timed swapper: ends after this time\n"
	"  -r, --rounds N         ends after N rounds; with neither: runs until SIGTERM or SIGINT\n"
	"  -g, --goal N           rounds that are all of its work, for the work counter\n"
	"                         ($LAB_WORK; --rounds, or none)\n"
	"  -n, --name NAME        of its work counter (swapper)\n"
	"  -i, --index N          which of several of one seed it is (0)\n"
	"      --seed N           of what is in its pages (1)\n"
	"  -h, --help\n"
	"\n"
	"SIZE: bytes, or with K, M or G (1024). At its end it prints a JSON object; README.md.\n"
	"exit status: 0 done, 1 no memory or data lost, 2 usage, 4 ended by a signal\n";

static void parse(struct options *options, int argc, char **argv)
{
	const struct args_option table[] = {
		{ "size", 's', ARGS_SIZE, &options->size },
		{ "duration", 'd', ARGS_SECONDS | ARGS_POSITIVE, &options->duration_ns },
		{ "rounds", 'r', ARGS_NUMBER | ARGS_POSITIVE, &options->rounds },
		{ "goal", 'g', ARGS_NUMBER, &options->goal },
		{ "name", 'n', ARGS_TEXT, &options->name },
		{ "index", 'i', ARGS_NUMBER, &options->index },
		{ "seed", 0, ARGS_NUMBER, &options->seed },
		{ 0 },
	};

	*options = (struct options){ .seed = 1, .name = "swapper" };
	args_options("swappers", usage, table, argc, argv);
	if (optind < argc)
		args_refuse("%s: no argument is expected here", argv[optind]);
	if (!options->size)
		args_refuse("--size is needed");
	if (options->duration_ns && options->rounds)
		args_refuse("--duration and --rounds exclude each other");
	if (!options->goal)
		options->goal = options->rounds;
}

/* Visits all pages once. False if the round was not finished: *why has the reason. */
static bool round_of(const struct pages *pages, struct result *result, struct work_slot *slot,
		     uint64_t end_ns, const char **why)
{
	for (uint64_t page = 0; page < pages->count;) {
		uint64_t left = pages->count - page;
		uint64_t batch = left < BATCH ? left : BATCH;

		for (uint64_t i = 0; i < batch; i++, page++) {
			if (!pages_visit(pages, page, result->rounds)) {
				*why = "data lost";
				return false;
			}
		}
		result->touched += batch;
		work_add(slot, batch);
		if (signalled || clock_now() >= end_ns) {
			*why = signalled ? "interrupted" : "done";
			return page == pages->count && !signalled;
		}
	}
	return true;
}

static void run(const struct options *options, struct result *result, struct work_slot *slot)
{
	uint64_t random = random_start(options->seed, options->index);
	uint64_t start = clock_now();
	uint64_t end = options->duration_ns ? start + options->duration_ns : UINT64_MAX;
	struct pages pages;

	if (!pages_get(&pages, options->size, &random)) {
		result->outcome = "no memory";
		return;
	}
	result->fill_ns = clock_now() - start;
	result->outcome = "done";
	while (!options->rounds || result->rounds < options->rounds) {
		uint64_t began = clock_now();

		if (began >= end || !round_of(&pages, result, slot, end, &result->outcome))
			break;
		if (result->rounds < RECORDED)
			result->round_ns[result->rounds] = clock_now() - began;
		result->rounds++;
	}
	result->elapsed_ns = clock_now() - start;
}

static void report(const struct options *options, const struct result *result)
{
	uint64_t recorded = result->rounds < RECORDED ? result->rounds : RECORDED;
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	printf("{\"program\": \"swappers\", \"name\": \"%s\", \"size\": %" PRIu64
	       ", \"seed\": %" PRIu64 ", \"index\": %" PRIu64 ", \"outcome\": \"%s\"",
	       options->name, options->size, options->seed, options->index, result->outcome);
	printf(", \"elapsed\": %.6f, \"fill\": %.6f, \"rounds\": %" PRIu64 ", \"touched\": %" PRIu64
	       ", \"minor_faults\": %ld, \"major_faults\": %ld, \"round_seconds\": [",
	       clock_seconds(result->elapsed_ns), clock_seconds(result->fill_ns), result->rounds,
	       result->touched, usage.ru_minflt, usage.ru_majflt);
	for (uint64_t i = 0; i < recorded; i++)
		printf("%s%.6f", i ? ", " : "", clock_seconds(result->round_ns[i]));
	puts("]}");
	if (fflush(stdout) || ferror(stdout)) {
		fprintf(stderr, "swappers: cannot write the result: %s\n", strerror(errno));
		exit(EXIT_FAILURE);
	}
}

int main(int argc, char **argv)
{
	static struct result result;
	struct options options;
	struct work_slot *slot;

	parse(&options, argc, argv);
	if (strpbrk(options.name, "\"\\"))
		args_refuse("--name %s: no quotes or backslashes", options.name);
	signals_catch();
	slot = work_join(options.name,
			 options.goal * (options.size / (uint64_t)sysconf(_SC_PAGESIZE)));
	run(&options, &result, slot);
	report(&options, &result);
	if (!strcmp(result.outcome, "interrupted"))
		return 4;
	return strcmp(result.outcome, "done") ? EXIT_FAILURE : EXIT_SUCCESS;
}

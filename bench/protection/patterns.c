// SPDX-License-Identifier: GPL-2.0
/*
 * Programs known by how they access memory, for "Adaptive Page Replacement to Protect Thrashing
 * in Linux" (Jiang & Zhang 2001), section "Performance Measurements", and for what others
 * measured with SPEC CPU: one run of one pattern, with a set amount of work.
 */
#include "patterns.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "args.h"
#include "clock.h"
#include "signals.h"

static const struct pattern *const patterns[] = {
	&pattern_lu,	  &pattern_mm,	&pattern_bitr,	 &pattern_sort,
	&pattern_records, &pattern_gcc, &pattern_blocks,
};

#define PATTERNS (sizeof(patterns) / sizeof(patterns[0]))

void *run_memory(uint64_t bytes)
{
	void *memory =
		mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED) {
		fprintf(stderr, "patterns: no memory: %s\n", strerror(errno));
		exit(EXIT_FAILURE);
	}
	return memory;
}

bool run_over(const struct run *run)
{
	return signalled || run->done >= run->work;
}

static const char *usage(void)
{
	static char text[2048];
	size_t used = 0;

	used += sprintf(text, "usage: patterns PATTERN --size SIZE --work UNITS [options]\n\n");
	for (size_t i = 0; i < PATTERNS; i++)
		used += sprintf(text + used, "  %-8s %s\n", patterns[i]->name, patterns[i]->what);
	strcpy(text + used,
	       "\n"
	       "  -s, --size SIZE   its memory at its largest\n"
	       "  -w, --work UNITS  what to do; a unit is about a page that is read and written\n"
	       "  -n, --name NAME   of its work counter ($LAB_WORK) and of its process\n"
	       "                    (the pattern's)\n"
	       "      --seed N      of its data (1)\n"
	       "  -h, --help\n"
	       "\n"
	       "SIZE: bytes, or with K, M or G (1024). UNITS: or with K, M or G (1000).\n"
	       "At its end it prints a JSON object; README.md.\n"
	       "exit status: 0 done, 1 no memory, 2 usage, 4 ended by a signal\n");
	return text;
}

static const struct pattern *find(const char *name)
{
	for (size_t i = 0; i < PATTERNS; i++)
		if (!strcmp(patterns[i]->name, name))
			return patterns[i];
	args_refuse("%s: no such pattern", name);
}

static const struct pattern *parse(struct run *run, const char **name, uint64_t *seed, int argc,
				   char **argv)
{
	const struct args_option table[] = {
		{ "size", 's', ARGS_SIZE, &run->size },
		{ "work", 'w', ARGS_COUNT, &run->work },
		{ "name", 'n', ARGS_TEXT, name },
		{ "seed", 0, ARGS_NUMBER, seed },
		{ 0 },
	};
	const struct pattern *pattern;

	args_options("patterns", usage(), table, argc, argv);
	if (optind != argc - 1)
		args_refuse("exactly one PATTERN is needed");
	pattern = find(argv[optind]);
	if (run->size < 1u << 20)
		args_refuse("--size is needed, and at least 1M");
	if (!run->work)
		args_refuse("--work is needed, and not 0");
	if (*name && strpbrk(*name, "\"\\"))
		args_refuse("--name %s: no quotes or backslashes", *name);
	return pattern;
}

static void report(const struct pattern *pattern, const struct run *run, const char *name,
		   uint64_t seed, uint64_t elapsed_ns)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	printf("{\"program\": \"patterns\", \"pattern\": \"%s\", \"name\": \"%s\""
	       ", \"size\": %" PRIu64 ", \"work\": %" PRIu64 ", \"done\": %" PRIu64
	       ", \"seed\": %" PRIu64 ", \"outcome\": \"%s\"",
	       pattern->name, name, run->size, run->work, run->done, seed,
	       run->done >= run->work ? "done" : "interrupted");
	printf(", \"elapsed\": %.6f, \"check\": \"%016" PRIx64 "\""
	       ", \"minor_faults\": %ld, \"major_faults\": %ld}\n",
	       clock_seconds(elapsed_ns), run->check, usage.ru_minflt, usage.ru_majflt);
	if (fflush(stdout) || ferror(stdout)) {
		fprintf(stderr, "patterns: cannot write the result: %s\n", strerror(errno));
		exit(EXIT_FAILURE);
	}
}

int main(int argc, char **argv)
{
	struct run run = { 0 };
	const struct pattern *pattern;
	const char *name = NULL;
	uint64_t seed = 1, start;

	pattern = parse(&run, &name, &seed, argc, argv);
	if (!name)
		name = pattern->name;
	signals_catch();
	prctl(PR_SET_NAME, name);
	run.random = random_start(seed, 0);
	run.slot = work_join(name, run.work);
	start = clock_now();
	pattern->run(&run);
	report(pattern, &run, name, seed, clock_now() - start);
	return run.done >= run.work ? EXIT_SUCCESS : 4;
}

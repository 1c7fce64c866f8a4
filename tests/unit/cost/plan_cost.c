// SPDX-License-Identifier: GPL-2.0
/*
 * plan_cost SIZES PACK BINS ROUND ...
 *
 * For callgrind, started with --instr-atstart=no: for each case, whose four words become the
 * label of a dump, plans a round of MTS_MAX_JOBS jobs whose sizes are drawn from SIZES, with a
 * capacity for about BINS bins; only mts_plan_round() is counted, in round number ROUND (0: the
 * first). Between rounds some jobs grow, some end and others come, so that later ones have
 * something to keep and something to move.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <valgrind/callgrind.h>

#include "distribution.h"
#include "parse.h"
#include "policy/policy.h"
#include "random.h"

#define N MTS_MAX_JOBS

static struct mts_plan_job jobs[N];
static struct mts_plan_bin bins[N];
static struct mts_plan plan;
static uint64_t seed;

static __attribute__((noreturn)) void fail(const char *what, const char *why)
{
	fprintf(stderr, "plan_cost: %s: %s\n", what, why);
	exit(EXIT_FAILURE);
}

static u32 packer(const char *word)
{
	static const char *const words[] = { "ffd", "bfd", "rw" };

	for (u32 i = 0; i < 3; i++)
		if (!strcmp(word, words[i]))
			return i;
	fail(word, "not ffd, bfd or rw");
}

static u64 draw_jobs(const struct distribution *sizes)
{
	u64 sum = 0;

	seed = random_start(1, 0);
	for (u32 i = 0; i < N; i++) {
		jobs[i] = (struct mts_plan_job){
			.demand = distribution_draw(sizes, &seed, i),
			.prev_bin = MTS_BIN_NONE,
			.threads = 1,
		};
		sum += jobs[i].demand;
	}
	return sum;
}

static void plan_round(const struct mts_plan_conf *conf, void *scratch)
{
	if (mts_plan_round(conf, jobs, N, bins, &plan, scratch))
		fail("mts_plan_round", "failed");
}

static void next_round(const struct distribution *sizes)
{
	for (u32 i = 0; i < N; i++) {
		jobs[i].prev_bin = jobs[i].bin;
		if (i % 64 == 1) {
			jobs[i].demand = distribution_draw(sizes, &seed, i);
			jobs[i].prev_bin = MTS_BIN_NONE;
		} else if (i % 16 == 0) {
			jobs[i].demand += jobs[i].demand / 16;
		}
	}
}

static void measure(char **words, void *scratch)
{
	/* A pause and a switch with which some of the plans must search for their slices. */
	struct mts_plan_conf conf = {
		.processors = 16,
		.pack = packer(words[1]),
		.slice_ns = MTS_DEFAULT_SLICE_NS,
		.min_slice_ns = MTS_SLICE_MIN_NS,
		.max_pause_ns = MTS_DEFAULT_MAX_PAUSE_NS - MTS_PAUSE_MARGIN_NS,
		.overhead = MTS_DEFAULT_OVERHEAD,
		.switch_ns = 2000000,
	};
	struct distribution sizes;
	const char *wrong = distribution_parse(words[0], parse_size, &sizes);
	char label[256];

	if (wrong)
		fail(words[0], wrong);
	conf.capacity = draw_jobs(&sizes) / strtoul(words[2], NULL, 10);
	for (unsigned long round = strtoul(words[3], NULL, 10); round; round--) {
		plan_round(&conf, scratch);
		next_round(&sizes);
	}
	snprintf(label, sizeof(label), "%s %s %s %s", words[0], words[1], words[2], words[3]);

	CALLGRIND_START_INSTRUMENTATION;
	plan_round(&conf, scratch);
	CALLGRIND_STOP_INSTRUMENTATION;
	CALLGRIND_DUMP_STATS_AT(label);
	printf("%s: %u bins\n", label, plan.nbins);
}

int main(int argc, char **argv)
{
	void *scratch = malloc(mts_plan_scratch(N));

	if (!scratch || argc % 4 != 1)
		fail("usage", "SIZES PACK BINS ROUND ...");
	for (int i = 1; i < argc; i += 4)
		measure(&argv[i], scratch);
	free(scratch);
	return EXIT_SUCCESS;
}

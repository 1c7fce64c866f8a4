// SPDX-License-Identifier: GPL-2.0
/*
 * plan_cost JOBS SIZES PACK BINS ROUND TIES RESIDENTS THREADS STEP ...
 *
 * For callgrind, started with --instr-atstart=no: for each case, whose words become the label of
 * a dump, plans a round of JOBS jobs whose sizes are drawn from SIZES, with a capacity
 * for about BINS bins; only mts_plan_round() is counted, in round number ROUND (0: the first).
 * Between rounds some jobs grow, some end and others come, so that later ones have something to
 * keep and something to move.
 *
 * TIES: none, or as many as there are jobs: pairs (each seen from both sides), chains, stars or
 * random. One job of RESIDENTS is resident (0: none); "claims": all are interactive, and which of
 * them are resident is part of what is counted; "limits": all have pause limits of their own, of a
 * second to a minute, and what is planned anew for that is counted. A job has 1 to THREADS threads.
 *
 * STEP: bin, or auto with what a MiB takes, in ms; 0: not known. Half of the jobs run.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <valgrind/callgrind.h>

#include "distribution.h"
#include "parse.h"
#include "policy/bins.h"
#include "policy/interactive.h"
#include "policy/limits.h"
#include "policy/plan.h"
#include "policy/slices.h"
#include "policy/window.h"
#include "random.h"

#define N MTS_MAX_JOBS
#define WORDS 9
/* Jobs of a chain or star. */
#define FEW 64

static struct mts_plan_job jobs[N];
static struct mts_plan_bin bins[N];
static struct mts_plan_tie ties[N];
static struct mts_plan plan;
static struct mts_claim claims[N];
static bool are_interactive;
static bool have_limits;
static u32 njobs;
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

static unsigned long number(const char *word)
{
	return strtoul(word, NULL, 10);
}

/* Return: the sum of the jobs that are not resident. */
static u64 draw_jobs(const struct distribution *sizes, u32 residents, u32 threads)
{
	u64 sum = 0;

	for (u32 i = 0; i < njobs; i++) {
		bool is_resident = residents && i % residents == residents - 1;

		jobs[i] = (struct mts_plan_job){
			.demand = distribution_draw(sizes, &seed, i),
			.flags = is_resident ? MTS_PLAN_RESIDENT : 0,
			.prev_bin = MTS_BIN_NONE,
			.threads = 1 + i % threads,
			.runs = i % 2,
		};
		if (!is_resident)
			sum += jobs[i].demand;
	}
	return sum;
}

static u64 sum_residents(void)
{
	u64 sum = 0;

	for (u32 i = 0; i < njobs; i++)
		if (jobs[i].flags & MTS_PLAN_RESIDENT)
			sum += jobs[i].demand;
	return sum;
}

/* The job that this one is tied to. */
static u32 tied_to(const char *shape, u32 i)
{
	if (!strcmp(shape, "pairs"))
		return i ^ 1;
	if (!strcmp(shape, "chains"))
		return i % FEW ? i - 1 : i;
	if (!strcmp(shape, "stars"))
		return i - i % FEW;
	if (!strcmp(shape, "random"))
		return random_below(&seed, njobs);
	fail(shape, "not none, pairs, chains, stars or random");
}

static u32 draw_ties(const char *shape)
{
	if (!strcmp(shape, "none"))
		return 0;
	for (u32 i = 0; i < njobs; i++)
		ties[i] = (struct mts_plan_tie){ .a = i, .b = tied_to(shape, i) };
	return njobs;
}

/* Within half a minute, because no job stays interactive for longer after its last input. */
static void draw_claims(void)
{
	for (u32 i = 0; i < njobs; i++)
		claims[i].last_input_ns = random_below(&seed, 1ull << 35);
}

static void grant_claims(u64 capacity, void *scratch)
{
	for (u32 i = 0; i < njobs; i++)
		claims[i].demand = jobs[i].demand;
	mts_interactive_grant(claims, njobs, capacity * MTS_DEFAULT_INTERACTIVE / 1000, scratch);
	for (u32 i = 0; i < njobs; i++)
		jobs[i].flags = claims[i].granted ? MTS_PLAN_RESIDENT : 0;
}

static void draw_limits(void)
{
	for (u32 i = 0; i < njobs; i++)
		jobs[i].max_pause_ns =
			MTS_PAUSE_MIN_NS +
			random_below(&seed, MTS_PAUSE_STRETCHED_NS - MTS_PAUSE_MIN_NS);
}

static void keep_limits(const struct mts_plan_conf *conf, void *scratch)
{
	struct mts_limits limits = { .room = conf->capacity * MTS_DEFAULT_INTERACTIVE / 1000 };

	if (mts_plan_limits(conf, jobs, njobs, bins, &plan, &limits, scratch))
		fail("mts_plan_limits", "failed");
}

static void set_step(struct mts_plan_conf *conf, const char *word)
{
	if (!strcmp(word, "bin"))
		return;
	if (strncmp(word, "auto", 4))
		fail(word, "not bin or auto");
	conf->step = mts_window_step(MTS_STEP_AUTO, conf->capacity);
	conf->chooses = mts_window_chooses(MTS_STEP_AUTO);
	conf->mib_ns = 1000000 * number(word + 4);
}

static void plan_round(const struct mts_plan_conf *conf, void *scratch)
{
	if (are_interactive)
		grant_claims(conf->capacity, scratch);
	if (mts_plan_round(conf, jobs, njobs, bins, &plan, scratch))
		fail("mts_plan_round", "failed");
	if (have_limits)
		keep_limits(conf, scratch);
}

static void next_round(const struct distribution *sizes)
{
	for (u32 i = 0; i < njobs; i++) {
		jobs[i].prev_bin = jobs[i].bin;
		if (i % 64 == 1) {
			jobs[i].demand = distribution_draw(sizes, &seed, i);
			jobs[i].prev_bin = MTS_BIN_NONE;
		} else if (i % 16 == 0) {
			jobs[i].demand += jobs[i].demand / 16;
		}
	}
}

static void write_label(char **words, char *label, size_t size)
{
	size_t length = 0;

	for (int i = 0; i < WORDS; i++)
		length += snprintf(label + length, size - length, "%s%s", i ? " " : "", words[i]);
}

static void measure(char **words, void *scratch)
{
	/* A pause and a switch with which some of the plans must search for their slices. */
	struct mts_plan_conf conf = {
		.processors = 16,
		.pack = packer(words[2]),
		.slice_ns = MTS_DEFAULT_SLICE_NS,
		.min_slice_ns = MTS_SLICE_MIN_NS,
		.overhead = MTS_DEFAULT_OVERHEAD,
		.switch_ns = 2000000,
		.ties = ties,
	};
	struct distribution sizes;
	const char *wrong = distribution_parse(words[1], parse_size, &sizes);
	char label[256];

	if (wrong)
		fail(words[1], wrong);
	njobs = number(words[0]);
	if (njobs > N)
		fail(words[0], "more than there may be");
	write_label(words, label, sizeof(label));
	seed = random_start(1, 0);
	are_interactive = !strcmp(words[6], "claims");
	have_limits = !strcmp(words[6], "limits");
	mts_plan_limit_pause(&conf, MTS_DEFAULT_MAX_PAUSE_NS);
	conf.capacity = draw_jobs(&sizes, number(words[6]), number(words[7])) / number(words[3]);
	conf.capacity += sum_residents();
	set_step(&conf, words[8]);
	conf.nties = draw_ties(words[5]);
	if (are_interactive)
		draw_claims();
	if (have_limits)
		draw_limits();
	for (unsigned long round = number(words[4]); round; round--) {
		plan_round(&conf, scratch);
		next_round(&sizes);
	}

	CALLGRIND_START_INSTRUMENTATION;
	plan_round(&conf, scratch);
	CALLGRIND_STOP_INSTRUMENTATION;
	CALLGRIND_DUMP_STATS_AT(label);
	printf("%s: %u %s\n", label, plan.nbins, plan.overlaps ? "groups" : "bins");
}

int main(int argc, char **argv)
{
	void *scratch = malloc(mts_plan_scratch(N));

	if (!scratch || argc % WORDS != 1)
		fail("usage", "JOBS SIZES PACK BINS ROUND TIES RESIDENTS THREADS STEP ...");
	for (int i = 1; i < argc; i += WORDS)
		measure(&argv[i], scratch);
	free(scratch);
	return EXIT_SUCCESS;
}

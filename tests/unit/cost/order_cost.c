// SPDX-License-Identifier: GPL-2.0
/*
 * order_cost PAGES RUN ...
 *
 * For callgrind, started with --instr-atstart=no: for each case, whose words become the label of
 * a dump, puts PAGES pages in the order of their places in swap; only mts_swap_order() is
 * counted. They lie there in runs of RUN (1: each for itself), which are in any order. Says how
 * long it took.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <valgrind/callgrind.h>

#include "policy/swap_order.h"
#include "random.h"

static bool go_on(void)
{
	return true;
}

static double now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

/* Fisher and Yates, of runs. */
static void place_runs(struct mts_swapped *pages, u32 n, u32 run)
{
	uint64_t seed = random_start(1, 0);

	for (u32 i = 0; i < n; i++)
		pages[i] = (struct mts_swapped){ .place = i, .where = i };
	for (u32 left = n / run; left > 1; left--) {
		u32 last = (left - 1) * run, other = random_below(&seed, left) * run;

		for (u32 i = 0; i < run; i++) {
			u64 place = pages[last + i].place;

			pages[last + i].place = pages[other + i].place;
			pages[other + i].place = place;
		}
	}
}

static void measure(const char *n, const char *run)
{
	u32 pages = strtoul(n, NULL, 10);
	struct mts_swapped *list = calloc(pages, sizeof(*list));
	char label[64];
	double began;

	if (!list || !pages || !strtoul(run, NULL, 10)) {
		fprintf(stderr, "order_cost: %s %s: no such pages\n", n, run);
		exit(EXIT_FAILURE);
	}
	place_runs(list, pages, strtoul(run, NULL, 10));
	snprintf(label, sizeof(label), "%s %s", n, run);
	began = now_ms();
	CALLGRIND_START_INSTRUMENTATION;
	mts_swap_order(list, pages, go_on);
	CALLGRIND_STOP_INSTRUMENTATION;
	printf("%s pages in runs of %s: %.1f ms\n", n, run, now_ms() - began);
	CALLGRIND_DUMP_STATS_AT(label);
	free(list);
}

int main(int argc, char **argv)
{
	if (argc < 3 || argc % 2 == 0) {
		fprintf(stderr, "usage: order_cost PAGES RUN ...\n");
		return EXIT_FAILURE;
	}
	for (int i = 1; i + 1 < argc; i += 2)
		measure(argv[i], argv[i + 1]);
	return EXIT_SUCCESS;
}

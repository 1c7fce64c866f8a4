// SPDX-License-Identifier: GPL-2.0
/*
 * newcomers_cost JOBS FAMILIES BINS ROOM ...
 *
 * For callgrind, started with --instr-atstart=no: for each case, whose words become the label of a
 * dump, JOBS jobs come in a round that has as many already, in BINS bins. They are of FAMILIES
 * parents. ROOM: "none" of the bins has any, "last": only the last one has, or "each" has.
 * "beside": the bins overlap, all of them run, and each newcomer is a group that runs beside them.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <valgrind/callgrind.h>

#include "policy/newcomers.h"

static struct mts_plan_bin bins[MTS_MAX_JOBS];
static u64 scratch[MTS_MAX_JOBS * 8];
static struct mts_newcomers all;

static void place_all(u32 njobs, u32 families, u32 nbins, bool overlaps)
{
	u32 i, bin;
	u64 demand;

	mts_newcomers_begin(&all, bins, nbins, 100 * (u64)njobs, njobs, scratch);
	for (i = 0; i < njobs; i++)
		mts_newcomers_note(&all, 1 + i % families, 100);
	for (i = 0; i < njobs; i++) {
		demand = mts_newcomers_demand(&all, 1 + i % families, 1);
		if (overlaps) {
			if (mts_newcomers_fits_beside(&all, demand))
				mts_newcomers_take_beside(&all, demand);
			continue;
		}
		bin = mts_newcomers_bin(&all, 0, demand);
		if (bin != MTS_BIN_NONE)
			mts_newcomers_take(&all, bin, demand);
	}
}

static void measure(char **words)
{
	u32 njobs = strtoul(words[0], NULL, 10), families = strtoul(words[1], NULL, 10);
	u32 nbins = strtoul(words[2], NULL, 10), i;
	bool overlaps = !strcmp(words[3], "beside");
	char label[64];

	if (!families || njobs > MTS_MAX_JOBS || nbins > MTS_MAX_JOBS ||
	    sizeof(scratch) < mts_newcomers_scratch(MTS_MAX_JOBS)) {
		fprintf(stderr, "newcomers_cost: %s %s %s: no such case\n", words[0], words[1],
			words[2]);
		exit(EXIT_FAILURE);
	}
	for (i = 0; i < nbins; i++) {
		bool has_room =
			!strcmp(words[3], "each") || (!strcmp(words[3], "last") && i == nbins - 1);

		bins[i].demand = has_room || overlaps ? 0 : 100 * (u64)njobs;
		bins[i].runs = overlaps;
	}
	snprintf(label, sizeof(label), "%s %s %s %s", words[0], words[1], words[2], words[3]);
	CALLGRIND_START_INSTRUMENTATION;
	place_all(njobs, families, nbins, overlaps);
	CALLGRIND_STOP_INSTRUMENTATION;
	CALLGRIND_DUMP_STATS_AT(label);
}

int main(int argc, char **argv)
{
	if (argc < 5 || argc % 4 != 1) {
		fprintf(stderr, "usage: newcomers_cost JOBS FAMILIES BINS ROOM ...\n");
		return EXIT_FAILURE;
	}
	for (int i = 1; i + 3 < argc; i += 4)
		measure(&argv[i]);
	return EXIT_SUCCESS;
}

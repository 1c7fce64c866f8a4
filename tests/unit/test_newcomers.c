// SPDX-License-Identifier: GPL-2.0
/* Jobs that arrive during a round: what they will need, and where they have room. */
#include "policy/newcomers.h"
#include "unit.h"

static u64 scratch[MTS_MAX_JOBS * 16];
static struct mts_newcomers all;

/* ---- where ------------------------------------------------------------------- */

static u32 where(const struct mts_plan_bin *bins, u32 nbins, u64 capacity, u32 running, u64 demand)
{
	mts_newcomers_begin(&all, bins, nbins, capacity, 0, scratch);
	return mts_newcomers_bin(&all, running, demand);
}

static void newcomer_goes_where_there_is_room(void **unused)
{
	const struct mts_plan_bin three[] = {
		{ .demand = 60 },
		{ .demand = 90 },
		{ .demand = 80 },
	};

	(void)unused;
	assert_int_equal(where(three, 3, 100, 1, 10), 1);
	assert_int_equal(where(three, 3, 100, 1, 11), 2);
	assert_int_equal(where(three, 3, 100, 1, 21), 0);
	assert_int_equal(where(three, 3, 100, 0, 20), 0);
	assert_int_equal(where(three, 3, 100, 2, 10), 2);
	assert_int_equal(where(three, 3, 100, 2, 40), 0);
	assert_int_equal(where(three, 3, 100, 2, 41), MTS_BIN_NONE);
	assert_int_equal(where(three, 3, 100, 0, U64_MAX), MTS_BIN_NONE);
	assert_int_equal(where(three, 3, 100, MTS_BIN_NONE, 10), 0);
	assert_int_equal(where(three, 3, 100, 3, 10), 0);
	assert_int_equal(where(NULL, 0, 100, 0, 0), MTS_BIN_NONE);
	/* A full bin takes 0 bytes, a bin beyond the capacity does not. */
	assert_int_equal(where(three, 3, 90, 1, 0), 1);
	assert_int_equal(where(three, 3, 89, 1, 0), 2);
	assert_int_equal(where(three, 3, U64_MAX, 0, U64_MAX - 60), 0);
}

/* Bin after bin, as section 4.1 of the paper has it. */
static u32 looked_for(const struct mts_plan_bin *bins, u32 nbins, u64 capacity, u32 running,
		      u64 demand)
{
	u32 i;

	for (i = 0; i < nbins; i++) {
		u32 bin = ((running < nbins ? running : 0) + i) % nbins;

		if (mts_bin_has_room(&bins[bin], capacity, demand))
			return bin;
	}
	return MTS_BIN_NONE;
}

static void storms_go_where_one_by_one_would(void **unused)
{
	struct mts_plan_bin bins[70];

	(void)unused;
	random_start(__func__);
	for (unit_case = 0; unit_case < unit_cases(300); unit_case++) {
		u32 nbins = random_below(70), running = random_below(nbins + 2), i;

		for (i = 0; i < nbins; i++)
			bins[i] = (struct mts_plan_bin){ .demand = random_below(120) };
		mts_newcomers_begin(&all, bins, nbins, 100, 0, scratch);
		for (i = 0; i < 200; i++) {
			u64 demand = random_below(30);
			u32 bin = mts_newcomers_bin(&all, running, demand);

			check(bin == looked_for(bins, nbins, 100, running, demand));
			if (bin == MTS_BIN_NONE)
				continue;
			mts_newcomers_take(&all, bin, demand);
			bins[bin].demand += demand;
		}
	}
}

/* Overlapping bins: as if all that run were added up for each. */
static void groups_run_beside_others_while_they_fit(void **unused)
{
	struct mts_plan_bin bins[270];

	(void)unused;
	random_start(__func__);
	for (unit_case = 0; unit_case < unit_cases(300); unit_case++) {
		u32 nbins = random_below(70), i, j;

		for (i = 0; i < nbins; i++)
			bins[i] = (struct mts_plan_bin){ .demand = random_below(20),
							 .runs = random_below(2) };
		mts_newcomers_begin(&all, bins, nbins, 600, 0, scratch);
		for (i = 0; i < 200; i++) {
			u64 demand = random_below(30), sum = demand;

			for (j = 0; j < nbins; j++)
				sum += bins[j].runs ? bins[j].demand : 0;
			check(mts_newcomers_fits_beside(&all, demand) == (sum <= 600));
			bins[nbins++] =
				(struct mts_plan_bin){ .demand = demand, .runs = sum <= 600 };
			if (sum <= 600)
				mts_newcomers_take_beside(&all, demand);
		}
	}
	mts_newcomers_begin(&all, NULL, 0, U64_MAX - 1, 0, scratch);
	mts_newcomers_take_beside(&all, U64_MAX - 1);
	check(!mts_newcomers_fits_beside(&all, U64_MAX));
}

/* ---- how much ---------------------------------------------------------------- */

static void a_child_needs_what_its_siblings_need(void **unused)
{
	(void)unused;
	mts_newcomers_begin(&all, NULL, 0, 100, 5, scratch);
	mts_newcomers_note(&all, 7, 100);
	mts_newcomers_note(&all, 7, 50);
	mts_newcomers_note(&all, 8, 10);
	mts_newcomers_note(&all, 0, 1000);
	mts_newcomers_note(&all, 9, U64_MAX);
	mts_newcomers_note(&all, 9, U64_MAX);
	assert_int_equal(mts_newcomers_demand(&all, 7, 1), 75);
	assert_int_equal(mts_newcomers_demand(&all, 7, 80), 80);
	assert_int_equal(mts_newcomers_demand(&all, 8, 1), 10);
	assert_int_equal(mts_newcomers_demand(&all, 10, 1), 1);
	assert_int_equal(mts_newcomers_demand(&all, 0, 1), 1);
	assert_int_equal(mts_newcomers_demand(&all, 9, 1), U64_MAX / 2);
}

static void each_family_has_its_own_sum(void **unused)
{
	static u64 sums[MTS_MAX_JOBS + 1], ns[MTS_MAX_JOBS + 1];
	u32 i, parent;

	(void)unused;
	random_start(__func__);
	mts_newcomers_begin(&all, NULL, 0, 100, MTS_MAX_JOBS, scratch);
	for (i = 0; i < MTS_MAX_JOBS; i++) {
		u64 demand = random_below(GIB);

		parent = 1 + random_below(MTS_MAX_JOBS);
		mts_newcomers_note(&all, parent, demand);
		sums[parent] += demand;
		ns[parent]++;
	}
	for (parent = 1; parent <= MTS_MAX_JOBS; parent++)
		check(mts_newcomers_demand(&all, parent, 0) ==
		      (ns[parent] ? sums[parent] / ns[parent] : 0));
	check(mts_newcomers_scratch(MTS_MAX_JOBS) <= sizeof(scratch));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(newcomer_goes_where_there_is_room),
		cmocka_unit_test(storms_go_where_one_by_one_would),
		cmocka_unit_test(groups_run_beside_others_while_they_fit),
		cmocka_unit_test(a_child_needs_what_its_siblings_need),
		cmocka_unit_test(each_family_has_its_own_sum),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

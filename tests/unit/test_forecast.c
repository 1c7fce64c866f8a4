// SPDX-License-Identifier: GPL-2.0
/* What turns would give, worked out by hand, and what always holds. */
#include "policy/forecast.h"
#include "unit.h"

#define SECOND 1000000000ull

static struct mts_plan_bin bins[64];
static struct mts_plan plan;

/* Disjoint bins with slices of 10 s. @lost: as in struct mts_plan */
static void plan_bins(u32 n, u32 threads, u32 lost)
{
	u32 i;

	plan = (struct mts_plan){ .nbins = n, .lost = lost, .run_ns = n * 10 * SECOND };
	plan.round_ns = plan.run_ns;
	for (i = 0; i < n; i++)
		bins[i] = (struct mts_plan_bin){ .jobs = 1,
						 .threads = threads,
						 .slice_ns = 10 * SECOND };
}

/* Overlapping ones, which are in memory for @part of the time, per mille. */
static void plan_groups(u32 n, u32 part, u32 lost)
{
	plan_bins(n, 1, lost);
	plan.overlaps = true;
	plan.in_memory = part;
}

static u64 turns(u64 exempt, u64 others, u32 processors)
{
	struct mts_wants wants = { .exempt = exempt, .others = others };

	return mts_forecast_turns(&wants, processors, bins, &plan);
}

static void a_job_runs_in_one_bin_of_many(void **unused)
{
	(void)unused;
	plan_bins(2, 10, 0);
	assert_int_equal(turns(0, 20000, 1), 1000);
	assert_int_equal(turns(0, 100, 1), 50);
	plan_bins(3, 1, 0);
	assert_in_range(turns(0, 3000, 2), 999, 1000);
	assert_in_range(turns(500, 900, 1), 799, 800);
	assert_int_equal(turns(U64_MAX, U64_MAX, 2), 2000);
	assert_in_range(turns(0, U64_MAX, 2), 1999, 2000);
	/* It is not known yet that they need two. */
	plan_bins(1, 10, 50);
	assert_int_equal(turns(0, 1000, 4), 475);
	assert_int_equal(turns(100, 10000, 1), 955);
}

/* A bin has what its threads can use, for its slice. */
static void processors_idle_in_a_bin_with_few_threads(void **unused)
{
	(void)unused;
	plan_bins(2, 0, 0);
	bins[0].threads = 3;
	bins[1].threads = 1;
	assert_int_equal(turns(0, 4000, 2), 1500);
	assert_int_equal(turns(0, 4000, 8), 2000);
	bins[1].slice_ns = 30 * SECOND;
	assert_int_equal(turns(0, 4000, 2), 1250);
	/* No thread was seen awake: by their jobs. */
	plan_bins(2, 0, 0);
	bins[0].jobs = 3;
	assert_int_equal(turns(0, 4000, 2), 1500);
	bins[0].jobs = 0;
	bins[1].jobs = 0;
	assert_int_equal(turns(0, 4000, 2), 0);
}

static void nothing_runs_in_a_switch_but_exempt_jobs(void **unused)
{
	(void)unused;
	plan_bins(2, 4, 250);
	assert_int_equal(turns(0, 8000, 4), 3000);
	assert_int_equal(turns(1000, 8000, 4), 1000 + 3000 * 3 / 4);
	plan_bins(2, 4, 1000);
	assert_int_equal(turns(700, 8000, 4), 700);
}

/* Turns with switches that leave the jobs less than they had are over before they are judged. */
static void switches_may_leave_too_little(void **unused)
{
	(void)unused;
	plan_bins(2, 2, 900);
	check(!mts_forecast_is_better(200, turns(0, 4000, 2)));
	plan_bins(2, 2, 950);
	check(mts_forecast_is_better(200, turns(0, 4000, 2)));
	/* Where nothing was known of the time before, nothing is better. */
	plan_bins(2, 2, 1000);
	check(!mts_forecast_is_better(0, turns(0, 4000, 2)));
}

static void groups_run_while_others_move(void **unused)
{
	(void)unused;
	plan_groups(40, 350, 125);
	assert_int_equal(turns(0, 40000, 8), 7000);
	assert_int_equal(turns(0, 40000, 32), 14000);
	assert_int_equal(turns(500, 10000, 8), 4000);
	/* Threads that move memory leave the exempt jobs less, too. */
	assert_int_equal(turns(8000, 10000, 8), 7000);
}

static void parts_of_the_time(void **unused)
{
	(void)unused;
	plan_bins(1, 1, 0);
	assert_int_equal(mts_forecast_part(&plan), 1000);
	plan_bins(4, 1, 0);
	assert_int_equal(mts_forecast_part(&plan), 250);
	plan_groups(4, 387, 0);
	assert_int_equal(mts_forecast_part(&plan), 387);
}

static void threads_that_want_to_run(void **unused)
{
	const struct mts_plan_job jobs[] = {
		{ .threads = 3 },
		{ .threads = 2, .flags = MTS_PLAN_RESIDENT },
		{ .threads = 4 },
	};
	struct mts_wants wants = mts_wants_of_threads(jobs, ARRAY_SIZE(jobs));

	(void)unused;
	assert_int_equal(wants.others, 7000);
	assert_int_equal(wants.exempt, 2000);
}

static void it_has_to_be_better_by_a_tenth(void **unused)
{
	(void)unused;
	check(mts_forecast_is_better(1000, 909));
	check(!mts_forecast_is_better(1000, 910));
	check(mts_forecast_is_better(8000, 7272));
	check(!mts_forecast_is_better(8000, 7273));
	check(!mts_forecast_is_better(1000, 2000));
	check(!mts_forecast_is_better(0, 0));
	check(!mts_forecast_is_better(U64_MAX, U64_MAX));
}

/* Ten jobs sleep most of the time. One more or less tick is seen of one of them. */
static void few_ticks_tell_little(void **unused)
{
	(void)unused;
	check(!mts_forecast_is_better(13, 3));
	check(mts_forecast_is_better(13, 2)); /* a storm */
	check(!mts_forecast_is_better(50, 30));
	check(mts_forecast_is_better(50, 29));
	check(!mts_forecast_is_better(500, 437));
	check(mts_forecast_is_better(500, 436));
	check(!mts_forecast_is_better(8, 0)); /* this is all error */
	check(mts_forecast_is_better(9, 0));
}

/* Whatever the plan: within what is wanted and what there is; more wants are never less work. */
static void forecasts_are_within_bounds(void **unused)
{
	u64 exempt, others, one;
	u32 processors, i;

	(void)unused;
	random_start("forecast");
	for (unit_case = 0; unit_case < unit_cases(5000); unit_case++) {
		plan_bins(random_between(1, ARRAY_SIZE(bins)), 1, random_below(1001));
		for (i = 0; i < plan.nbins; i++) {
			bins[i].threads = random_below(5);
			bins[i].jobs = random_below(3);
			bins[i].slice_ns = random_below(100 * SECOND);
		}
		plan.overlaps = plan.nbins > 1 && random_below(2);
		plan.in_memory = random_below(1001);
		processors = random_below(70);
		exempt = random_below(random_below(2) ? 100000 : 2);
		others = random_below(random_below(2) ? 100000 : 2);
		one = turns(exempt, others, processors);
		check(one <= exempt + others);
		check(one <= 1000ull * mts_max(processors, 1));
		check(one <= turns(exempt, others + 1000, processors));
		check(!mts_forecast_is_better(one, one));
		plan.lost = 1000;
		check(turns(exempt, others, processors) <= one);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_job_runs_in_one_bin_of_many),
		cmocka_unit_test(processors_idle_in_a_bin_with_few_threads),
		cmocka_unit_test(nothing_runs_in_a_switch_but_exempt_jobs),
		cmocka_unit_test(switches_may_leave_too_little),
		cmocka_unit_test(groups_run_while_others_move),
		cmocka_unit_test(parts_of_the_time),
		cmocka_unit_test(threads_that_want_to_run),
		cmocka_unit_test(it_has_to_be_better_by_a_tenth),
		cmocka_unit_test(few_ticks_tell_little),
		cmocka_unit_test(forecasts_are_within_bounds),
	};

	return cmocka_run_group_tests_name("forecast", tests, NULL, NULL);
}

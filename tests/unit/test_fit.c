// SPDX-License-Identifier: GPL-2.0
/* Whether a running bin fits, and the capacity ceiling that is learned if it does not. */
#include "policy/bins.h"
#include "policy/fit.h"
#include "unit.h"

static struct mts_lesson lesson;
static struct mts_plan plan;
static struct mts_plan_bin bin;

/* A bin as planned, and the capacity that it was planned for. */
static void planned(u64 capacity, u64 residents, u64 demand)
{
	plan = (struct mts_plan){ .capacity = capacity, .resident_demand = residents };
	bin = (struct mts_plan_bin){
		.demand = demand,
		.jobs = 2,
		.flags = demand > capacity ? MTS_PLAN_OVERFULL : 0,
	};
	lesson = (struct mts_lesson){ 0 };
}

static bool outgrown(u64 demand)
{
	return mts_policy_outgrown(&plan, &bin, demand);
}

static bool misfit(u64 demand)
{
	return mts_policy_misfit(&lesson, &plan, &bin, demand, 0, true);
}

static bool nothing_learned(void)
{
	return !lesson.capacity_ceiling && !lesson.capacity;
}

/* ---- memory that fills ------------------------------------------------------ */

#define MS 1000000ull

/* Will @left bytes be used up within @within_ns, as @grown were within @elapsed_ns? */
static bool fills(u64 left, u64 grown, u64 elapsed_ns, u64 within_ns)
{
	return left < mts_policy_grows(grown, elapsed_ns, within_ns);
}

static void what_lasts_longer_does_not_fill(void **unused)
{
	(void)unused;
	/* 10 bytes in 10 ms: 100 in the time that counts. */
	check(!fills(100, 10, 10 * MS, 100 * MS));
	check(fills(99, 10, 10 * MS, 100 * MS));
	/* The same pace, seen for longer. */
	check(!fills(100, 100, 100 * MS, 100 * MS));
	check(fills(99, 100, 100 * MS, 100 * MS));
}

static void what_does_not_grow_does_not_fill(void **unused)
{
	(void)unused;
	check(!fills(1, 0, 10 * MS, 100 * MS));
	check(!fills(0, 0, 10 * MS, 100 * MS));
	check(!fills(0, 900, 0, 100 * MS));
}

static void what_is_full_and_grows_fills(void **unused)
{
	(void)unused;
	check(fills(0, 1, 10 * MS, 100 * MS));
	/* No job has more. */
	check(fills(MTS_BIN_MAX_BYTES - 1, U64_MAX, 100 * MS, 100 * MS));
	check(fills(MTS_BIN_MAX_BYTES, U64_MAX, MS, 60000 * MS));
}

/* ---- growth --------------------------------------------------------------- */

static void an_eighth_of_the_capacity_is_tolerated(void **unused)
{
	(void)unused;
	planned(800, 0, 500);
	check(!outgrown(500));
	check(!outgrown(800));
	check(!outgrown(900));
	check(outgrown(901));
}

static void groups_may_exceed_it_by_a_step(void **unused)
{
	(void)unused;
	planned(3200, 0, 3000);
	plan.overlaps = true;
	check(!outgrown(3200));
	check(!outgrown(3300));
	check(outgrown(3301));
}

static void what_was_planned_too_full_must_outgrow_its_plan(void **unused)
{
	(void)unused;
	planned(800, 0, 1500);
	check(!outgrown(1500));
	check(!outgrown(1600));
	check(outgrown(1601));
	/* What shrinks within such a plan has not grown, though it does not fit. */
	check(!outgrown(1000));
}

static void growth_saturates(void **unused)
{
	(void)unused;
	planned(U64_MAX, 0, 500);
	check(!outgrown(U64_MAX));
	planned(0, 0, U64_MAX);
	check(!outgrown(U64_MAX));
	planned(0, 0, 0);
	check(outgrown(1));
}

/* ---- bins that swap although they were to fit -------------------------------- */

static void a_bin_that_fits_and_swaps_is_a_lesson(void **unused)
{
	(void)unused;
	planned(900, 100, 880);
	check(misfit(880));
	assert_int_equal(lesson.capacity_ceiling, 980); /* with the residents, as capacities are */
	assert_int_equal(lesson.capacity, 1000);
	/* A sixteenth below what was too much. */
	assert_int_equal(mts_policy_learned(&lesson, 1000), 980 - 61);
}

static void a_full_bin_fits(void **unused)
{
	(void)unused;
	planned(900, 0, 900);
	check(misfit(900));
	assert_int_equal(lesson.capacity_ceiling, 900);
}

/* It is packed anew, but the capacity was not to blame. */
static void a_bin_that_has_grown_teaches_nothing(void **unused)
{
	(void)unused;
	planned(900, 0, 700);
	check(misfit(901));
	check(nothing_learned());
}

/* Packing it anew would give the same bin. */
static void a_bin_planned_too_full_runs_on(void **unused)
{
	(void)unused;
	planned(900, 0, 1200);
	check(!misfit(1200));
	check(!misfit(2000));
	check(nothing_learned());
	/* Until it has shrunk to what fits: then it should not swap. */
	check(misfit(890));
	assert_int_equal(lesson.capacity_ceiling, 890);
}

static void below_half_the_capacity_it_is_not_the_size(void **unused)
{
	(void)unused;
	planned(900, 0, 449);
	check(!misfit(449));
	check(nothing_learned());
	check(misfit(450));
	assert_int_equal(lesson.capacity_ceiling, 450);
}

static void while_much_is_free_it_is_not_the_size(void **unused)
{
	(void)unused;
	planned(900, 0, 880);
	check(!mts_policy_misfit(&lesson, &plan, &bin, 880, 451, true));
	check(nothing_learned());
	check(mts_policy_misfit(&lesson, &plan, &bin, 880, 450, true));
	assert_int_equal(lesson.capacity_ceiling, 880);
}

/* The user's own size is not doubted, nor any where something else took the room. */
static void where_it_may_not_learn_the_capacity_stays(void **unused)
{
	(void)unused;
	planned(900, 0, 880);
	check(!mts_policy_misfit(&lesson, &plan, &bin, 880, 0, false));
	check(nothing_learned());
	/* But what has grown beyond it is packed anew. */
	check(mts_policy_misfit(&lesson, &plan, &bin, 901, 0, false));
	check(nothing_learned());
}

/* ---- all fits, and time is lost all the same ----------------------------------- */

static bool tight(u64 capacity, u64 demand, u64 free)
{
	lesson = (struct mts_lesson){ 0 };
	return mts_policy_tight(&lesson, capacity, demand, free);
}

static void what_fits_and_loses_time_is_too_much(void **unused)
{
	(void)unused;
	check(tight(900, 850, 10));
	assert_int_equal(lesson.capacity_ceiling, 850);
	assert_int_equal(lesson.capacity, 900);
	/* So that the next plan has a bin more. */
	check(mts_policy_learned(&lesson, 900) < 850);
}

static void below_three_quarters_it_is_something_else(void **unused)
{
	(void)unused;
	check(!tight(900, 674, 10));
	check(nothing_learned());
	check(tight(900, 675, 10));
}

static void while_much_is_free_it_is_something_else(void **unused)
{
	(void)unused;
	check(!tight(900, 850, 451));
	check(nothing_learned());
	check(tight(900, 850, 450));
}

/* ---- what is learned ------------------------------------------------------------ */

static void without_a_lesson_the_capacity_stays(void **unused)
{
	(void)unused;
	lesson = (struct mts_lesson){ 0 };
	assert_int_equal(mts_policy_learned(&lesson, 0), 0);
	assert_int_equal(mts_policy_learned(&lesson, 1234), 1234);
	assert_true(mts_policy_learned(&lesson, U64_MAX) == U64_MAX);
}

static void a_lesson_never_adds(void **unused)
{
	(void)unused;
	lesson = (struct mts_lesson){ .capacity_ceiling = 1600, .capacity = 2000 };
	assert_int_equal(mts_policy_learned(&lesson, 1000), 1000);
	assert_int_equal(mts_policy_learned(&lesson, 1500), 1500);
	assert_int_equal(mts_policy_learned(&lesson, 1501), 1500);
	assert_int_equal(lesson.capacity_ceiling, 1600);
}

static void a_host_that_has_grown_forgets(void **unused)
{
	(void)unused;
	lesson = (struct mts_lesson){ .capacity_ceiling = 1600, .capacity = 2000 };
	assert_int_equal(mts_policy_learned(&lesson, 2250), 1500);
	assert_int_equal(mts_policy_learned(&lesson, 2251), 2251);
	/* For good: it may shrink again. */
	assert_int_equal(mts_policy_learned(&lesson, 2000), 2000);
}

/* What the host had when the first was learned stays the measure for growth. */
static void a_second_lesson_goes_further(void **unused)
{
	u64 capacity;

	(void)unused;
	planned(1600, 0, 1600);
	check(misfit(1600));
	capacity = mts_policy_learned(&lesson, 1600);
	assert_int_equal(capacity, 1500);
	plan.capacity = capacity;
	bin.demand = 1500;
	check(misfit(1500));
	assert_int_equal(lesson.capacity_ceiling, 1500);
	assert_int_equal(lesson.capacity, 1600);
	assert_int_equal(mts_policy_learned(&lesson, 1800), 1500 - 93);
	assert_int_equal(mts_policy_learned(&lesson, 1801), 1801);
}

static void lessons_saturate(void **unused)
{
	(void)unused;
	planned(U64_MAX, U64_MAX, U64_MAX);
	check(misfit(U64_MAX));
	assert_true(lesson.capacity_ceiling == U64_MAX && lesson.capacity == U64_MAX);
	assert_true(mts_policy_learned(&lesson, U64_MAX) == U64_MAX - U64_MAX / 16);
}

/* However often it is repeated: down to what really fits, and never below 15/16 of that. */
static void lessons_come_to_rest_where_it_fits(void **unused)
{
	(void)unused;
	random_start(__func__);
	for (unit_case = 0; unit_case < unit_cases(1000); unit_case++) {
		u64 host = random_between(1000, 1ull << 50);
		u64 fits = random_between(host / 2 + 1, host);
		u64 capacity = host;
		u32 tries = 0;

		lesson = (struct mts_lesson){ 0 };
		while (capacity > fits) {
			plan = (struct mts_plan){ .capacity = capacity };
			bin = (struct mts_plan_bin){ .demand = capacity };
			check(misfit(capacity));
			capacity = mts_policy_learned(&lesson, host);
			check(++tries <= 12);
		}
		check(capacity >= fits - fits / 16 - 1);
	}
}

/* ---- it rises again -------------------------------------------------------------- */

/* Clean rounds until the capacity is @capacity again, as it was when the lesson was learned. */
static u32 rounds_until(u64 capacity)
{
	u64 before, after = mts_policy_learned(&lesson, lesson.capacity);
	u32 rounds = 0;

	while (after < capacity) {
		before = after;
		mts_policy_clean_round(&lesson);
		after = mts_policy_learned(&lesson, lesson.capacity ?: capacity);
		check(after >= before);
		check(++rounds < 10000);
	}
	return rounds;
}

static void without_a_lesson_nothing_rises(void **unused)
{
	(void)unused;
	lesson = (struct mts_lesson){ 0 };
	mts_policy_clean_round(&lesson);
	check(nothing_learned());
}

static void what_did_not_fit_is_tried_after_eight_clean_rounds(void **unused)
{
	(void)unused;
	planned(16000, 0, 16000);
	check(misfit(16000));
	assert_int_equal(mts_policy_learned(&lesson, 16000), 15000);
	assert_in_range(rounds_until(16000), 8, 9);
}

static void a_fifth_is_regained_in_thirty_rounds(void **unused)
{
	(void)unused;
	planned(20000, 0, 17000);
	check(misfit(17000));
	assert_in_range(rounds_until(20000), 25, 30);
}

static void a_clean_round_with_all_of_the_capacity_drops_it(void **unused)
{
	(void)unused;
	planned(16000, 0, 16000);
	check(misfit(16000));
	rounds_until(16000);
	/* The try may fail yet. */
	check(!nothing_learned());
	mts_policy_clean_round(&lesson);
	check(nothing_learned());
}

static void where_all_fit_a_try_comes_later(void **unused)
{
	(void)unused;
	check(tight(1 << 24, 1 << 24, 0));
	assert_in_range(rounds_until(1 << 24), 64, 67);
}

/* Lower and lower is the way to what fits: that is no try which failed. */
static void lessons_in_a_row_do_not_slow_it_down(void **unused)
{
	u64 capacity = 20000;
	u32 i;

	(void)unused;
	planned(capacity, 0, capacity);
	for (i = 0; i < 4; i++) {
		plan.capacity = capacity;
		bin.demand = capacity;
		check(misfit(capacity));
		capacity = mts_policy_learned(&lesson, 20000);
	}
	assert_in_range(rounds_until(capacity + capacity / 15), 8, 9);
}

/* A bin of more than @fits swaps, however often it is tried. Return: how many of @rounds failed. */
static u32 failures(u64 host, u64 fits, u32 rounds)
{
	u64 capacity = mts_policy_learned(&lesson, host);
	u32 failed = 0;

	while (rounds--) {
		plan = (struct mts_plan){ .capacity = capacity };
		bin = (struct mts_plan_bin){ .demand = capacity };
		if (capacity > fits)
			failed += misfit(capacity);
		else
			mts_policy_clean_round(&lesson);
		capacity = mts_policy_learned(&lesson, host);
	}
	return failed;
}

/* In the end one of 65 rounds fails, which is one slice of two or more. */
static void a_reason_that_does_not_pass_costs_few_slices(void **unused)
{
	u64 host, fits;

	(void)unused;
	random_start(__func__);
	for (unit_case = 0; unit_case < unit_cases(200); unit_case++) {
		host = random_between(1ull << 20, 1ull << 50);
		fits = random_between(host / 2 + 1, host - 1);
		lesson = (struct mts_lesson){ 0 };
		/* Down to what fits, and tries after 8, 16 and 32 rounds. */
		check(failures(host, fits, 200) <= 12 + 5);
		check(failures(host, fits, 6400) <= 98);
		/* It is still tried: the reason may pass. */
		check(failures(host, host, 6400) == 0);
		check(nothing_learned());
	}
}

static void a_ceiling_that_rises_saturates(void **unused)
{
	(void)unused;
	lesson = (struct mts_lesson){ .capacity_ceiling = U64_MAX,
				      .capacity = U64_MAX,
				      .rounds = 8 };
	mts_policy_clean_round(&lesson);
	assert_true(lesson.capacity_ceiling == U64_MAX);
	lesson = (struct mts_lesson){ .capacity_ceiling = 1, .capacity = 900, .rounds = 64 };
	assert_in_range(rounds_until(900), 1, 1100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_lasts_longer_does_not_fill),
		cmocka_unit_test(what_does_not_grow_does_not_fill),
		cmocka_unit_test(what_is_full_and_grows_fills),
		cmocka_unit_test(an_eighth_of_the_capacity_is_tolerated),
		cmocka_unit_test(groups_may_exceed_it_by_a_step),
		cmocka_unit_test(what_was_planned_too_full_must_outgrow_its_plan),
		cmocka_unit_test(growth_saturates),
		cmocka_unit_test(a_bin_that_fits_and_swaps_is_a_lesson),
		cmocka_unit_test(a_full_bin_fits),
		cmocka_unit_test(a_bin_that_has_grown_teaches_nothing),
		cmocka_unit_test(a_bin_planned_too_full_runs_on),
		cmocka_unit_test(below_half_the_capacity_it_is_not_the_size),
		cmocka_unit_test(while_much_is_free_it_is_not_the_size),
		cmocka_unit_test(where_it_may_not_learn_the_capacity_stays),
		cmocka_unit_test(what_fits_and_loses_time_is_too_much),
		cmocka_unit_test(below_three_quarters_it_is_something_else),
		cmocka_unit_test(while_much_is_free_it_is_something_else),
		cmocka_unit_test(without_a_lesson_the_capacity_stays),
		cmocka_unit_test(a_lesson_never_adds),
		cmocka_unit_test(a_host_that_has_grown_forgets),
		cmocka_unit_test(a_second_lesson_goes_further),
		cmocka_unit_test(lessons_saturate),
		cmocka_unit_test(lessons_come_to_rest_where_it_fits),
		cmocka_unit_test(without_a_lesson_nothing_rises),
		cmocka_unit_test(what_did_not_fit_is_tried_after_eight_clean_rounds),
		cmocka_unit_test(a_fifth_is_regained_in_thirty_rounds),
		cmocka_unit_test(a_clean_round_with_all_of_the_capacity_drops_it),
		cmocka_unit_test(where_all_fit_a_try_comes_later),
		cmocka_unit_test(lessons_in_a_row_do_not_slow_it_down),
		cmocka_unit_test(a_reason_that_does_not_pass_costs_few_slices),
		cmocka_unit_test(a_ceiling_that_rises_saturates),
	};

	return cmocka_run_group_tests_name("fit", tests, NULL, NULL);
}

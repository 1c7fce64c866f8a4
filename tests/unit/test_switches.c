// SPDX-License-Identifier: GPL-2.0
/* Times of switches, when they are forgotten, and the choice of evict=auto that follows. */
#include "policy/bins.h"
#include "policy/switches.h"
#include "unit.h"

static struct mts_switches s;
static const struct mts_plan cheap = { .nbins = 2, .round_ns = 1000, .run_ns = 900 };
static const struct mts_plan dear = { .nbins = 2, .round_ns = 1000, .run_ns = 500 };

/* A round of evict=auto. Return: the choice. */
static u32 plan(const struct mts_plan *round, bool rotates)
{
	mts_switches_plan(&s, MTS_EVICT_AUTO, round, false, rotates);
	return s.evict;
}

static void begin(void)
{
	s = (struct mts_switches){ 0 };
	plan(NULL, false);
}

static void the_average_moves_by_a_quarter(void **unused)
{
	(void)unused;
	begin();
	assert_int_equal(s.mean_ns, 0);
	mts_switches_note(&s, 1000, 1, false);
	assert_int_equal(s.mean_ns, 1000);
	mts_switches_note(&s, 2000, 1, false);
	assert_int_equal(s.mean_ns, 1250);
	mts_switches_note(&s, 250, 1, false);
	assert_int_equal(s.mean_ns, 1000);
}

static void the_slowest_is_forgotten_slowly(void **unused)
{
	(void)unused;
	begin();
	mts_switches_note(&s, 1600, 1, false);
	assert_int_equal(s.slowest_ns, 1600);
	mts_switches_note(&s, 100, 1, false);
	assert_int_equal(s.slowest_ns, 1400);
	mts_switches_note(&s, 1500, 1, false);
	assert_int_equal(s.slowest_ns, 1500);
}

static void what_turns_before_took_is_known_until_the_first_one(void **unused)
{
	(void)unused;
	begin();
	mts_switches_note(&s, 8000, 1, false);
	plan(&cheap, false);
	assert_true(s.are_new);
	assert_int_equal(s.mean_ns, 8000);
	mts_switches_note(&s, 80, 1, false);
	assert_false(s.are_new);
	assert_int_equal(s.mean_ns, 80);
	assert_int_equal(s.slowest_ns, 80);
	mts_switches_forget(&s);
	assert_int_equal(s.mean_ns, 0);
	assert_int_equal(s.slowest_ns, 0);
}

static void evict_changes_what_they_take(void **unused)
{
	(void)unused;
	begin();
	assert_int_equal(s.evict, MTS_EVICT_FULL);
	mts_switches_note(&s, 8000, 1, false);
	assert_int_equal(plan(&cheap, true), MTS_EVICT_FULL);
	assert_false(s.are_new);
	assert_int_equal(plan(&dear, true), MTS_EVICT_NEED);
	assert_true(s.are_new);
	mts_switches_note(&s, 400, 1, false);
	assert_int_equal(s.mean_ns, 400);
	assert_int_equal(plan(&cheap, true), MTS_EVICT_NEED);
	assert_false(s.are_new);
	/* Other turns. */
	assert_int_equal(plan(&cheap, false), MTS_EVICT_FULL);
	assert_true(s.are_new);
}

/* A choice of the user does not bind the turns after it. */
static void the_users_word_is_not_kept_for_auto(void **unused)
{
	(void)unused;
	begin();
	mts_switches_note(&s, 400, 1, false);
	mts_switches_plan(&s, MTS_EVICT_NEED, &cheap, false, true);
	assert_int_equal(s.evict, MTS_EVICT_NEED);
	assert_true(s.are_new);
	assert_int_equal(plan(&cheap, true), MTS_EVICT_FULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_average_moves_by_a_quarter),
		cmocka_unit_test(the_slowest_is_forgotten_slowly),
		cmocka_unit_test(what_turns_before_took_is_known_until_the_first_one),
		cmocka_unit_test(evict_changes_what_they_take),
		cmocka_unit_test(the_users_word_is_not_kept_for_auto),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

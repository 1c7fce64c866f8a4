// SPDX-License-Identifier: GPL-2.0
/* When turns are taken, and when they are given up. */
#include "unit.h"

#define MS 1000000ull
#define SECOND (1000 * MS)

static struct mts_admission a;
static u64 now, swapins;

static void fresh(void)
{
	a = (struct mts_admission){ 0 };
	now = 1000 * SECOND;
	swapins = 123456;
	mts_admission_look(&a, now, 5 * SECOND, swapins, 1);
}

/* So long after the last look: what ran, what came in, how many wanted to run. */
static bool look(u64 after, u64 user, u64 pages, u32 wanting)
{
	now += after;
	swapins += pages;
	mts_admission_look(&a, now, user, swapins, wanting);
	return mts_admission_pays(&a, now);
}

static void both_signals_are_needed(void **unused)
{
	(void)unused;
	fresh();
	check(!mts_admission_pays(&a, now)); /* one look is no window */
	check(look(250 * MS, 10 * MS, 1000, 1));
	check(!look(250 * MS, 240 * MS, 1000, 1)); /* it swaps, and gets on */
	check(!look(250 * MS, 10 * MS, 0, 1)); /* it waits, for something else */
	check(look(250 * MS, 10 * MS, 1000, 1));
}

static void what_is_wanted_counts(void **unused)
{
	(void)unused;
	fresh();
	check(!look(SECOND, 900 * MS, 1000, 1));
	assert_int_equal(a.share, 900);
	check(look(SECOND, 900 * MS, 1000, 2)); /* of two processors it is 45 % */
	assert_int_equal(a.share, 450);
	check(!look(SECOND, 900 * MS, 1000, 0)); /* nobody waits: what ran is enough */
	check(!look(SECOND, U64_MAX, 1000, 8));
}

static void short_looks_add_up(void **unused)
{
	u32 i;

	(void)unused;
	fresh();
	for (i = 0; i < 9; i++)
		check(!look(20 * MS, 18 * MS, 100, 1));
	check(!look(20 * MS, 18 * MS, 100, 1));
	assert_int_equal(a.share, 900);
}

static void a_stale_window_says_nothing(void **unused)
{
	(void)unused;
	fresh();
	check(look(250 * MS, 0, 1000, 1));
	check(!look(11 * SECOND, 0, 100000, 1));
	check(look(250 * MS, 0, 1000, 1));
}

static void begin_with_share(u32 share)
{
	fresh();
	check(look(SECOND, share * MS, 1000, 1));
	mts_admission_begin(&a);
}

static void a_round(u32 share)
{
	now += 10 * SECOND;
	mts_admission_round(&a, now, share * 10 * MS, 10 * SECOND);
}

static void turns_that_gain_go_on(void **unused)
{
	u32 i;

	(void)unused;
	begin_with_share(100);
	for (i = 0; i < 20; i++) {
		a_round(i % 2 ? 50 : 900);
		check(!mts_admission_holds(&a, now));
	}
}

static void turns_that_lose_are_given_up(void **unused)
{
	u64 hold = 30 * SECOND;
	u32 i;

	(void)unused;
	begin_with_share(600);
	for (i = 0; i < 8; i++) {
		a_round(500);
		check(!mts_admission_holds(&a, now));
		a_round(500);
		check(mts_admission_holds(&a, now));
		check(mts_admission_holds(&a, now + hold - 1));
		check(!mts_admission_holds(&a, now + hold));
		now += hold;
		hold = mts_min(2 * hold, 600 * SECOND);
		mts_admission_end(&a);
		check(!look(SECOND, 0, 0, 1));
		check(look(SECOND, 600 * MS, 1000, 1));
		mts_admission_begin(&a);
	}
	/* Two good rounds, and the next time is short again. */
	a_round(700);
	a_round(700);
	a_round(500);
	a_round(500);
	check(mts_admission_holds(&a, now + 30 * SECOND - 1));
	check(!mts_admission_holds(&a, now + 30 * SECOND));
}

static void what_was_tried_can_be_forgotten(void **unused)
{
	(void)unused;
	begin_with_share(600);
	a_round(500);
	a_round(500);
	check(mts_admission_holds(&a, now));
	mts_admission_retry(&a);
	check(!mts_admission_holds(&a, now));
	a_round(500);
	check(!mts_admission_holds(&a, now));
	a_round(500);
	check(mts_admission_holds(&a, now + 30 * SECOND - 1));
	check(!mts_admission_holds(&a, now + 30 * SECOND));
}

static void a_short_round_is_not_judged(void **unused)
{
	u32 i;

	(void)unused;
	begin_with_share(600);
	for (i = 0; i < 10; i++)
		mts_admission_round(&a, now, 0, SECOND - 1);
	check(!mts_admission_holds(&a, now));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(both_signals_are_needed),
		cmocka_unit_test(what_is_wanted_counts),
		cmocka_unit_test(short_looks_add_up),
		cmocka_unit_test(a_stale_window_says_nothing),
		cmocka_unit_test(turns_that_gain_go_on),
		cmocka_unit_test(turns_that_lose_are_given_up),
		cmocka_unit_test(what_was_tried_can_be_forgotten),
		cmocka_unit_test(a_short_round_is_not_judged),
	};

	return cmocka_run_group_tests_name("admission", tests, NULL, NULL);
}

// SPDX-License-Identifier: GPL-2.0
/* The memory of a job that its last slices used. */
#include "policy/working_set.h"
#include "unit.h"

static struct mts_working_set ws;

static void slice(u64 used, u64 unused, u64 left, u64 missed)
{
	struct mts_slice_use use = {
		.used = used, .unused = unused, .left = left, .missed = missed
	};

	mts_working_set_note(&ws, &use);
}

static void forget(void)
{
	ws = (struct mts_working_set){ 0 };
}

static void of_what_nothing_is_known_all_is_needed(void **unused)
{
	(void)unused;
	forget();
	check(mts_working_set_spare(&ws, 0) == 0);
	check(mts_working_set_spare(&ws, 1000) == 0);
	check(mts_working_set_spare(&ws, U64_MAX) == 0);
}

static void what_was_not_used_is_spare(void **unused)
{
	(void)unused;
	forget();
	slice(250, 750, 0, 0);
	check(mts_working_set_spare(&ws, 1000) == 750);
	/* It has grown since: what is new is needed. */
	check(mts_working_set_spare(&ws, 1500) == 750);
}

static void fills(u64 used, u64 unused, u64 grown, bool expected)
{
	struct mts_slice_use use = { .used = used, .unused = unused, .grown = grown };

	check(mts_working_set_fills(&use) == expected);
}

static void who_grows_by_an_eighth_fills(void **unused)
{
	(void)unused;
	fills(0, 0, 0, false);
	fills(250, 750, 0, false);
	fills(250, 750, 125, false);
	fills(250, 750, 126, true);
	fills(1, 0, 1, true);
	fills(U64_MAX, U64_MAX, U64_MAX, true);
}

static void less_than_an_eighth_is_not(void **unused)
{
	(void)unused;
	forget();
	slice(876, 124, 0, 0);
	check(mts_working_set_spare(&ws, 1000) == 0);
	slice(875, 125, 0, 0);
	check(mts_working_set_spare(&ws, 1000) == 125);
}

/* Pages shared with others are counted for each, and charged to one. */
static void what_was_used_is_never_spare(void **unused)
{
	(void)unused;
	forget();
	slice(300, 5000, 0, 0);
	check(mts_working_set_spare(&ws, 1000) == 700);
	check(mts_working_set_spare(&ws, 300) == 0);
	check(mts_working_set_spare(&ws, 100) == 0);
	slice(U64_MAX, U64_MAX, 0, 0);
	check(mts_working_set_spare(&ws, U64_MAX) == 0);
}

static void few_misses_are_forgiven(void **unused)
{
	(void)unused;
	forget();
	slice(250, 750, 16, 16);
	check(mts_working_set_spare(&ws, 1000) == 750);
	slice(250, 750, 3200, 100);
	check(mts_working_set_spare(&ws, 1000) == 750);
}

static u32 slices_of_distrust(void)
{
	u32 n = 0;

	while (!mts_working_set_spare(&ws, 1000)) {
		slice(250, 750, 0, 0); /* all was brought back: nothing was left, nothing missed */
		n++;
		check(n < 1000);
	}
	return n;
}

/* 2, 4, 8 … slices, up to 256. */
static void many_misses_are_not(void **unused)
{
	u32 i;

	(void)unused;
	forget();
	for (i = 1; i < 12; i++) {
		slice(250, 750, 3200, 101);
		check(mts_working_set_spare(&ws, 1000) == 0);
		check(slices_of_distrust() == (1u << (i < 8 ? i : 8)));
	}
}

static void slices_without_misses_win_trust_back(void **unused)
{
	u32 i;

	(void)unused;
	forget();
	for (i = 0; i < 5; i++) {
		slice(250, 750, 3200, 3200);
		slices_of_distrust();
	}
	for (i = 0; i < 5; i++)
		slice(250, 750, 3200, 0);
	slice(250, 750, 3200, 3200);
	check(slices_of_distrust() == 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(of_what_nothing_is_known_all_is_needed),
		cmocka_unit_test(what_was_not_used_is_spare),
		cmocka_unit_test(who_grows_by_an_eighth_fills),
		cmocka_unit_test(less_than_an_eighth_is_not),
		cmocka_unit_test(what_was_used_is_never_spare),
		cmocka_unit_test(few_misses_are_forgiven),
		cmocka_unit_test(many_misses_are_not),
		cmocka_unit_test(slices_without_misses_win_trust_back),
	};

	return cmocka_run_group_tests_name("working_set", tests, NULL, NULL);
}

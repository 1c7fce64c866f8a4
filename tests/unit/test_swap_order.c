// SPDX-License-Identifier: GPL-2.0
/* Pages in the order of their places in swap. */
#include "unit.h"

#include "policy/swap_order.h"

#define MAX 20000
#define FOREVER U32_MAX

static struct mts_swapped pages[MAX], sorted[MAX];
static u32 questions_left;

static bool go_on(void)
{
	if (questions_left == FOREVER)
		return true;
	return questions_left && questions_left--;
}

static int compare(const void *a, const void *b)
{
	const struct mts_swapped *x = a, *y = b;

	if (x->place != y->place)
		return x->place < y->place ? -1 : 1;
	return x->where < y->where ? -1 : x->where > y->where;
}

/* The expected order; pages of the same place may come in any order. */
static void note_pages(u32 n)
{
	memcpy(sorted, pages, sizeof(pages));
	qsort(sorted, n, sizeof(sorted[0]), compare);
}

/* Each page has a where of its own: none gets lost unseen. */
static void fill(u32 n, u64 base, u64 range)
{
	u32 i;

	for (i = 0; i < n; i++)
		pages[i] = (struct mts_swapped){
			.place = base + random_below(range),
			.where = i,
		};
	note_pages(n);
}

static bool are_ordered(u32 n)
{
	u32 i;

	for (i = 1; i < n; i++)
		if (pages[i].place < pages[i - 1].place)
			return false;
	return true;
}

/* The same pages, in whatever order. */
static bool are_all_there(u32 n)
{
	qsort(pages, n, sizeof(pages[0]), compare);
	return !memcmp(pages, sorted, n * sizeof(pages[0]));
}

static void expect_order(u32 n)
{
	questions_left = FOREVER;
	check(mts_swap_order(pages, n, go_on));
	check(are_ordered(n));
	check(are_all_there(n));
}

/* From a handful of places to all that there are: many of one place, and none. */
static u64 any_range(void)
{
	u64 range = 1ull << random_below(64);

	return random_between(1, range);
}

static void any_pages_are_ordered(void **state)
{
	u32 cases = unit_cases(400);

	(void)state;
	random_start(__func__);
	for (unit_case = 0; unit_case < cases; unit_case++) {
		u64 range = any_range();
		u32 n = random_below(unit_case % 20 ? 200 : MAX + 1);

		fill(n, random_below(U64_MAX - range), range);
		expect_order(n);
	}
}

/* Two devices in turn, of which all that differs is one bit in the middle, and the ends. */
static void places_at_the_ends(void **state)
{
	static const u64 places[] = { U64_MAX, 0, 1ull << 63, 1, U64_MAX - 1, 1ull << 8, 0 };
	u32 i, n = ARRAY_SIZE(places) * 9;

	(void)state;
	random_start(__func__);
	fill(n, 0, 1);
	for (i = 0; i < n; i++)
		pages[i].place = places[i % ARRAY_SIZE(places)];
	note_pages(n);
	expect_order(n);
}

static void none_and_one(void **state)
{
	(void)state;
	random_start(__func__);
	fill(1, 7, 1);
	expect_order(0);
	expect_order(1);
}

/* What has been evicted in order, or in the reverse of it, or in two runs. */
static void runs_are_ordered(void **state)
{
	u32 i, half = MAX / 2;

	(void)state;
	random_start(__func__);
	for (unit_case = 0; unit_case < 3; unit_case++) {
		fill(MAX, 0, 1);
		for (i = 0; i < MAX; i++) {
			u64 place = unit_case == 1 ? MAX - i : i;

			if (unit_case == 2)
				place = i < half ? 2 * i : 2 * (i - half) + 1;
			pages[i].place = place;
		}
		note_pages(MAX);
		expect_order(MAX);
	}
}

/* However far it has come. */
static void who_ends_it_loses_no_page(void **state)
{
	u32 ended = 0;

	(void)state;
	random_start(__func__);
	for (unit_case = 0; unit_case < 1000; unit_case++) {
		bool done;

		fill(MAX, 0, 1ull << 24);
		questions_left = unit_case;
		done = mts_swap_order(pages, MAX, go_on);
		check(!done || are_ordered(MAX));
		check(are_all_there(MAX));
		if (done)
			break;
		ended++;
	}
	/* It asks often enough, and comes to an end. */
	check(ended >= 20 && ended < 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(any_pages_are_ordered),
		cmocka_unit_test(places_at_the_ends),
		cmocka_unit_test(none_and_one),
		cmocka_unit_test(runs_are_ordered),
		cmocka_unit_test(who_ends_it_loses_no_page),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

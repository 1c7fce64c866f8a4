// SPDX-License-Identifier: GPL-2.0
/* Which jobs are interactive, and which of them are in every bin. */
#include "unit.h"

#include "policy/interactive.h"
#include "policy/plan.h"

#define UNIT MTS_CREDIT_UNIT
#define MINUTE 60000ull

static u64 one_event(u64 at)
{
	return mts_credit_add(0, at, MTS_CREDIT_INPUT);
}

/* ---- credit --------------------------------------------------------------- */

static void one_event_is_one_unit(void **unused)
{
	(void)unused;
	assert_int_equal(mts_credit_now(0, MINUTE), 0);
	assert_int_equal(mts_credit_now(one_event(MINUTE), MINUTE), UNIT);
	/* Also at the very beginning of time. */
	assert_int_equal(mts_credit_now(one_event(0), 0), UNIT);
}

static void credit_halves_every_5_s(void **unused)
{
	u64 credit = one_event(MINUTE);

	(void)unused;
	assert_int_equal(mts_credit_now(credit, MINUTE + 5000), UNIT / 2);
	assert_int_equal(mts_credit_now(credit, MINUTE + 10000), UNIT / 4);
	assert_int_equal(mts_credit_now(credit, MINUTE + 2500), UNIT * 3 / 4);
	assert_int_equal(mts_credit_now(credit, MINUTE + 80000), 0);
	assert_int_equal(mts_credit_now(credit, U64_MAX), 0);
}

static void credit_never_grows_by_itself(void **unused)
{
	u32 i, before;

	(void)unused;
	random_start("credit_never_grows_by_itself");
	for (unit_case = 0; unit_case < unit_cases(200); unit_case++) {
		u64 at = random_below(1ull << 47), now = at;
		u64 credit = mts_credit_add(0, at, random_between(1, UNIT));

		for (i = 0, before = mts_credit_now(credit, now); i < 50; i++) {
			now += random_below(2000);
			check(mts_credit_now(credit, now) <= before);
			before = mts_credit_now(credit, now);
		}
	}
}

static void a_clock_that_is_behind_is_now(void **unused)
{
	(void)unused;
	assert_int_equal(mts_credit_now(one_event(MINUTE), MINUTE - 3), UNIT);
	assert_int_equal(mts_credit_add(one_event(MINUTE), MINUTE - 3, UNIT), one_event(MINUTE));
}

static void events_count_once_in_100_ms(void **unused)
{
	u64 credit = one_event(MINUTE);

	(void)unused;
	assert_int_equal(mts_credit_add(credit, MINUTE, UNIT), credit);
	assert_int_equal(mts_credit_add(credit, MINUTE + 99, UNIT), credit);
	check(mts_credit_now(mts_credit_add(credit, MINUTE + 100, UNIT), MINUTE + 100) >
	      UNIT * 19 / 10);
}

static void credit_has_a_cap(void **unused)
{
	u64 credit = 0, now;

	(void)unused;
	for (now = MINUTE; now < 2 * MINUTE; now += 100)
		credit = mts_credit_add(credit, now, MTS_CREDIT_INPUT);
	assert_int_equal(mts_credit_now(credit, now - 100), MTS_CREDIT_CAP);
}

/* ---- becoming and ceasing ----------------------------------------------------- */

static void one_key_makes_interactive_for_10_s(void **unused)
{
	(void)unused;
	assert_int_equal(mts_interactive_until(one_event(MINUTE), 0), MINUTE + 10000);
}

static void less_than_a_unit_does_not(void **unused)
{
	u64 credit = mts_credit_add(0, MINUTE, UNIT - 1);

	(void)unused;
	assert_int_equal(mts_interactive_until(credit, 0), 0);
	/* Nor if it has been interactive long ago. */
	assert_int_equal(mts_interactive_until(credit, MINUTE - 1), MINUTE - 1);
	assert_int_equal(mts_interactive_until(credit, MINUTE), MINUTE);
}

static void less_than_a_unit_prolongs(void **unused)
{
	u64 credit = mts_credit_add(0, MINUTE, UNIT / 2);

	(void)unused;
	assert_int_equal(mts_interactive_until(credit, MINUTE + 1), MINUTE + 5000);
	assert_int_equal(mts_interactive_until(credit, MINUTE + 9000), MINUTE + 9000);
}

static void it_ends_when_a_quarter_is_left(void **unused)
{
	(void)unused;
	random_start("it_ends_when_a_quarter_is_left");
	for (unit_case = 0; unit_case < unit_cases(500); unit_case++) {
		u64 credit = MINUTE << 16 | random_between(UNIT, MTS_CREDIT_CAP);
		u64 until = mts_interactive_until(credit, 0);

		check(until >= MINUTE + 10000);
		if (until > MINUTE + 10000)
			check(mts_credit_now(credit, until - 10) >= UNIT / 4);
		check(mts_credit_now(credit, until + 10) <= UNIT / 4);
	}
}

static void long_typing_lasts_for_25_s(void **unused)
{
	u64 credit = MINUTE << 16 | MTS_CREDIT_CAP;

	(void)unused;
	assert_int_equal(mts_interactive_until(credit, 0), MINUTE + 25000);
}

/* Three steps away, only continued typing makes a job interactive. */
static void every_step_hands_on_half(void **unused)
{
	u64 credit = 0, now, until = 0;

	(void)unused;
	assert_int_equal(MTS_CREDIT_STEP(0), UNIT);
	credit = mts_credit_add(credit, MINUTE, MTS_CREDIT_STEP(1));
	assert_int_equal(mts_interactive_until(credit, 0), 0);
	credit = mts_credit_add(credit, MINUTE + 200, MTS_CREDIT_STEP(1));
	credit = mts_credit_add(credit, MINUTE + 400, MTS_CREDIT_STEP(1));
	check(mts_interactive_until(credit, 0));

	for (credit = 0, now = MINUTE; now < 2 * MINUTE; now += 2000) {
		credit = mts_credit_add(credit, now, MTS_CREDIT_STEP(3));
		until = mts_interactive_until(credit, until);
	}
	assert_int_equal(until, 0);
	for (now = 2 * MINUTE; now < 3 * MINUTE; now += 300) {
		credit = mts_credit_add(credit, now, MTS_CREDIT_STEP(3));
		until = mts_interactive_until(credit, until);
	}
	check(until > 3 * MINUTE);
}

/* ---- steps ---------------------------------------------------------------------- */

static void a_trail_lasts_500_ms(void **unused)
{
	u64 trail = mts_trail_add(0, MINUTE, 0);

	(void)unused;
	check(mts_trail_step(0, 0) > MTS_STEP_MAX);
	check(mts_trail_step(0, MINUTE) > MTS_STEP_MAX);
	assert_int_equal(mts_trail_step(trail, MINUTE), 0);
	assert_int_equal(mts_trail_step(trail, MINUTE + 499), 0);
	check(mts_trail_step(trail, MINUTE + 500) > MTS_STEP_MAX);
	check(mts_trail_step(trail, U64_MAX) > MTS_STEP_MAX);
}

static void the_shortest_way_counts(void **unused)
{
	u64 trail = mts_trail_add(0, MINUTE, 2);

	(void)unused;
	assert_int_equal(mts_trail_add(trail, MINUTE + 10, 2), trail);
	assert_int_equal(mts_trail_add(trail, MINUTE + 10, 3), trail);
	trail = mts_trail_add(trail, MINUTE + 10, 1);
	assert_int_equal(mts_trail_step(trail, MINUTE + 509), 1);
	assert_int_equal(mts_trail_step(mts_trail_add(trail, MINUTE + 600, 3), MINUTE + 600), 3);
	/* The person's own input always counts. */
	trail = mts_trail_add(mts_trail_add(0, MINUTE, 0), MINUTE + 400, 0);
	assert_int_equal(mts_trail_step(trail, MINUTE + 899), 0);
}

/* Two programs that send each other messages all the time, after a single key. */
static void chatter_dies_away(void **unused)
{
	u64 trail[2] = { mts_trail_add(0, MINUTE, 0), 0 }, now, last = 0;
	u32 from = 0, step;

	(void)unused;
	for (now = MINUTE; now < 2 * MINUTE; now++, from = !from) {
		step = mts_trail_step(trail[from], now) + 1;
		if (step > MTS_STEP_MAX)
			continue;
		trail[!from] = mts_trail_add(trail[!from], now, step);
		last = now;
	}
	check(last < MINUTE + (MTS_STEP_MAX + 1) * MTS_TRAIL_MS);
}

/* ---- the cap ------------------------------------------------------------------ */

static void grant(struct mts_claim *claims, u32 n, u64 limit)
{
	size_t bytes = mts_interactive_scratch(n);
	void *scratch = malloc(bytes);

	check(bytes <= mts_plan_scratch(n));
	mts_interactive_grant(claims, n, limit, scratch);
	free(scratch);
}

/* Again and again the last one that was not asked yet: as it is meant, and slow. */
static void naive_grant(struct mts_claim *claims, u32 n, u64 limit)
{
	bool asked[64] = { false };
	u32 i, round, last;

	assert_true(n <= ARRAY_SIZE(asked));
	for (round = 0; round < n; round++) {
		for (i = 0, last = n; i < n; i++)
			if (!asked[i] &&
			    (last == n || claims[i].last_input_ns > claims[last].last_input_ns))
				last = i;
		asked[last] = true;
		claims[last].granted = claims[last].demand <= limit;
		if (claims[last].granted)
			limit -= claims[last].demand;
	}
}

static void who_was_used_last_stays(void **unused)
{
	struct mts_claim claims[] = { { 10, 40, false }, { 30, 40, false }, { 20, 40, false } };

	(void)unused;
	grant(claims, 3, 80);
	check(!claims[0].granted && claims[1].granted && claims[2].granted);
	grant(claims, 3, 79);
	check(!claims[0].granted && claims[1].granted && !claims[2].granted);
	grant(claims, 3, 120);
	check(claims[0].granted && claims[1].granted && claims[2].granted);
	grant(claims, 3, 0);
	check(!claims[0].granted && !claims[1].granted && !claims[2].granted);
	grant(claims, 0, 120);
}

static void who_is_too_large_leaves_the_place_to_others(void **unused)
{
	struct mts_claim claims[] = { { 30, 90, false }, { 20, 40, false }, { 10, 40, false } };

	(void)unused;
	grant(claims, 3, 80);
	check(!claims[0].granted && claims[1].granted && claims[2].granted);
}

static void equal_times_are_taken_one_by_one(void **unused)
{
	struct mts_claim claims[] = { { 5, 40, false },
				      { 5, 40, false },
				      { 5, 40, false },
				      { U64_MAX, 1, false },
				      { 0, 1, false } };

	(void)unused;
	grant(claims, 5, 82);
	check(claims[0].granted && claims[1].granted && !claims[2].granted);
	check(claims[3].granted && claims[4].granted);
}

static void grants_keep_the_limit(void **unused)
{
	struct mts_claim claims[40];
	u32 i, n;

	(void)unused;
	random_start("grants_keep_the_limit");
	for (unit_case = 0; unit_case < unit_cases(500); unit_case++) {
		u64 limit = random_below(200), sum = 0, smallest = U64_MAX;

		n = random_below(ARRAY_SIZE(claims) + 1);
		for (i = 0; i < n; i++)
			claims[i] = (struct mts_claim){ .last_input_ns = random_below(10),
							.demand = random_below(40),
							.granted = random_below(2) };
		grant(claims, n, limit);
		for (i = 0; i < n; i++) {
			if (claims[i].granted)
				sum += claims[i].demand;
			else
				smallest = mts_min(smallest, claims[i].demand);
		}
		check(sum <= limit);
		check(smallest > limit - sum);
	}
}

static void grants_are_those_of_a_naive_model(void **unused)
{
	static const u64 times[] = { 1, 3, 1000, 1ull << 40, U64_MAX };
	struct mts_claim claims[64], naive[64];
	u32 i, n;

	(void)unused;
	random_start("grants_are_those_of_a_naive_model");
	for (unit_case = 0; unit_case < unit_cases(1000); unit_case++) {
		u64 most = times[random_below(ARRAY_SIZE(times))];
		u64 limit = random_below(1000);

		n = random_below(ARRAY_SIZE(claims) + 1);
		for (i = 0; i < n; i++)
			claims[i] = (struct mts_claim){ .last_input_ns = random_below(most),
							.demand = random_below(80),
							.granted = random_below(2) };
		memcpy(naive, claims, sizeof(naive));
		naive_grant(naive, n, limit);
		grant(claims, n, limit);
		for (i = 0; i < n; i++)
			check(claims[i].granted == naive[i].granted);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_event_is_one_unit),
		cmocka_unit_test(credit_halves_every_5_s),
		cmocka_unit_test(credit_never_grows_by_itself),
		cmocka_unit_test(a_clock_that_is_behind_is_now),
		cmocka_unit_test(events_count_once_in_100_ms),
		cmocka_unit_test(credit_has_a_cap),
		cmocka_unit_test(one_key_makes_interactive_for_10_s),
		cmocka_unit_test(less_than_a_unit_does_not),
		cmocka_unit_test(less_than_a_unit_prolongs),
		cmocka_unit_test(it_ends_when_a_quarter_is_left),
		cmocka_unit_test(long_typing_lasts_for_25_s),
		cmocka_unit_test(every_step_hands_on_half),
		cmocka_unit_test(a_trail_lasts_500_ms),
		cmocka_unit_test(the_shortest_way_counts),
		cmocka_unit_test(chatter_dies_away),
		cmocka_unit_test(who_was_used_last_stays),
		cmocka_unit_test(who_is_too_large_leaves_the_place_to_others),
		cmocka_unit_test(equal_times_are_taken_one_by_one),
		cmocka_unit_test(grants_keep_the_limit),
		cmocka_unit_test(grants_are_those_of_a_naive_model),
	};

	return cmocka_run_group_tests_name("interactive", tests, NULL, NULL);
}

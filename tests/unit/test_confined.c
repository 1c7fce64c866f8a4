// SPDX-License-Identifier: GPL-2.0
/* What limits of cgroups leave of the jobs' demands. */
#include "policy/confined.h"
#include "unit.h"

#define NONE MTS_LIMITS_SHARED

static struct mts_mem_limits no_limits(void)
{
	return (struct mts_mem_limits){ .most = U64_MAX, .room = U64_MAX, .swap = U64_MAX };
}

static void below(struct mts_mem_limits *limits, u64 id, u32 depth, u64 bytes)
{
	limits->above[limits->n++] = (struct mts_limit){ .id = id, .depth = depth, .bytes = bytes };
}

static void without_limits(void **unused)
{
	struct mts_shared_limits shared = { .n = 0 };
	struct mts_mem_limits limits = no_limits();

	(void)unused;
	assert_int_equal(mts_shared_add(&shared, &limits, 100), NONE);
	assert_int_equal(mts_shared_settle(&shared), 0);
	assert_false(mts_shared_cuts(&shared, NONE));
}

/* Two jobs of 30 below a limit of 44, a third one beside it. */
static void a_limit_cuts_the_sum(void **unused)
{
	struct mts_shared_limits shared = { .n = 0 };
	struct mts_mem_limits limits = no_limits(), none = no_limits();
	u32 a, b, c;

	(void)unused;
	below(&limits, 7, 2, 44);
	a = mts_shared_add(&shared, &limits, 30);
	b = mts_shared_add(&shared, &limits, 30);
	c = mts_shared_add(&shared, &none, 30);
	assert_int_equal(mts_shared_settle(&shared), 16);
	assert_true(mts_shared_cuts(&shared, a));
	assert_true(mts_shared_cuts(&shared, b));
	assert_false(mts_shared_cuts(&shared, c));
}

static void a_limit_that_suffices_cuts_nothing(void **unused)
{
	struct mts_shared_limits shared = { .n = 0 };
	struct mts_mem_limits limits = no_limits();
	u32 a;

	(void)unused;
	below(&limits, 7, 2, 60);
	a = mts_shared_add(&shared, &limits, 30);
	mts_shared_add(&shared, &limits, 30);
	assert_int_equal(mts_shared_settle(&shared), 0);
	assert_false(mts_shared_cuts(&shared, a));
}

/* What the lower limit has cut off, the upper one does not cut again, in whichever order. */
static void nested_limits(void **unused)
{
	struct mts_mem_limits inner = no_limits(), outer = no_limits();
	u32 order;

	(void)unused;
	below(&inner, 8, 3, 40);
	below(&inner, 7, 2, 100);
	below(&outer, 7, 2, 100);
	for (order = 0; order < 2; order++) {
		struct mts_shared_limits shared = { .n = 0 };
		u32 in = 0, out = 0, i;

		for (i = 0; i < 2; i++)
			if (i == order)
				in = mts_shared_add(&shared, &inner, 90);
			else
				out = mts_shared_add(&shared, &outer, 70);
		/* 90 are cut to 40, and 40 + 70 to 100. */
		assert_int_equal(mts_shared_settle(&shared), 60);
		assert_true(mts_shared_cuts(&shared, in));
		assert_true(mts_shared_cuts(&shared, out));
	}
}

static void more_limits_than_there_is_room_for(void **unused)
{
	struct mts_shared_limits shared = { .n = 0 };
	u32 i, at = 0;

	(void)unused;
	for (i = 0; i <= MTS_LIMITS_SHARED; i++) {
		struct mts_mem_limits limits = no_limits();

		below(&limits, i + 1, 2, 10);
		at = mts_shared_add(&shared, &limits, 15);
		assert_int_equal(at, i);
	}
	assert_int_equal(at, NONE);
	assert_int_equal(mts_shared_settle(&shared), 5 * MTS_LIMITS_SHARED);
}

static void sums_do_not_wrap(void **unused)
{
	struct mts_shared_limits shared = { .n = 0 };
	struct mts_mem_limits limits = no_limits();

	(void)unused;
	below(&limits, 7, 2, 10);
	mts_shared_add(&shared, &limits, U64_MAX);
	mts_shared_add(&shared, &limits, U64_MAX);
	assert_int_equal(mts_shared_settle(&shared), U64_MAX - 10);
}

static void a_limit_is_reached_to_an_eighth(void **unused)
{
	(void)unused;
	assert_true(mts_limit_is_reached(800, 800));
	assert_true(mts_limit_is_reached(700, 800));
	assert_false(mts_limit_is_reached(699, 800));
	assert_true(mts_limit_is_reached(900, 800));
	assert_false(mts_limit_is_reached(U64_MAX, U64_MAX));
}

static void what_swap_leaves(void **unused)
{
	struct mts_mem_limits limits = no_limits();

	(void)unused;
	assert_int_equal(mts_policy_immovable(800, &limits), 0);
	assert_false(mts_policy_has_no_swap(800, &limits));
	limits.swap = 300;
	assert_int_equal(mts_policy_immovable(800, &limits), 500);
	assert_false(mts_policy_has_no_swap(800, &limits));
	limits.swap = 100;
	assert_true(mts_policy_has_no_swap(800, &limits));
	limits.swap = 0;
	assert_true(mts_policy_has_no_swap(800, &limits));
	/* A job that has nothing yet. */
	assert_true(mts_policy_has_no_swap(0, &limits));
	limits.swap = 1;
	assert_false(mts_policy_has_no_swap(0, &limits));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_limits),
		cmocka_unit_test(a_limit_cuts_the_sum),
		cmocka_unit_test(a_limit_that_suffices_cuts_nothing),
		cmocka_unit_test(nested_limits),
		cmocka_unit_test(more_limits_than_there_is_room_for),
		cmocka_unit_test(sums_do_not_wrap),
		cmocka_unit_test(a_limit_is_reached_to_an_eighth),
		cmocka_unit_test(what_swap_leaves),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

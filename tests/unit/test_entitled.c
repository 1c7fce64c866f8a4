// SPDX-License-Identifier: GPL-2.0
/* What jobs are entitled to: service is the time that a job has run, divided by that. */
#include "policy/bins.h"
#include "policy/entitled.h"
#include "unit.h"

static void a_job_of_the_default_weight_is_served_for_as_long_as_it_runs(void **unused)
{
	(void)unused;
	assert_int_equal(mts_entitled(0), mts_entitled(MTS_WEIGHT_DEFAULT));
	assert_true(mts_entitled_service(12345, mts_entitled(100)) == 12345);
	assert_true(mts_entitled_service(12345, 0) == 12345);
	assert_true(mts_entitled_ran(U64_MAX, 0) == U64_MAX);
}

static void service_is_time_divided_by_weight(void **unused)
{
	(void)unused;
	assert_true(mts_entitled_service(1000, mts_entitled(200)) == 500);
	assert_true(mts_entitled_service(1000, mts_entitled(1)) == 100000);
	assert_true(mts_entitled_service(1000, mts_entitled(MTS_WEIGHT_MAX)) == 10);
	assert_true(mts_entitled_ran(1000, mts_entitled(50)) == 500);
	assert_true(mts_entitled_ran(10, mts_entitled(MTS_WEIGHT_MAX)) == 1000);
}

/* Fault: where the first bin had no jobs left, all bins were alike. */
static void an_empty_bin_hides_no_weights(void **unused)
{
	struct mts_plan_bin bins[] = {
		{ 0 },
		{ .jobs = 1, .entitled = MTS_ENTITLED_DEFAULT },
		{ .jobs = 2, .entitled = 2ull * MTS_ENTITLED_DEFAULT },
		{ 0 },
		{ .jobs = 1, .entitled = 4ull * MTS_ENTITLED_DEFAULT },
	};

	(void)unused;
	assert_true(mts_bins_are_alike(bins, 0));
	assert_true(mts_bins_are_alike(bins, 1));
	assert_true(mts_bins_are_alike(bins, 4));
	assert_false(mts_bins_are_alike(bins, 5));
	assert_false(mts_bins_are_alike(bins + 1, 4));
}

/* A division that overflows is a fault of the processor. */
static void nothing_overflows(void **unused)
{
	u64 value, there;
	u32 entitled;

	(void)unused;
	random_start("overflow");
	for (unit_case = 0; unit_case < unit_cases(100000); unit_case++) {
		value = random_u64() >> random_below(64);
		entitled = random_between(1, mts_entitled(MTS_WEIGHT_MAX)) >> random_below(30);
		there = mts_entitled_service(value, entitled);
		if (!entitled)
			check(there == value);
		else if ((u128)value * MTS_ENTITLED_DEFAULT / entitled >= U64_MAX / 2)
			check(there >= U64_MAX / 4);
		else
			check(there == (u64)((u128)value * MTS_ENTITLED_DEFAULT / entitled));
		mts_entitled_ran(value, entitled);
	}
	assert_true(mts_entitled_service(U64_MAX, 1) == U64_MAX);
	assert_true(mts_entitled_ran(U64_MAX, mts_entitled(MTS_WEIGHT_MAX)) == U64_MAX);
}

static void classes_hold_what_differs_by_less_than_an_eighth(void **unused)
{
	u32 a, b;

	(void)unused;
	random_start("classes");
	for (unit_case = 0; unit_case < unit_cases(100000); unit_case++) {
		a = random_between(8, mts_entitled(MTS_WEIGHT_MAX) >> random_below(26));
		b = a + random_below(a / 4 + 1);
		check(mts_entitled_class(a) < MTS_ENTITLED_CLASSES);
		check(mts_entitled_class(a) <= mts_entitled_class(b));
		if (mts_entitled_class(a) == mts_entitled_class(b))
			check(b - a < a / 8 + 1);
		if (b - a > a / 8)
			check(mts_entitled_class(a) != mts_entitled_class(b));
	}
	assert_int_equal(mts_entitled_class(0), mts_entitled_class(mts_entitled(100)));
	assert_true(mts_entitled_class(mts_entitled(100)) != mts_entitled_class(mts_entitled(200)));
	for (a = 1; a < 16; a++)
		assert_true(mts_entitled_class(a) <= mts_entitled_class(a + 1));
	assert_true(mts_entitled_class(U32_MAX) < MTS_ENTITLED_CLASSES);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_job_of_the_default_weight_is_served_for_as_long_as_it_runs),
		cmocka_unit_test(service_is_time_divided_by_weight),
		cmocka_unit_test(an_empty_bin_hides_no_weights),
		cmocka_unit_test(nothing_overflows),
		cmocka_unit_test(classes_hold_what_differs_by_less_than_an_eighth),
	};

	return cmocka_run_group_tests_name("entitled", tests, NULL, NULL);
}

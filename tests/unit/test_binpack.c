// SPDX-License-Identifier: GPL-2.0
/* Packing without a past: every item is a newcomer. */
#include <time.h>

#include "unit.h"

static struct instance in;
static u32 expected[UNIT_MAX_ITEMS];

static void given(u64 capacity, u32 n, const u64 *sizes)
{
	u32 i;

	instance_clear(&in, capacity);
	for (i = 0; i < n; i++)
		instance_add(&in, sizes[i], MTS_BIN_NONE);
}

#define GIVEN(capacity, ...) \
	given(capacity, sizeof((u64[]){ __VA_ARGS__ }) / sizeof(u64), (u64[]){ __VA_ARGS__ })

static void first_fit_takes_the_first_bin(void **unused)
{
	(void)unused;
	GIVEN(10, 6, 5, 4, 3, 2);
	assert_int_equal(pack(MTS_PACK_FFD, &in), 2);
	BINS(0, 1, 0, 1, 1);
}

static void best_fit_takes_the_fullest_bin(void **unused)
{
	(void)unused;
	/* 3 fits in the bin of 10 and in that of 16. */
	GIVEN(20, 10, 16, 6, 3);
	assert_int_equal(pack(MTS_PACK_FFD, &in), 2);
	BINS(1, 0, 1, 0);
	GIVEN(20, 11, 12, 6, 3);
	assert_int_equal(pack(MTS_PACK_FFD, &in), 2);
	BINS(1, 0, 0, 1);
	GIVEN(20, 12, 14, 3);
	assert_int_equal(pack(MTS_PACK_BFD, &in), 2);
	BINS(1, 0, 0);
	/* 4 goes to 13, where first fit would take 12 + 0; then 3 and 2. */
	GIVEN(20, 11, 12, 7, 4, 1);
	assert_int_equal(pack(MTS_PACK_BFD, &in), 2);
	BINS(1, 0, 0, 1, 0);
	GIVEN(20, 12, 11, 5, 5, 2);
	assert_int_equal(pack(MTS_PACK_FFD, &in), 2);
	BINS(0, 1, 0, 1, 0);
	/* 13 + 4 has room for 3, and 12 + 4 for 4: 2 goes to the fuller one. */
	GIVEN(20, 12, 13, 4, 6, 2);
	assert_int_equal(pack(MTS_PACK_BFD, &in), 2);
	BINS(1, 0, 1, 0, 1);
}

static void best_fit_ties_go_to_the_first_bin(void **unused)
{
	(void)unused;
	GIVEN(10, 6, 6, 6, 2, 2, 2);
	assert_int_equal(pack(MTS_PACK_BFD, &in), 3);
	BINS(0, 1, 2, 0, 0, 1);
}

static void rw_goes_beyond_the_smallest(void **unused)
{
	(void)unused;
	/* 20 bytes: 2 bins. The third 6 fits nowhere; 1 and 1 do, but not beside it. */
	GIVEN(10, 6, 6, 6, 1, 1);
	assert_int_equal(pack(MTS_PACK_RW, &in), 2);
	BINS(0, 1, 0, 1, 1);
	/* 5 fits nowhere; the second one is the smallest. */
	GIVEN(10, 7, 6, 5, 2);
	assert_int_equal(pack(MTS_PACK_RW, &in), 2);
	BINS(0, 1, 1, 0);
}

static void rw_rounds_up_and_leaves_out_oversize(void **unused)
{
	(void)unused;
	GIVEN(10, 10, 10, 1);
	assert_int_equal(pack(MTS_PACK_RW, &in), 3);
	GIVEN(10, 10, 10);
	assert_int_equal(pack(MTS_PACK_RW, &in), 2);
	GIVEN(10, 25, 3, 11, 7);
	assert_int_equal(pack(MTS_PACK_RW, &in), 3);
	BINS(1, 0, 2, 0);
}

static void nothing_to_pack(void **unused)
{
	u32 i;

	(void)unused;
	for (i = 0; i < ARRAY_SIZE(unit_packers); i++) {
		assert_int_equal(mts_binpack(unit_packers[i], NULL, 0, 100, NULL), 0);
		assert_int_equal(mts_binpack(unit_packers[i], NULL, 0, 0, NULL), 0);
	}
}

static void bad_arguments(void **unused)
{
	(void)unused;
	GIVEN(10, 1);
	assert_int_equal(mts_binpack(3, in.items, 1, 10, NULL), -EINVAL);
	assert_int_equal(mts_binpack(U32_MAX, in.items, 1, 10, NULL), -EINVAL);
	assert_int_equal(mts_binpack(3, NULL, 0, 10, NULL), -EINVAL);
	assert_int_equal(mts_binpack(MTS_PACK_FFD, in.items, MTS_MAX_JOBS + 1, 10, NULL), -EINVAL);
	assert_int_equal(mts_binpack(MTS_PACK_FFD, in.items, U32_MAX, 10, NULL), -EINVAL);
	assert_int_equal(in.items[0].bin, 0xdead);
	assert_true(mts_binpack_scratch(U32_MAX) < MIB);
	assert_true(mts_binpack_scratch(MTS_MAX_JOBS) < MIB);
}

static void zero_bytes_fit_everywhere(void **unused)
{
	u32 i;

	(void)unused;
	for (i = 0; i < ARRAY_SIZE(unit_packers); i++) {
		GIVEN(10, 0, 0, 0);
		assert_int_equal(pack(unit_packers[i], &in), 1);
		GIVEN(10, 0, 10, 0);
		assert_int_equal(pack(unit_packers[i], &in), 1);
		GIVEN(10, 11, 0, 0);
		assert_int_equal(pack(unit_packers[i], &in), 2);
		GIVEN(0, 0, 0);
		assert_int_equal(pack(unit_packers[i], &in), 1);
	}
	/* A bin beyond the capacity takes them as well. */
	GIVEN(10, 7, 7, 6, 0);
	assert_int_equal(pack(MTS_PACK_RW, &in), 2);
	BINS(0, 1, 0, 0);
}

static void no_capacity(void **unused)
{
	u32 i;

	(void)unused;
	for (i = 0; i < ARRAY_SIZE(unit_packers); i++) {
		GIVEN(0, 1, 0, 5, 0, 1);
		assert_int_equal(pack(unit_packers[i], &in), 4);
		assert_int_equal(in.items[1].bin, in.items[3].bin);
	}
}

static void oversize_alone_and_last(void **unused)
{
	u32 i;

	(void)unused;
	for (i = 0; i < ARRAY_SIZE(unit_packers); i++) {
		GIVEN(10, 11, 2, 10, 99, 0);
		assert_int_equal(pack(unit_packers[i], &in), 4);
		assert_int_equal(in.items[3].bin, 2);
		assert_int_equal(in.items[0].bin, 3);
	}
}

static void huge_sizes(void **unused)
{
	const u64 half = 1ull << 63;
	u32 i;

	(void)unused;
	for (i = 0; i < ARRAY_SIZE(unit_packers); i++) {
		GIVEN(half, half, half, half, half);
		assert_int_equal(pack(unit_packers[i], &in), 4);
		GIVEN(U64_MAX, U64_MAX, U64_MAX, 1, U64_MAX);
		assert_int_equal(pack(unit_packers[i], &in), 4);
		GIVEN(U64_MAX, half, half - 1, half, half - 1);
		assert_int_equal(pack(unit_packers[i], &in), 2);
		GIVEN(half, U64_MAX, half + 1, 1);
		assert_int_equal(pack(unit_packers[i], &in), 3);
	}
	/* What is beyond the capacity is beyond 64 bits. */
	GIVEN(U64_MAX, half + 1, half + 1, half - 3);
	assert_int_equal(pack(MTS_PACK_RW, &in), 2);
	GIVEN(U64_MAX - 2, half, half, half);
	assert_int_equal(pack(MTS_PACK_RW, &in), 2);
	assert_int_equal(pack(MTS_PACK_FFD, &in), 3);
}

/* Johnson's instance for 11/9: FFD takes 11 bins for each 9 of the optimum. */
static void adversarial(u32 times)
{
	static const u32 sizes[][2] = { { 501, 6 }, { 252, 6 }, { 251, 6 }, { 248, 12 } };
	u32 i, j;

	instance_clear(&in, 1000);
	for (i = 0; i < ARRAY_SIZE(sizes); i++)
		for (j = 0; j < sizes[i][1] * times; j++)
			instance_add(&in, sizes[i][0], MTS_BIN_NONE);
	instance_shuffle(&in);
}

static void eleven_ninths(void **unused)
{
	u32 times;

	(void)unused;
	random_start(__func__);
	for (times = 1; times <= 20; times++) {
		adversarial(times);
		assert_int_equal(pack(MTS_PACK_FFD, &in), 11 * times);
		assert_int_equal(pack(MTS_PACK_BFD, &in), 11 * times);
		/* The sum fills 9 bins: 6 of 501 + 251 + 248, 3 of 252 + 252 + 248 + 248. */
		assert_int_equal(pack(MTS_PACK_RW, &in), 9 * times);
	}
}

static void as_the_textbook(void **unused)
{
	u32 i;

	(void)unused;
	random_start(__func__);
	for (unit_case = 0; unit_case < unit_cases(2000); unit_case++) {
		instance_random(&in, unit_case % 20 ? 40 : 400);
		for (i = 0; i < ARRAY_SIZE(unit_packers); i++) {
			u32 nbins = naive_pack(unit_packers[i], &in, expected);

			check(pack(unit_packers[i], &in) == nbins);
			check(same_groups(&in, expected));
		}
	}
}

static void within_eleven_ninths_of_the_optimum(void **unused)
{
	u32 worse = 0;
	u32 i;

	(void)unused;
	random_start(__func__);
	for (unit_case = 0; unit_case < unit_cases(1500); unit_case++) {
		u32 best;

		instance_random(&in, 12);
		best = optimal_bins(&in);
		for (i = 0; i < 2; i++) {
			u32 nbins = pack(unit_packers[i], &in);

			check(nbins >= best);
			check(9 * nbins <= 11 * best + 6);
			worse += nbins > best;
		}
	}
	/* Were it never worse, these cases would not test the bound. */
	check(worse || unit_case < 1000);
}

static void order_of_input_is_irrelevant(void **unused)
{
	u32 i;

	(void)unused;
	random_start(__func__);
	for (unit_case = 0; unit_case < unit_cases(1000); unit_case++) {
		instance_random(&in, 60);
		if (unit_case % 2)
			instance_random_prev(&in);
		for (i = 0; i < ARRAY_SIZE(unit_packers); i++) {
			u32 nbins = pack(unit_packers[i], &in);

			instance_shuffle(&in);
			check(pack(unit_packers[i], &in) == nbins);
		}
	}
}

static u64 processor_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return now.tv_sec * 1000000000ull + now.tv_nsec;
}

/* Each item needs its own bin. With thousands of bins, no packer may search all of them. */
static void four_thousand_jobs(void **unused)
{
	void *scratch = malloc(mts_binpack_scratch(MTS_MAX_JOBS));
	u32 i, j;

	(void)unused;
	random_start(__func__);
	instance_clear(&in, 4 * GIB);
	while (in.n < MTS_MAX_JOBS)
		instance_add(&in, 2 * GIB + 1 + random_below(GIB), MTS_BIN_NONE);
	for (i = 0; i < ARRAY_SIZE(unit_packers); i++) {
		u32 times = unit_packers[i] == MTS_PACK_BFD ? 3 : 30;
		u64 start;

		if (unit_packers[i] == MTS_PACK_RW)
			assert_in_range(pack(unit_packers[i], &in), 2049, 4095);
		else
			assert_int_equal(pack(unit_packers[i], &in), MTS_MAX_JOBS);
		start = processor_ns();
		for (j = 0; j < times; j++)
			mts_binpack(unit_packers[i], in.items, in.n, in.capacity, scratch);
		assert_true(processor_ns() - start < 1000000000ull);
	}
	free(scratch);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(first_fit_takes_the_first_bin),
		cmocka_unit_test(best_fit_takes_the_fullest_bin),
		cmocka_unit_test(best_fit_ties_go_to_the_first_bin),
		cmocka_unit_test(rw_goes_beyond_the_smallest),
		cmocka_unit_test(rw_rounds_up_and_leaves_out_oversize),
		cmocka_unit_test(nothing_to_pack),
		cmocka_unit_test(bad_arguments),
		cmocka_unit_test(zero_bytes_fit_everywhere),
		cmocka_unit_test(no_capacity),
		cmocka_unit_test(oversize_alone_and_last),
		cmocka_unit_test(huge_sizes),
		cmocka_unit_test(eleven_ninths),
		cmocka_unit_test(as_the_textbook),
		cmocka_unit_test(within_eleven_ninths_of_the_optimum),
		cmocka_unit_test(order_of_input_is_irrelevant),
		cmocka_unit_test(four_thousand_jobs),
	};

	return cmocka_run_group_tests_name("binpack", tests, NULL, NULL);
}

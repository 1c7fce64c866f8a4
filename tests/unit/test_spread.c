// SPDX-License-Identifier: GPL-2.0
/* Bins that keep the processors busy. */
#include "unit.h"

#define MAX MTS_MAX_JOBS

static struct mts_plan_job jobs[MAX];
static struct mts_plan_bin bins[MAX];
static struct mts_plan plan;
static u32 njobs;

static void forget(void)
{
	njobs = 0;
}

static void add(u64 demand, u32 threads)
{
	jobs[njobs++] = (struct mts_plan_job){
		.demand = demand,
		.prev_bin = MTS_BIN_NONE,
		.threads = threads,
	};
}

static void plan_for(u32 processors, u64 capacity)
{
	const struct mts_plan_conf conf = {
		.pack = MTS_PACK_FFD,
		.capacity = capacity,
		.slice_ns = 1000000000,
		.min_slice_ns = 100000000,
		.max_pause_ns = 60000000000,
		.processors = processors,
	};
	void *scratch = calloc(1, mts_plan_scratch(njobs) + 1);

	check(scratch && !mts_plan_round(&conf, jobs, njobs, bins, &plan, scratch));
	free(scratch);
}

static u32 threads_of(u32 bin)
{
	u32 i, n = 0;

	for (i = 0; i < njobs; i++)
		if (jobs[i].bin == bin)
			n += jobs[i].threads;
	return n;
}

/* What the bins say of themselves is what their jobs come to, and they fit. */
static void check_bins(u64 capacity)
{
	u32 i;

	check_bins_of(jobs, njobs, bins, plan.nbins);
	for (i = 0; i < plan.nbins; i++)
		check(bins[i].demand <= capacity || bins[i].jobs == 1);
}

/* Three large ones and six small ones: first fit puts four small ones beside the first. */
static void three_large_and_six_small(void)
{
	u32 i;

	forget();
	for (i = 0; i < 3; i++)
		add(80, 1);
	for (i = 0; i < 6; i++)
		add(5, 1);
}

static void one_processor_is_busy_anyway(void **unused)
{
	(void)unused;
	three_large_and_six_small();
	plan_for(1, 100);
	check(plan.nbins == 3);
	check(bins[0].jobs == 5 && bins[1].jobs == 3 && bins[2].jobs == 1);
	plan_for(0, 100);
	check(bins[0].jobs == 5 && bins[1].jobs == 3 && bins[2].jobs == 1);
}

static void bins_get_a_thread_for_every_processor(void **unused)
{
	(void)unused;
	three_large_and_six_small();
	plan_for(2, 100);
	check(plan.nbins == 3);
	check_bins(100);
	check(bins[0].jobs == 4 && bins[1].jobs == 3 && bins[2].jobs == 2);
	plan_for(3, 100);
	check_bins(100);
	check(bins[0].jobs == 3 && bins[1].jobs == 3 && bins[2].jobs == 3);
}

static void a_bin_keeps_what_it_needs_itself(void **unused)
{
	(void)unused;
	three_large_and_six_small();
	plan_for(4, 100);
	check_bins(100);
	check(bins[0].jobs == 4); /* one went, to the second */
	check(bins[1].jobs == 4 && bins[2].jobs == 1);
}

static void a_job_of_many_threads_is_enough(void **unused)
{
	(void)unused;
	forget();
	add(80, 8);
	add(80, 1);
	add(10, 1);
	add(10, 1);
	plan_for(4, 100);
	check_bins(100);
	/* One thread would be left idle in any case, but two less are. */
	check(threads_of(0) >= 4);
	check(threads_of(1) == 3);
}

static void sleepers_do_not_count(void **unused)
{
	(void)unused;
	forget();
	add(80, 1);
	add(80, 1);
	add(10, 0);
	add(10, 0);
	plan_for(2, 100);
	check_bins(100);
	check(bins[0].jobs == 3 && bins[1].jobs == 1);
}

static void where_there_is_no_room_nothing_moves(void **unused)
{
	(void)unused;
	forget();
	add(100, 1);
	add(40, 1);
	add(30, 1);
	add(20, 1);
	plan_for(2, 100);
	check_bins(100);
	check(bins[0].jobs == 1 && bins[1].jobs == 3);
}

static void residents_take_processors(void **unused)
{
	(void)unused;
	three_large_and_six_small();
	add(0, 2);
	jobs[njobs - 1].flags = MTS_PLAN_RESIDENT;
	plan_for(3, 100);
	/* Only one is left for the bins, and each has a thread for it. */
	check(bins[0].jobs == 5 && bins[1].jobs == 3 && bins[2].jobs == 1);
}

/* Jobs that were moved stay where they are, round after round. */
static void it_comes_to_rest(void **unused)
{
	u32 before[16], i;

	(void)unused;
	three_large_and_six_small();
	plan_for(2, 100);
	for (i = 0; i < njobs; i++)
		before[i] = jobs[i].bin;
	for (i = 0; i < njobs; i++)
		jobs[i].prev_bin = before[i];
	plan_for(2, 100);
	for (i = 0; i < njobs; i++)
		check(jobs[i].bin == before[i]);
}

/* Whatever the jobs, no bin gets fewer threads than it had unless it has enough. */
static void fuzz(void **unused)
{
	u32 had[MAX], i, bin, n;

	(void)unused;
	random_start("spread");
	for (n = 0; n < unit_cases(300); n++) {
		u32 processors = 1 + (u32)random_below(16);

		forget();
		for (i = 1 + (u32)random_below(60); i; i--)
			add((u32)random_below(120), (u32)random_below(5));
		plan_for(0, 100);
		for (bin = 0; bin < plan.nbins; bin++)
			had[bin] = bins[bin].threads;
		plan_for(processors, 100);
		check_bins(100);
		for (bin = 0; bin < plan.nbins; bin++)
			check(bins[bin].threads >= had[bin] || bins[bin].threads >= processors);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_processor_is_busy_anyway),
		cmocka_unit_test(bins_get_a_thread_for_every_processor),
		cmocka_unit_test(a_bin_keeps_what_it_needs_itself),
		cmocka_unit_test(a_job_of_many_threads_is_enough),
		cmocka_unit_test(sleepers_do_not_count),
		cmocka_unit_test(where_there_is_no_room_nothing_moves),
		cmocka_unit_test(residents_take_processors),
		cmocka_unit_test(it_comes_to_rest),
		cmocka_unit_test(fuzz),
	};

	return cmocka_run_group_tests_name("spread", tests, NULL, NULL);
}

// SPDX-License-Identifier: GPL-2.0
/* Bins that keep the processors busy, and have room. */
#include "policy/bins.h"
#include "policy/plan.h"
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

/* The sums of each bin are those of its jobs, and the bin fits. */
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

/* Another round of the same jobs: they stay where they are. */
static void plan_again(u32 processors, u64 capacity)
{
	u32 i;

	for (i = 0; i < njobs; i++)
		jobs[i].prev_bin = jobs[i].bin;
	plan_for(processors, capacity);
	for (i = 0; i < njobs; i++)
		check(jobs[i].bin == jobs[i].prev_bin);
}

/* Jobs that were moved stay where they are, round after round. */
static void it_comes_to_rest(void **unused)
{
	(void)unused;
	three_large_and_six_small();
	plan_for(2, 100);
	plan_again(2, 100);
}

/* ---- memory ------------------------------------------------------------------------- */

static void equal_jobs(u32 n, u64 demand, u32 threads)
{
	forget();
	while (n--)
		add(demand, threads);
}

/* First fit: ten and two. All of them will grow. */
static void all_bins_have_room_to_grow(void **unused)
{
	(void)unused;
	equal_jobs(12, 10, 1);
	plan_for(1, 100);
	check_bins(100);
	check(plan.nbins == 2 && bins[0].demand == 70 && bins[1].demand == 50);
	plan_again(1, 100);
}

static void what_is_nearly_even_stays(void **unused)
{
	(void)unused;
	equal_jobs(18, 10, 1);
	plan_for(1, 100);
	check(bins[0].jobs == 10 && bins[1].jobs == 8);
}

static void no_bin_loses_threads_that_it_needs(void **unused)
{
	(void)unused;
	equal_jobs(12, 10, 1);
	plan_for(8, 100);
	check(bins[0].jobs == 8 && bins[1].jobs == 4);
}

static void large_jobs_do_not_change_sides(void **unused)
{
	(void)unused;
	equal_jobs(3, 45, 1);
	plan_for(1, 100);
	check(bins[0].jobs == 2 && bins[1].jobs == 1);
}

/* One beyond the capacity has a bin to itself, and keeps it. */
static void who_does_not_fit_stays_alone(void **unused)
{
	(void)unused;
	equal_jobs(12, 10, 1);
	add(300, 1);
	plan_for(1, 100);
	check_bins(100);
	check(plan.nbins == 3 && bins[jobs[12].bin].jobs == 1);
	check(bins[jobs[0].bin].demand == 50 && bins[jobs[9].bin].demand == 70);
}

static void residents_stay_in_every_bin(void **unused)
{
	(void)unused;
	equal_jobs(12, 10, 1);
	add(10, 1);
	jobs[12].flags = MTS_PLAN_RESIDENT;
	plan_for(1, 100);
	check(jobs[12].bin == MTS_BIN_EVERY);
	check(plan.nbins == 2 && bins[0].demand + bins[1].demand == 120);
	check(bins[0].demand - bins[1].demand < 100 / 4);
}

/* The threads of each bin as packing leaves them. */
static void pack_only(u64 capacity, u32 *threads)
{
	static struct mts_item items[MAX];
	void *scratch = calloc(1, mts_binpack_scratch(njobs));
	u32 i;

	for (i = 0; i < njobs; i++)
		items[i] = (struct mts_item){ .size = jobs[i].demand, .prev = MTS_BIN_NONE };
	check(scratch && mts_binpack(MTS_PACK_FFD, items, njobs, capacity, scratch) > 0);
	free(scratch);
	memset(threads, 0, MAX * sizeof(*threads));
	for (i = 0; i < njobs; i++)
		threads[items[i].bin] += jobs[i].threads;
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
		pack_only(100, had);
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
		cmocka_unit_test(all_bins_have_room_to_grow),
		cmocka_unit_test(what_is_nearly_even_stays),
		cmocka_unit_test(no_bin_loses_threads_that_it_needs),
		cmocka_unit_test(large_jobs_do_not_change_sides),
		cmocka_unit_test(who_does_not_fit_stays_alone),
		cmocka_unit_test(residents_stay_in_every_bin),
		cmocka_unit_test(fuzz),
	};

	return cmocka_run_group_tests_name("spread", tests, NULL, NULL);
}

// SPDX-License-Identifier: GPL-2.0
/* Bins that overlap: who comes, who leaves, and for how long it is so. */
#include "policy/forecast.h"
#include "policy/plan.h"
#include "policy/slices.h"
#include "policy/window.h"
#include "unit.h"

#define MAX 256u

static struct mts_plan_bin bins[MAX];
static u32 nbins;

static void forget(void)
{
	memset(bins, 0, sizeof(bins));
	nbins = 0;
}

static void running(u64 demand, u64 service)
{
	bins[nbins++] = (struct mts_plan_bin){
		.demand = demand, .jobs = 1, .runs = true, .service_ns = service, .slice_ns = demand
	};
}

static void waiting(u64 demand, u64 due)
{
	bins[nbins++] = (struct mts_plan_bin){
		.demand = demand, .jobs = 1, .due_ns = due, .slice_ns = demand
	};
}

/* The bins that are to run, as bits. */
static u64 next(void)
{
	u64 bits = 0;
	u32 i;

	for (i = 0; i < nbins; i++)
		bits |= (u64)bins[i].next << i;
	return bits;
}

/* ---- who comes, who leaves ----------------------------------------------------- */

static void who_waits_longest_comes_and_who_had_most_leaves(void **unused)
{
	(void)unused;
	forget();
	running(40, 7);
	running(40, 9);
	waiting(40, 200);
	waiting(40, 100);
	assert_int_equal(mts_window_next(bins, nbins, 100), 3);
	assert_int_equal(next(), 1 << 0 | 1 << 3);
}

static void as_many_leave_as_must(void **unused)
{
	(void)unused;
	forget();
	running(10, 1);
	running(30, 3);
	running(30, 2);
	running(30, 4);
	waiting(50, 100);
	assert_int_equal(mts_window_next(bins, nbins, 100), 4);
	assert_int_equal(next(), 1 << 0 | 1 << 2 | 1 << 4);
}

static void others_fill_what_is_left(void **unused)
{
	(void)unused;
	forget();
	running(60, 1);
	waiting(30, 100);
	waiting(40, 110);
	waiting(20, 120);
	/* 60 leaves for 30? It need not. Of what is left, 10, nobody fits. */
	assert_int_equal(mts_window_next(bins, nbins, 100), 1);
	assert_int_equal(next(), 1 << 0 | 1 << 1);
	/* Where it has to leave, those that wait come before it does again. */
	bins[0].demand = 80;
	assert_int_equal(mts_window_next(bins, nbins, 100), 1);
	assert_int_equal(next(), 1 << 1 | 1 << 2 | 1 << 3);
}

static void too_large_for_the_memory_it_runs_alone(void **unused)
{
	(void)unused;
	forget();
	running(30, 1);
	running(30, 2);
	waiting(140, 100);
	waiting(0, 200);
	assert_int_equal(mts_window_next(bins, nbins, 100), 2);
	/* A group of nothing fits beside anything. */
	assert_int_equal(next(), 1 << 2 | 1 << 3);
	bins[3].demand = 1;
	assert_int_equal(mts_window_next(bins, nbins, 100), 2);
	assert_int_equal(next(), 1 << 2);
}

static void too_much_runs_and_nobody_waits(void **unused)
{
	(void)unused;
	forget();
	running(40, 1);
	running(40, 3);
	running(40, 2);
	assert_int_not_equal(mts_window_next(bins, nbins, 100), MTS_BIN_NONE);
	assert_int_equal(next(), 1 << 0 | 1 << 2);
	/* One stays, whatever it needs. */
	assert_int_not_equal(mts_window_next(bins, nbins, 10), MTS_BIN_NONE);
	assert_int_equal(next(), 1 << 0);
}

static void nothing_is_to_change(void **unused)
{
	(void)unused;
	forget();
	assert_int_equal(mts_window_next(bins, 0, 100), MTS_BIN_NONE);
	running(40, 1);
	running(40, 3);
	assert_int_equal(mts_window_next(bins, nbins, 100), MTS_BIN_NONE);
	nbins = 1;
	assert_int_equal(mts_window_next(bins, nbins, 10), MTS_BIN_NONE);
}

static void groups_without_jobs_get_no_turn(void **unused)
{
	(void)unused;
	forget();
	running(40, 1);
	waiting(40, 100);
	waiting(40, 200);
	bins[1].jobs = 0;
	assert_int_equal(mts_window_next(bins, nbins, 70), 2);
	assert_int_equal(next(), 1 << 2);
}

static void draw(u64 capacity)
{
	u32 n = random_between(1, 40);

	forget();
	while (n--) {
		u64 demand = random_below(random_below(8) ? capacity / 3 : 2 * capacity);

		if (random_below(2))
			running(demand, random_below(1000));
		else
			waiting(demand, random_below(1000));
		bins[nbins - 1].jobs = random_below(4);
	}
}

/* As many leave, in the order of service, as must; what runs fits, or is alone. */
static void rules_hold_for_any_groups(void **unused)
{
	u32 i, j, lead, n, jobs;
	u64 used;

	(void)unused;
	random_start("window");
	for (unit_case = 0; unit_case < unit_cases(20000); unit_case++) {
		draw(1000);
		lead = mts_window_next(bins, nbins, 1000);
		used = 0;
		n = 0;
		jobs = 0;
		for (i = 0; i < nbins; i++) {
			jobs += bins[i].jobs > 0;
			if (!bins[i].next || !bins[i].jobs)
				continue;
			used += bins[i].demand;
			n += bins[i].demand > 0;
		}
		if (lead == MTS_BIN_NONE) {
			for (i = 0; i < nbins; i++)
				check(bins[i].runs || !bins[i].jobs);
			continue;
		}
		check(bins[lead].next && bins[lead].jobs);
		check(used <= 1000 || n <= 1);
		check(jobs);
		for (i = 0; i < nbins; i++) {
			if (!bins[i].jobs)
				continue;
			/* Nobody came that had to wait for less long. */
			if (!bins[i].runs && !bins[lead].runs)
				check(bins[lead].due_ns <= bins[i].due_ns);
			/* Who stays had no more than who leaves. */
			for (j = 0; j < nbins && bins[i].runs && !bins[i].next; j++)
				if (bins[j].runs && bins[j].next && bins[j].jobs)
					check(bins[j].service_ns <= bins[i].service_ns);
			/* No waiting group is left out that fits. */
			if (!bins[i].runs && !bins[i].next)
				check(used + bins[i].demand > 1000);
		}
	}
}

/* ---- a slice ------------------------------------------------------------------------ */

static void slices_are_as_long_as_what_comes_is_large(void **unused)
{
	(void)unused;
	forget();
	running(50, 0);
	waiting(20, 100);
	waiting(30, 200);
	assert_int_equal(mts_window_next(bins, nbins, 100), 1);
	assert_int_equal(mts_window_slice(bins, nbins, 1), 50);
}

static void who_had_less_gets_more(void **unused)
{
	(void)unused;
	forget();
	running(80, 90);
	waiting(30, 100);
	bins[1].service_ns = 70;
	/* The mean is 80. */
	mts_window_next(bins, nbins, 90);
	assert_int_equal(mts_window_slice(bins, nbins, 1), 40);
	/* No more than the longest slice. */
	bins[0].service_ns = 1000000;
	assert_int_equal(mts_window_slice(bins, nbins, 1), 80);
	/* Who had more loses half at most. */
	bins[0].service_ns = 60;
	assert_int_equal(mts_window_slice(bins, nbins, 1), 25);
	bins[1].service_ns = 1000000;
	assert_int_equal(mts_window_slice(bins, nbins, 1), 15);
}

/* What is lacking is made up for in time, in proportion to the weight. */
static void what_is_lacking_counts_by_weight(void **unused)
{
	(void)unused;
	forget();
	running(80, 90);
	waiting(30, 100);
	bins[0].entitled = mts_entitled(300);
	bins[1].entitled = mts_entitled(100);
	bins[1].service_ns = 70;
	running(20, 90);
	bins[2].entitled = mts_entitled(50);
	/* The median is 90; the slice is as long as if the largest group weighed as much. */
	mts_window_next(bins, nbins, 90);
	assert_int_equal(mts_window_slice(bins, nbins, 1), 30);
	bins[0].slice_ns = 240;
	assert_int_equal(mts_window_slice(bins, nbins, 1), 30 + 90 - 70);
	bins[0].slice_ns = 80;
	nbins--;
	/* Of a job of four times the weight four times the time; the mean is 86. */
	bins[0].entitled = mts_entitled(400);
	bins[1].entitled = mts_entitled(400);
	bins[1].service_ns = 82;
	assert_int_equal(mts_window_slice(bins, nbins, 1), 30 + 4 * 4);
}

/* ---- settings ----------------------------------------------------------------------- */

static void steps_are_what_was_set(void **unused)
{
	(void)unused;
	assert_int_equal(mts_window_step(MTS_STEP_BIN, 64 * GIB), 0);
	assert_int_equal(mts_window_step(MTS_STEP_AUTO, 64 * GIB), 2 * GIB);
	assert_int_equal(mts_window_step(MTS_STEP_AUTO, 5), 1);
	assert_int_equal(mts_window_step(512, 64 * GIB), 512 * MIB);
	assert_true(mts_window_step(MTS_STEP_MIB_MAX, 1) == 1ull << 50);
}

static void movers_leave_processors(void **unused)
{
	(void)unused;
	assert_int_equal(mts_window_movers(0), 1);
	assert_int_equal(mts_window_movers(1), 1);
	assert_int_equal(mts_window_movers(8), 2);
	assert_int_equal(mts_window_movers(64), 8);
	assert_int_equal(mts_window_movers(4096), 8);
}

/* ---- a plan ------------------------------------------------------------------------- */

static struct mts_plan_job jobs[MAX];
static struct mts_plan plan;
static u64 mib_ns, mib_work_ns, switch_bytes;

static void plan_groups(u32 n, u64 capacity, u64 step, u64 switch_ns, u32 processors)
{
	const struct mts_plan_conf conf = {
		.pack = MTS_PACK_FFD,
		.capacity = capacity,
		.step = step,
		.slice_ns = 1000000000,
		.min_slice_ns = 1000000,
		.max_pause_ns = 60000000000,
		.stretched_pause_ns = 60000000000,
		.overhead = 50,
		.switch_ns = switch_ns,
		.switch_overlaps = true,
		.switch_bytes = switch_bytes,
		.mib_ns = mib_ns,
		.mib_work_ns = mib_work_ns,
		.processors = processors,
	};
	void *scratch = calloc(1, mts_plan_scratch(n) + 1);

	check(scratch && !mts_plan_round(&conf, jobs, n, bins, &plan, scratch));
	free(scratch);
}

static void groups_run_or_wait_as_a_whole(void **unused)
{
	u32 i, n;

	(void)unused;
	random_start("groups");
	for (unit_case = 0; unit_case < unit_cases(2000); unit_case++) {
		n = random_between(1, 60);
		for (i = 0; i < n; i++)
			jobs[i] = (struct mts_plan_job){
				.demand = random_below(random_below(10) ? 60 : 1500),
				.runs = random_below(2),
				.prev_bin = random_below(3) ? random_below(20) : MTS_BIN_NONE,
				.threads = 1,
				.flags = random_below(10) ? 0 : MTS_PLAN_RESIDENT,
			};
		plan_groups(n, 1000, 100, random_below(2) * 500000000, 4);
		check_bins_of(jobs, n, bins, plan.nbins);
		check(plan.nbins <= n);
		if (!plan.overlaps) {
			check(plan.nbins < 2);
			continue;
		}
		for (i = 0; i < n; i++)
			if (jobs[i].bin != MTS_BIN_EVERY)
				check(bins[jobs[i].bin].runs == jobs[i].runs);
		for (i = 0; i < plan.nbins; i++)
			check(bins[i].demand <= 100 || bins[i].jobs == 1);
		check(plan.longest_pause_ns <= plan.round_ns);
		check(plan.run_ns <= plan.round_ns);
		check(mts_forecast_part(&plan) <= 1000);
	}
}

/* The example: 40 jobs of 1.5 GiB on 22 GiB. */
static void pauses_follow_from_what_is_not_there(void **unused)
{
	u32 i;

	(void)unused;
	for (i = 0; i < 40; i++)
		jobs[i] = (struct mts_plan_job){ .demand = 1536 * MIB,
						 .runs = i < 14,
						 .prev_bin = MTS_BIN_NONE };
	plan_groups(40, 22 * GIB, 22 * GIB / 32, 1000000000, 8);
	assert_true(plan.overlaps);
	assert_int_equal(plan.nbins, 40);
	/* 21.25 of 60 GiB are there on average, less 1.5 that are on their way 4/9 of the time. */
	assert_in_range(mts_forecast_part(&plan), 340, 345);
	assert_in_range(plan.longest_pause_ns, 59000000000, 60000000000);
	/* 60 s x 60 / 39.4, of 40 turns. */
	assert_in_range(plan.round_ns, 90000000000, 91500000000);
	assert_in_range(bins[0].slice_ns, 1250000000, 1300000000);
}

/*
 * One large job among many: what is free as it finds no room is filled by others. So the jobs run
 * for more of the time than the promised pause lets expect.
 */
static void others_fill_what_a_large_group_leaves(void **unused)
{
	u32 i, part;

	(void)unused;
	for (i = 0; i < 41; i++)
		jobs[i] = (struct mts_plan_job){ .demand = (i ? 50 : 400) * MIB,
						 .runs = i < 10,
						 .prev_bin = MTS_BIN_NONE };
	plan_groups(41, 1000 * MIB, 50 * MIB, 0, 8);
	assert_int_equal(plan.nbins, 41);
	/* 1000 of 2400 MiB, less half of 58.5, and less half of 400. */
	assert_in_range(mts_forecast_part(&plan), 403, 405);
	part = 1000 - plan.longest_pause_ns * 1000 / plan.round_ns;
	assert_in_range(part, 333, 334);
}

/*
 * What waits for the disk leaves its processor to the jobs that stay: a switch may take ten times
 * as much of the time, and costs as much.
 */
static void moving_that_waits_for_the_disk_costs_its_work(void **unused)
{
	u64 round;
	u32 i;

	(void)unused;
	for (i = 0; i < 10; i++)
		jobs[i] = (struct mts_plan_job){
			.demand = 100 * MIB, .runs = i < 5, .prev_bin = MTS_BIN_NONE, .threads = 1
		};
	plan_groups(10, 500 * MIB, 1, 250000000, 1);
	assert_in_range(plan.lost, 48, 52);
	round = plan.round_ns;
	mib_ns = 2500000;
	mib_work_ns = 250000;
	plan_groups(10, 500 * MIB, 1, 250000000, 1);
	assert_in_range(plan.lost, 48, 52);
	assert_in_range(plan.round_ns, round / 11, round / 9);
	/* More than all of the time is not possible, whatever was measured. */
	mib_work_ns = U64_MAX;
	plan_groups(10, 500 * MIB, 1, 250000000, 1);
	assert_int_equal(plan.round_ns, round);
	mib_ns = 0;
	mib_work_ns = 0;
}

/* Eight jobs of 1 MiB come at once: in a round there are as many fewer switches. */
static void what_came_together_tells_what_one_of_them_takes(void **unused)
{
	u64 longest, likely;
	u32 i;

	(void)unused;
	for (i = 0; i < 32; i++)
		jobs[i] = (struct mts_plan_job){
			.demand = MIB, .runs = i < 16, .prev_bin = MTS_BIN_NONE, .threads = 1
		};
	switch_bytes = MIB;
	plan_groups(32, 16 * MIB, MIB, 8000000, 8);
	longest = plan.longest_pause_ns;
	assert_int_equal(plan.likely_pause_ns, longest);
	switch_bytes = 8 * MIB;
	plan_groups(32, 16 * MIB, MIB, 8000000, 8);
	switch_bytes = 0;
	assert_int_equal(plan.longest_pause_ns, longest);
	/* Of 32 switches of 8 ms an eighth is left. */
	likely = mul_u64_u64_div_u64(longest, plan.round_ns - 32 * 7000000ull, plan.round_ns);
	assert_in_range(plan.likely_pause_ns, likely - 1, likely + 1);
}

/* After turns were given up no switch is measured: what pages took is of one group already. */
static void what_pages_took_is_of_one_of_them(void **unused)
{
	u32 i;

	(void)unused;
	for (i = 0; i < 32; i++)
		jobs[i] = (struct mts_plan_job){
			.demand = MIB, .runs = i < 16, .prev_bin = MTS_BIN_NONE, .threads = 1
		};
	switch_bytes = 8 * MIB;
	mib_ns = 8000000;
	plan_groups(32, 16 * MIB, MIB, 0, 8);
	switch_bytes = 0;
	mib_ns = 0;
	assert_int_equal(plan.likely_pause_ns, plan.longest_pause_ns);
}

/* No choice breaks the pause limit, if the other one keeps it. */
static void a_limit_comes_before_work(void **unused)
{
	struct mts_plan groups = { .work_as_groups = 2000, .breaks_limit = true };
	struct mts_plan two_bins = { .work_as_bins = 1000 };

	(void)unused;
	assert_false(mts_plan_prefers_groups(&groups, &two_bins));
	two_bins.breaks_limit = true;
	assert_true(mts_plan_prefers_groups(&groups, &two_bins));
	groups.breaks_limit = false;
	assert_true(mts_plan_prefers_groups(&groups, &two_bins));
	two_bins.work_as_bins = 1900;
	assert_false(mts_plan_prefers_groups(&groups, &two_bins));
}

/* Ten groups of 100 MiB, of which five run; without slices each waits for half of the switches. */
static void pauses_that_are_a_little_too_long_break_no_limit(void **unused)
{
	struct mts_plan_conf conf = {
		.pack = MTS_PACK_FFD,
		.capacity = 500 * MIB,
		.slice_ns = 1000000,
		.min_slice_ns = 1000000,
		.step = 100 * MIB,
		.switch_ns = 10000000000,
		.switch_bytes = 100 * MIB,
		.switch_overlaps = true,
		.processors = 4,
	};
	u64 needs;
	u32 i;
	void *scratch = calloc(1, mts_plan_scratch(10) + 1);

	(void)unused;
	for (i = 0; i < 10; i++)
		jobs[i] = (struct mts_plan_job){ .demand = 100 * MIB, .prev_bin = MTS_BIN_NONE };
	conf.max_pause_ns = U64_MAX / 4;
	check(scratch && !mts_plan_round(&conf, jobs, 10, bins, &plan, scratch));
	assert_true(plan.overlaps && !plan.breaks_limit);
	needs = plan.longest_pause_ns;
	/* A tenth of the round early: 100 MiB of 1000. */
	conf.max_pause_ns = needs - plan.round_ns / 10;
	check(!mts_plan_round(&conf, jobs, 10, bins, &plan, scratch));
	assert_true(mts_plan_pauses_too_long(&plan));
	assert_false(plan.breaks_limit);
	/* Slices and pauses are as short as before; 300 MiB are more than half of 500. */
	conf.max_pause_ns = needs - 3 * plan.round_ns / 10;
	check(!mts_plan_round(&conf, jobs, 10, bins, &plan, scratch));
	assert_true(plan.breaks_limit);
	/* Those that are due would fault in page by page. */
	conf.max_pause_ns = needs - plan.round_ns / 10;
	conf.faults_are_dear = true;
	check(!mts_plan_round(&conf, jobs, 10, bins, &plan, scratch));
	assert_true(plan.breaks_limit);
	free(scratch);
}

/* Jobs of a group run for as long as each other: two weights make no group. */
static void groups_are_of_jobs_alike(void **unused)
{
	u32 i, j;

	(void)unused;
	random_start("alike");
	for (unit_case = 0; unit_case < unit_cases(500); unit_case++) {
		for (i = 0; i < 60; i++)
			jobs[i] = (struct mts_plan_job){
				.demand = random_between(1, 60),
				.prev_bin = random_below(3) ? random_below(20) : MTS_BIN_NONE,
				.threads = 1,
				.entitled = random_below(4) ?
						    mts_entitled(100 << random_below(3)) :
						    mts_entitled(random_between(1, 10000)),
			};
		plan_groups(60, 500, 100, 500000000, 4);
		check_bins_of(jobs, 60, bins, plan.nbins);
		if (!plan.overlaps)
			continue;
		for (i = 0; i < 60; i++)
			for (j = 0; j < i; j++)
				check(jobs[i].bin != jobs[j].bin ||
				      jobs[i].entitled < jobs[j].entitled / 8 * 9 + 8);
		for (i = 0; i < plan.nbins; i++)
			check(bins[i].demand <= 100);
	}
}

/* Who is entitled to less waits for longer, and nobody for longer than a round. */
static void pauses_are_longer_of_small_weights(void **unused)
{
	u32 i;

	(void)unused;
	for (i = 0; i < 40; i++)
		jobs[i] = (struct mts_plan_job){ .demand = 100,
						 .prev_bin = MTS_BIN_NONE,
						 .entitled = mts_entitled(i % 2 ? 300 : 100) };
	plan_groups(40, 2000, 100, 0, 4);
	assert_true(plan.overlaps);
	assert_int_equal(plan.nbins, 40);
	for (i = 0; i < 40; i++) {
		assert_true(bins[jobs[i].bin].pause_ns < plan.round_ns);
		assert_true(bins[jobs[i].bin].pause_ns <= 60000000000);
		/* A fourth and three fourths of the time that there is, half less half a group. */
		assert_in_range(bins[jobs[i].bin].pause_ns * 100 / plan.round_ns, i % 2 ? 26 : 75,
				i % 2 ? 27 : 76);
	}
}

static void what_fits_needs_no_groups(void **unused)
{
	u32 i;

	(void)unused;
	for (i = 0; i < 10; i++)
		jobs[i] = (struct mts_plan_job){ .demand = 90,
						 .runs = true,
						 .prev_bin = MTS_BIN_NONE };
	plan_groups(10, 1000, 100, 0, 2);
	assert_int_equal(plan.nbins, 1);
	assert_false(plan.overlaps);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_waits_longest_comes_and_who_had_most_leaves),
		cmocka_unit_test(as_many_leave_as_must),
		cmocka_unit_test(others_fill_what_is_left),
		cmocka_unit_test(too_large_for_the_memory_it_runs_alone),
		cmocka_unit_test(too_much_runs_and_nobody_waits),
		cmocka_unit_test(nothing_is_to_change),
		cmocka_unit_test(groups_without_jobs_get_no_turn),
		cmocka_unit_test(rules_hold_for_any_groups),
		cmocka_unit_test(slices_are_as_long_as_what_comes_is_large),
		cmocka_unit_test(who_had_less_gets_more),
		cmocka_unit_test(what_is_lacking_counts_by_weight),
		cmocka_unit_test(steps_are_what_was_set),
		cmocka_unit_test(movers_leave_processors),
		cmocka_unit_test(groups_run_or_wait_as_a_whole),
		cmocka_unit_test(pauses_follow_from_what_is_not_there),
		cmocka_unit_test(others_fill_what_a_large_group_leaves),
		cmocka_unit_test(moving_that_waits_for_the_disk_costs_its_work),
		cmocka_unit_test(what_came_together_tells_what_one_of_them_takes),
		cmocka_unit_test(what_pages_took_is_of_one_of_them),
		cmocka_unit_test(a_limit_comes_before_work),
		cmocka_unit_test(pauses_that_are_a_little_too_long_break_no_limit),
		cmocka_unit_test(groups_are_of_jobs_alike),
		cmocka_unit_test(pauses_are_longer_of_small_weights),
		cmocka_unit_test(what_fits_needs_no_groups),
	};

	return cmocka_run_group_tests_name("window", tests, NULL, NULL);
}

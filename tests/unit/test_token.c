// SPDX-License-Identifier: GPL-2.0
/* Thrashing protection: which job holds, and for how long. */
#include "policy/token.h"
#include "unit.h"

#define SECOND 1000000000ull
#define JOBS 3u

static struct mts_verdict verdict;
static struct mts_token token;
static struct mts_token_host host;
static struct mts_token_job jobs[JOBS];

/* A host with one processor that thrashes: three jobs fault, and the second lacks least. */
static void thrash(void)
{
	u32 i;

	verdict = (struct mts_verdict){ 0 };
	token = (struct mts_token){ 0 };
	host = (struct mts_token_host){
		.now = 1000 * SECOND,
		.elapsed_ns = SECOND,
		.user_ns = SECOND / 5,
		.could_run = 1,
	};
	for (i = 0; i < JOBS; i++)
		jobs[i] = (struct mts_token_job){
			.faults = 50,
			.lacks = (u64[]){ 300, 100, 200 }[i],
			.may_hold = true,
		};
}

static u32 step(void)
{
	u32 holder = mts_token_step(&token, &verdict, &host, jobs, JOBS), i;

	for (i = 0; i < JOBS; i++)
		assert_int_equal(jobs[i].holds, i == holder);
	host.now += host.elapsed_ns;
	return holder;
}

static void it_begins_when_the_host_thrashes(void **unused)
{
	(void)unused;
	thrash();
	assert_int_equal(step(), 1);
}

static void not_while_the_processors_are_used(void **unused)
{
	(void)unused;
	thrash();
	host.user_ns = SECOND * 4 / 10;
	assert_int_equal(step(), JOBS);
	host.user_ns = SECOND * 4 / 10 - SECOND / 1000;
	assert_int_equal(step(), 1);
	/* As far as there are threads for them. */
	thrash();
	host.could_run = 4;
	host.user_ns = SECOND * 15 / 10;
	assert_int_equal(step(), 1);
	thrash();
	host.could_run = 4;
	host.user_ns = SECOND * 17 / 10;
	assert_int_equal(step(), JOBS);
}

static void not_while_one_job_faults(void **unused)
{
	(void)unused;
	thrash();
	jobs[0].faults = 10;
	jobs[1].faults = 10;
	assert_int_equal(step(), JOBS);
	jobs[0].faults = 11;
	assert_int_equal(step(), 2);
}

static void faults_count_by_the_second(void **unused)
{
	(void)unused;
	thrash();
	host.elapsed_ns = 5 * SECOND;
	assert_int_equal(step(), JOBS);
	host.elapsed_ns = SECOND * 9 / 2;
	assert_int_equal(step(), 1);
}

/* 0.1 ms: 10000 a second; a twentieth of that counts. */
static void a_fast_disk_has_other_thresholds(void **unused)
{
	(void)unused;
	thrash();
	host.fault_ns = 100000;
	jobs[0].faults = 500;
	jobs[1].faults = 500;
	jobs[2].faults = 501;
	assert_int_equal(step(), JOBS);
	jobs[0].faults = 501;
	assert_int_equal(step(), 2);
	/* Of the others it is a tenth of that. */
	jobs[0].faults = 50;
	jobs[1].faults = 0;
	assert_int_equal(step(), 2);
	jobs[0].faults = 49;
	assert_int_equal(step(), JOBS);
	/* A disk as slow as the paper's. */
	thrash();
	host.fault_ns = 10000000;
	assert_int_equal(step(), 1);
}

static void an_exempt_job_does_not_hold(void **unused)
{
	(void)unused;
	thrash();
	jobs[1].may_hold = false;
	assert_int_equal(step(), 2);
	jobs[2].may_hold = false;
	assert_int_equal(step(), JOBS);
	assert_int_equal(step(), 0);
	thrash();
	jobs[1].asleep = true;
	assert_int_equal(step(), 2);
}

static void hold(void)
{
	thrash();
	assert_int_equal(step(), 1);
	/* What it fetches, and the others do not get. */
	host.user_ns = SECOND / 2;
	assert_int_equal(step(), 1);
}

/* That is what it holds for. Given up, it would lose its memory to the others at once. */
static void it_holds_on_when_it_computes(void **unused)
{
	(void)unused;
	hold();
	jobs[1].faults = 0;
	host.user_ns = SECOND;
	assert_int_equal(step(), 1);
}

static void it_is_given_up_when_no_other_faults(void **unused)
{
	(void)unused;
	hold();
	jobs[0].faults = 0;
	jobs[2].faults = 1;
	assert_int_equal(step(), 1);
	jobs[2].faults = 0;
	assert_int_equal(step(), JOBS);
}

static void it_is_given_up_when_it_sleeps_or_is_exempt(void **unused)
{
	(void)unused;
	hold();
	jobs[1].asleep = true;
	assert_int_equal(step(), JOBS);
	hold();
	jobs[1].may_hold = false;
	assert_int_equal(step(), JOBS);
}

/* Another job has its place, and the host still thrashes. */
static void it_is_given_up_when_it_is_gone(void **unused)
{
	(void)unused;
	hold();
	jobs[1] = (struct mts_token_job){ .lacks = 500, .may_hold = true };
	host.user_ns = SECOND / 5;
	assert_int_equal(step(), JOBS);
	assert_int_equal(step(), 2);
}

/* Two others fault: after both the first holds again. */
static void after_ten_seconds_another_one_holds(void **unused)
{
	u32 i;

	(void)unused;
	hold();
	for (i = 0; i < 9; i++)
		assert_int_equal(step(), 1);
	/* The holder does not fault; processors are used, and the others thrash all the same. */
	jobs[1].faults = 5;
	for (i = 0; i < 11; i++)
		assert_int_equal(step(), 2);
	assert_int_equal(step(), 0);
	for (i = 0; i < 9; i++)
		assert_int_equal(step(), 0);
	jobs[1].faults = 50;
	assert_int_equal(step(), 0);
	assert_int_equal(step(), 1);
}

/* A minute page by page, and four when it is there; the 10 s would be over in the midst of it. */
static void what_is_fetched_for_long_is_held_for_long(void **unused)
{
	u32 i;

	(void)unused;
	thrash();
	jobs[1].lacks = 60;
	jobs[2].lacks = 61;
	assert_int_equal(step(), 1);
	for (i = 0; i < 60; i++) {
		jobs[1].lacks--;
		assert_int_equal(step(), 1);
	}
	/* The first step in which nothing comes is the end of it. */
	for (i = 0; i < 4 * 61; i++)
		assert_int_equal(step(), 1);
	assert_int_equal(step(), 2);
}

/* Not for longer than a job may be frozen that no user waits for. */
static void none_is_held_for_hours(void **unused)
{
	(void)unused;
	assert_true(mts_token_hold_ns(0) == 10 * SECOND);
	assert_true(mts_token_hold_ns(100 * SECOND) == 400 * SECOND);
	assert_true(mts_token_hold_ns(200 * SECOND) == 600 * SECOND);
	assert_true(mts_token_hold_ns(U64_MAX) == 600 * SECOND);
}

/* What comes again later is not fetched anew. */
static void it_is_fetched_once(void **unused)
{
	u32 i;

	(void)unused;
	hold();
	for (i = 0; i < 9; i++) {
		jobs[1].lacks--;
		assert_int_equal(step(), 1);
	}
	assert_int_equal(step(), 2);
}

/* It sleeps, which gives the token up; it loses its memory, and lacks least again. */
static void the_one_that_lacks_least_does_not_hold_each_time(void **unused)
{
	static const u32 order[] = { 2, 0, 1, 2 };
	u32 i, holder = 1;

	(void)unused;
	hold();
	for (i = 0; i < 4; i++) {
		jobs[holder].asleep = true;
		assert_int_equal(step(), JOBS);
		jobs[holder].asleep = false;
		host.now += (i + 1) * 5 * SECOND;
		host.user_ns = SECOND / 5;
		holder = step();
		assert_int_equal(holder, order[i]);
	}
}

/* One comes each second, lacks least, and ends when it has held. */
static void a_stream_of_newcomers_does_not_keep_others_from_it(void **unused)
{
	u32 i, held = 0;

	(void)unused;
	hold();
	for (i = 0; i < 60; i++) {
		u32 holder;

		jobs[1] = (struct mts_token_job){ .faults = 50, .lacks = 1, .may_hold = true };
		host.user_ns = SECOND / 5;
		holder = step();
		held += holder == 0 || holder == 2;
	}
	assert_true(held >= 40);
}

/* The holder sleeps, and the jobs have run for so long in its second. */
static void hold_for(u64 user_ns)
{
	host.user_ns = SECOND / 5;
	jobs[1].asleep = false;
	assert_int_equal(step(), 1);
	jobs[0].may_hold = false;
	jobs[2].may_hold = false;
	host.user_ns = user_ns;
	jobs[1].asleep = true;
	assert_int_equal(step(), JOBS);
	host.user_ns = SECOND / 5;
	assert_int_equal(step(), JOBS);
}

static void two_poor_holdings_are_enough(void **unused)
{
	u32 i, round;

	(void)unused;
	thrash();
	for (round = 0; round < 2; round++) {
		hold_for(SECOND / 10);
		hold_for(SECOND / 10);
		jobs[1].asleep = false;
		/* 30 s, of which the first was above; the second time 60. */
		for (i = 2; i < 30u << round; i++)
			assert_int_equal(step(), JOBS);
	}
	assert_int_equal(step(), 1);
}

/* Jobs that thrash hardly run: 8 ms of a second or 4 are two ticks or one. */
static void less_by_the_error_of_a_measurement_is_not_poor(void **unused)
{
	u32 i;

	(void)unused;
	thrash();
	for (i = 0; i < 4; i++)
		hold_for(SECOND * 19 / 100);
	assert_false(mts_verdict_holds(&verdict, host.now));
	thrash();
	for (i = 0; i < 4; i++) {
		u32 holder;

		host.user_ns = SECOND / 125;
		holder = step();
		assert_true(holder < JOBS);
		host.user_ns = SECOND / 250;
		jobs[holder].asleep = true;
		assert_int_equal(step(), JOBS);
		jobs[holder].asleep = false;
	}
	assert_false(mts_verdict_holds(&verdict, host.now));
}

/* Half of the jobs have ended, and the processors with them: that is no loss. */
static void what_jobs_could_run_counts(void **unused)
{
	u32 i;

	(void)unused;
	thrash();
	for (i = 0; i < 4; i++) {
		host.could_run = 2;
		host.user_ns = SECOND * 6 / 10;
		jobs[1].asleep = false;
		assert_int_equal(step(), 1);
		jobs[0].may_hold = false;
		jobs[2].may_hold = false;
		jobs[1].asleep = true;
		host.could_run = 1;
		host.user_ns = SECOND * 3 / 10;
		assert_int_equal(step(), JOBS);
	}
	assert_false(mts_verdict_holds(&verdict, host.now));
}

static void all_sleep(bool asleep)
{
	u32 i;

	for (i = 0; i < JOBS; i++)
		jobs[i].asleep = asleep;
}

static void by_the_users_word_nothing_is_held_against_it(void **unused)
{
	u32 i;

	(void)unused;
	thrash();
	for (i = 0; i < 4; i++) {
		host.user_ns = SECOND / 5;
		assert_true(mts_token_step(&token, NULL, &host, jobs, JOBS) < JOBS);
		host.now += SECOND;
		host.user_ns = 0;
		all_sleep(true);
		assert_int_equal(mts_token_step(&token, NULL, &host, jobs, JOBS), JOBS);
		host.now += SECOND;
		all_sleep(false);
	}
}

static void a_good_one_in_between_makes_them_none(void **unused)
{
	(void)unused;
	thrash();
	hold_for(SECOND / 10);
	hold_for(SECOND / 5);
	hold_for(SECOND / 10);
	jobs[1].asleep = false;
	assert_int_equal(step(), 1);
}

static void a_good_one_forgets_how_long_they_were_held_off(void **unused)
{
	u32 i;

	(void)unused;
	thrash();
	hold_for(SECOND / 10);
	hold_for(SECOND / 10);
	host.now += 30 * SECOND;
	hold_for(SECOND / 2);
	hold_for(SECOND / 10);
	hold_for(SECOND / 10);
	jobs[1].asleep = false;
	for (i = 2; i < 30; i++)
		assert_int_equal(step(), JOBS);
	assert_int_equal(step(), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_begins_when_the_host_thrashes),
		cmocka_unit_test(not_while_the_processors_are_used),
		cmocka_unit_test(not_while_one_job_faults),
		cmocka_unit_test(faults_count_by_the_second),
		cmocka_unit_test(a_fast_disk_has_other_thresholds),
		cmocka_unit_test(an_exempt_job_does_not_hold),
		cmocka_unit_test(it_holds_on_when_it_computes),
		cmocka_unit_test(it_is_given_up_when_no_other_faults),
		cmocka_unit_test(it_is_given_up_when_it_sleeps_or_is_exempt),
		cmocka_unit_test(it_is_given_up_when_it_is_gone),
		cmocka_unit_test(after_ten_seconds_another_one_holds),
		cmocka_unit_test(what_is_fetched_for_long_is_held_for_long),
		cmocka_unit_test(none_is_held_for_hours),
		cmocka_unit_test(it_is_fetched_once),
		cmocka_unit_test(the_one_that_lacks_least_does_not_hold_each_time),
		cmocka_unit_test(a_stream_of_newcomers_does_not_keep_others_from_it),
		cmocka_unit_test(two_poor_holdings_are_enough),
		cmocka_unit_test(less_by_the_error_of_a_measurement_is_not_poor),
		cmocka_unit_test(what_jobs_could_run_counts),
		cmocka_unit_test(by_the_users_word_nothing_is_held_against_it),
		cmocka_unit_test(a_good_one_in_between_makes_them_none),
		cmocka_unit_test(a_good_one_forgets_how_long_they_were_held_off),
	};

	return cmocka_run_group_tests_name("token", tests, NULL, NULL);
}

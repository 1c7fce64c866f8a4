// SPDX-License-Identifier: GPL-2.0
/* When turns are taken, and when they are given up. */
#include "policy/admission.h"
#include "unit.h"

#define MS 1000000ull
#define SECOND (1000 * MS)

static struct mts_admission a;
static u64 now, swapins, reclaimed, stalled;
static bool full;
static u64 expected, could_run; /* per mille of a processor */

/* The window closes when it is due. Return: would turns pay, as far as is known? */
static bool look(u64 after, u64 user, u64 pages)
{
	now += after;
	swapins += pages;
	while (!mts_admission_look(&a, now, false))
		;
	mts_admission_close(&a, now,
			    &(struct mts_window){ .user_ns = user,
						  .stalled_ns = stalled,
						  .could_run = could_run,
						  .expected = expected,
						  .swapins = swapins,
						  .reclaimed = reclaimed,
						  .full = full });
	return mts_admission_pays(&a);
}

static void fresh(void)
{
	a = (struct mts_admission){ 0 };
	now = 1000 * SECOND;
	swapins = 123456;
	reclaimed = 654321;
	stalled = U64_MAX;
	full = true;
	expected = 1000;
	could_run = 1000;
	look(0, 5 * SECOND, 0);
}

static void it_takes_two_windows_however_clear(void **unused)
{
	(void)unused;
	fresh();
	check(!mts_admission_pays(&a)); /* one look is no window */
	check(!look(250 * MS, 0, 1000));
	check(look(250 * MS, 0, 1000));
	check(look(250 * MS, 0, 1000));
	check(!look(250 * MS, 0, 0));
	check(!look(250 * MS, 0, 1000));
	check(look(250 * MS, 0, 1000));
	mts_admission_end(&a);
	check(!mts_admission_pays(&a));
	check(!look(250 * MS, 0, 1000)); /* turns have ended: it is the first again */
}

static void both_signals_are_needed(void **unused)
{
	(void)unused;
	fresh();
	look(250 * MS, 10 * MS, 1000);
	check(look(250 * MS, 10 * MS, 1000));
	check(!look(250 * MS, 240 * MS, 1000)); /* it swaps, and gets on */
	look(250 * MS, 10 * MS, 1000);
	check(look(250 * MS, 10 * MS, 1000));
	check(!look(250 * MS, 10 * MS, 0)); /* it waits, for something else */
}

/* Two windows of the same kind. */
static bool look_twice(u64 after, u64 user, u64 pages)
{
	look(after, user, pages);
	return look(after, user, pages);
}

static void some_swapping_costs_nothing(void **unused)
{
	(void)unused;
	fresh();
	stalled = 0;
	check(!look_twice(SECOND, 10 * MS, 999));
	/* But this much does, whatever the accounts say. */
	check(look_twice(SECOND, 10 * MS, 1000));
	stalled = 100 * MS - 1;
	check(!look_twice(SECOND, 10 * MS, 999));
	stalled = 100 * MS;
	check(look_twice(SECOND, 10 * MS, 10));
	check(!look_twice(SECOND, 10 * MS, 9));
	stalled = 20 * SECOND; /* they fill memory: nothing comes back yet */
	check(!look_twice(SECOND, 10 * MS, 0));
}

/* As PSI has it: of 64 threads on 64 processors each waits for so much of its time. */
static void stalls_are_a_part_of_what_could_run(void **unused)
{
	(void)unused;
	fresh();
	could_run = mts_admission_could_run(64 * 1000, 64);
	expected = 32 * 1000;
	stalled = 64 * 2 * MS; /* 0.2 % of the time */
	check(!look_twice(SECOND, 10 * MS, 999));
	stalled = 64 * 100 * MS - 1;
	check(!look_twice(SECOND, 10 * MS, 999));
	stalled = 64 * 100 * MS;
	check(look_twice(SECOND, 10 * MS, 999));
	assert_int_equal(mts_admission_could_run(200 * 1000, 64), 64 * 1000);
	assert_int_equal(mts_admission_could_run(2 * 1000, 64), 2 * 1000);
	assert_int_equal(mts_admission_could_run(0, 64), 1000);
}

/* 64 processors, in each of which a job waits for 100 ms: a sum of 32 bits would wrap. */
static void stalls_of_many_processors_do_not_wrap(void **unused)
{
	u32 seen[64], i;
	u64 sum = 0;

	(void)unused;
	for (i = 0; i < 64; i++)
		seen[i] = U32_MAX - i; /* and each counter does */
	for (i = 0; i < 64; i++)
		sum += mts_admission_stalled(&seen[i], seen[i] + 100 * MS);
	assert_int_equal(sum, 64 * 100 * MS);
}

static void what_turns_would_give_counts(void **unused)
{
	(void)unused;
	fresh();
	check(!look_twice(SECOND, 910 * MS, 1000));
	assert_int_equal(a.share, 910);
	check(look_twice(SECOND, 909 * MS, 1000));
	expected = 2000;
	check(look_twice(SECOND, 1818 * MS, 1000));
	check(!look_twice(SECOND, 1819 * MS, 1000));
	/* A storm, but no more than ticks may err by. */
	expected = 8;
	check(!look_twice(SECOND, 0, 1000));
	expected = 0;
	check(!look_twice(SECOND, 0, 1000));
	expected = 8000;
	check(!look_twice(SECOND, U64_MAX, 1000));
}

static void a_window_has_some_looks(void **unused)
{
	(void)unused;
	fresh();
	check(!mts_admission_look(&a, now + 300 * MS, false));
	check(!mts_admission_look(&a, now + 301 * MS, false));
	check(mts_admission_look(&a, now + 302 * MS, false));
	fresh();
	check(!mts_admission_look(&a, now + 100 * MS, false));
	check(!mts_admission_look(&a, now + 150 * MS, false));
	check(!mts_admission_look(&a, now + 199 * MS, false));
	check(mts_admission_look(&a, now + 200 * MS, false));
}

static void unsure_looks_are_more(void **unused)
{
	u32 i;

	(void)unused;
	fresh();
	for (i = 1; i < 10; i++)
		check(!mts_admission_look(&a, now + i * 100 * MS, true));
	check(mts_admission_look(&a, now + SECOND, true));
	/* Where looking takes long, fewer will do. */
	fresh();
	check(mts_admission_look(&a, now + 2 * SECOND, true));
}

static void a_stale_window_says_nothing(void **unused)
{
	(void)unused;
	fresh();
	check(look_twice(250 * MS, 0, 1000));
	check(!look(11 * SECOND, 0, 100000));
	check(!look(250 * MS, 0, 1000));
	check(look(250 * MS, 0, 1000));
}

/* ---- what jobs would get ------------------------------------------------------------ */

static struct mts_look seen(u32 asleep, u32 awake, u32 threads, u64 user_ns)
{
	struct mts_look job = { 0 };
	u32 i;

	for (i = 0; i < asleep; i++)
		mts_admission_count(&job, 0);
	for (i = 0; i < awake; i++)
		mts_admission_count(&job, threads);
	job.user_ns = user_ns;
	return job;
}

/* Of so many such jobs in a second. */
static u64 potential_of(u32 n, struct mts_look job)
{
	struct mts_pool pool = { 0 };

	while (n--)
		mts_admission_add(&pool, &job, SECOND);
	return mts_admission_potential(&pool);
}

static void who_never_sleeps_could_always_run(void **unused)
{
	(void)unused;
	assert_int_equal(potential_of(1, seen(0, 10, 1, 0)), 1000);
	assert_int_equal(potential_of(20, seen(0, 10, 1, MS)), 20000);
	assert_int_equal(potential_of(1, seen(0, 10, 4, MS)), 4000);
	check(!mts_admission_unsure(&(struct mts_look){ .looks = 320, .asleep = 0 }));
	check(!mts_admission_unsure(&(struct mts_look){ .looks = 320, .asleep = 16 }));
	check(!mts_admission_unsure(&(struct mts_look){ 0 }));
}

static void who_always_sleeps_gets_what_it_wants(void **unused)
{
	(void)unused;
	assert_int_equal(potential_of(5, seen(10, 0, 0, 0)), 0);
	assert_int_equal(potential_of(5, seen(10, 0, 0, 10 * MS)), 50);
	assert_int_equal(potential_of(5, (struct mts_look){ 0 }), 0);
}

/* Asleep half of the time, 1 % in user mode: without waiting that were 1 / 51. Half counts. */
static void sleepers_gain_little(void **unused)
{
	u64 one = potential_of(1, seen(5, 5, 1, 10 * MS));

	(void)unused;
	assert_in_range(one, 9, 10);
	assert_in_range(potential_of(10, seen(5, 5, 1, 10 * MS)), 95, 100);
	assert_in_range(potential_of(1, seen(5, 5, 2, 20 * MS)), 2 * one - 2, 2 * one + 2);
	check(mts_admission_unsure(&(struct mts_look){ .looks = 160, .asleep = 80 }));
	assert_int_equal(potential_of(3, seen(5, 5, 1, 0)), 0);
}

/*
 * One of Maziero's consumers in a storm: seen asleep in 4 % of the looks, 0.4 % in user mode, it
 * would run for 9 % of the time if it never waited. Half counts.
 */
static void a_starved_sleeper_is_not_always_awake(void **unused)
{
	struct mts_look job = seen(2, 48, 1, 4 * MS);

	(void)unused;
	assert_in_range(potential_of(1, job), 40, 50);
	/* Nor when it was not seen asleep for three windows. */
	mts_admission_forget(&job);
	mts_admission_forget(&job);
	mts_admission_forget(&job);
	job.user_ns = 4 * MS;
	assert_in_range(potential_of(1, job), 40, 110);
}

static void sleepers_take_nothing_from_others(void **unused)
{
	struct mts_look hot = seen(0, 10, 1, 0), sleeper = seen(9, 1, 1, 5 * MS);
	struct mts_pool pool = { 0 };

	(void)unused;
	mts_admission_add(&pool, &hot, SECOND);
	mts_admission_add(&pool, &sleeper, SECOND);
	mts_admission_add(&pool, &sleeper, SECOND);
	assert_in_range(mts_admission_potential(&pool), 1004, 1006);
}

static void old_looks_fade(void **unused)
{
	struct mts_look job = seen(5, 5, 1, MS);
	u32 i, windows = 0;

	(void)unused;
	do {
		mts_admission_forget(&job);
		assert_int_equal(job.user_ns, 0);
		for (i = 0; i < 3; i++)
			mts_admission_count(&job, 1);
		job.user_ns = MS;
		check(job.asleep <= job.looks);
		windows++;
	} while (mts_admission_unsure(&job));
	assert_in_range(windows, 5, 12);
	for (i = 0; i < 100; i++)
		mts_admission_forget(&job);
	assert_int_equal(job.asleep, 0);
}

/* ---- turns ---------------------------------------------------------------------------- */

static void begin_with_share(u32 share)
{
	fresh();
	look(SECOND, share * MS, 1000);
	check(look(SECOND, share * MS, 1000));
	mts_admission_begin(&a, now);
}

/* Return: may turns go on? */
static bool a_round(u32 share)
{
	now += 10 * SECOND;
	return mts_admission_round(&a, share * 10 * MS, 10 * SECOND);
}

static void turns_that_gain_go_on(void **unused)
{
	u32 i;

	(void)unused;
	begin_with_share(100);
	for (i = 0; i < 20; i++)
		check(a_round(i % 2 ? 50 : 900));
}

static void turns_that_lose_are_given_up(void **unused)
{
	(void)unused;
	begin_with_share(600);
	check(a_round(500));
	check(!mts_admission_is_proven(&a));
	check(!a_round(500));
	mts_admission_begin(&a, now);
	check(a_round(700));
	check(!mts_admission_is_proven(&a));
	check(a_round(700));
	check(mts_admission_is_proven(&a));
}

/* Nothing is known of what these jobs had. */
static void an_old_window_is_not_compared_with(void **unused)
{
	u32 i;

	(void)unused;
	begin_with_share(600);
	mts_admission_begin(&a, now + 10 * SECOND);
	for (i = 0; i < 4; i++)
		check(a_round(0));
}

/* A window of half a second in which all jobs wait. Return: does the module say that all starve? */
static bool starve(u64 user, u64 in, u64 freed)
{
	stalled = 500 * MS;
	reclaimed += freed;
	look(500 * MS, user, in);
	return mts_admission_starves(&a, now);
}

static bool starve_for(u64 ms)
{
	bool starves = false;
	u64 i;

	for (i = 0; i < ms; i += 500)
		starves = starve(0, 0, 0);
	return starves;
}

static void no_job_gets_memory(void **unused)
{
	(void)unused;
	fresh();
	check(!starve_for(1500));
	check(starve_for(500));
	check(starve(4 * MS, 4, 4)); /* less than a hundredth, and 10 pages a second */
	check(!mts_admission_starves(&a, now + 10 * SECOND)); /* no look since then */
	mts_admission_end(&a);
	check(!mts_admission_starves(&a, now));
}

/* Each of these signs alone says that some job gets memory. */
static void one_job_gets_memory(void **unused)
{
	(void)unused;
	fresh();
	check(starve_for(2000));
	check(!starve(5 * MS, 0, 0));
	check(!starve_for(1500) && starve_for(500));
	check(!starve(0, 5, 0)); /* a disk that is slow, and not full */
	check(!starve_for(1500) && starve_for(500));
	check(!starve(0, 0, 5)); /* it takes pages as yet */
	check(!starve_for(1500) && starve_for(500));
	stalled = 249 * MS;
	look(500 * MS, 0, 0); /* they do nothing else either */
	check(!mts_admission_starves(&a, now));
	check(starve_for(2000));
	stalled = U64_MAX; /* not known */
	look(500 * MS, 0, 0);
	check(!mts_admission_starves(&a, now));
	check(starve_for(2000));
	full = false; /* memory is free: the jobs wait for something else */
	check(!starve(0, 0, 0));
	full = true;
	check(starve_for(2000));
	expected = 0; /* all sleep */
	check(!starve(0, 0, 0));
}

static void a_short_round_is_not_judged(void **unused)
{
	u32 i;

	(void)unused;
	begin_with_share(600);
	for (i = 0; i < 10; i++)
		check(mts_admission_round(&a, 0, SECOND - 1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_takes_two_windows_however_clear),
		cmocka_unit_test(both_signals_are_needed),
		cmocka_unit_test(some_swapping_costs_nothing),
		cmocka_unit_test(stalls_are_a_part_of_what_could_run),
		cmocka_unit_test(stalls_of_many_processors_do_not_wrap),
		cmocka_unit_test(what_turns_would_give_counts),
		cmocka_unit_test(a_window_has_some_looks),
		cmocka_unit_test(unsure_looks_are_more),
		cmocka_unit_test(who_never_sleeps_could_always_run),
		cmocka_unit_test(who_always_sleeps_gets_what_it_wants),
		cmocka_unit_test(sleepers_gain_little),
		cmocka_unit_test(a_starved_sleeper_is_not_always_awake),
		cmocka_unit_test(sleepers_take_nothing_from_others),
		cmocka_unit_test(old_looks_fade),
		cmocka_unit_test(a_stale_window_says_nothing),
		cmocka_unit_test(turns_that_gain_go_on),
		cmocka_unit_test(turns_that_lose_are_given_up),
		cmocka_unit_test(an_old_window_is_not_compared_with),
		cmocka_unit_test(no_job_gets_memory),
		cmocka_unit_test(one_job_gets_memory),
		cmocka_unit_test(a_short_round_is_not_judged),
	};

	return cmocka_run_group_tests_name("admission", tests, NULL, NULL);
}

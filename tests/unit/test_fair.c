// SPDX-License-Identifier: GPL-2.0
/* Delayed is a job that waits for swap beyond its share, now, while another one waits. */
#include "policy/fair.h"
#include "policy/users.h"
#include "unit.h"

#define MS 1000000ull
#define STEP (100 * MS)

/* Three jobs that wait for 30, 10 and 10 % of the time, step by step, for 20 s. */
static struct mts_fair_job jobs[3];
static u64 scratch[256];
static struct mts_user_weights weights;

static u32 fair_step(struct mts_fair_job *some, u32 n, u64 elapsed_ns)
{
	assert_true(mts_fair_scratch(n) <= sizeof(scratch));
	return mts_fair_step(some, n, elapsed_ns, &weights, scratch);
}

static u32 step(u64 a, u64 b, u64 c)
{
	const u64 recent[] = { a, b, c };
	u32 i;

	for (i = 0; i < 3; i++) {
		jobs[i].recent_ns = recent[i];
		jobs[i].waits = recent[i] > 0;
	}
	return fair_step(jobs, 3, STEP);
}

static void begin(void)
{
	u32 i;

	for (i = 0; i < 3; i++)
		jobs[i] = (struct mts_fair_job){ .may_delay = true };
	for (i = 0; i < 200; i++)
		step(30 * MS, 10 * MS, 10 * MS);
}

static void who_exceeds_the_share_is_delayed(void **unused)
{
	(void)unused;
	begin();
	assert_int_equal(step(30 * MS, 10 * MS, 10 * MS), 1);
	assert_true(jobs[0].delay && !jobs[1].delay && !jobs[2].delay);
}

/* It has swapped, but does not now: the paper's own policy delays gcc for what it did before. */
static void who_computes_is_not(void **unused)
{
	(void)unused;
	begin();
	assert_int_equal(step(0, 10 * MS, 10 * MS), 0);
	assert_int_equal(step(30 * MS, 10 * MS, 10 * MS), 1);
}

static void nobody_is_while_no_other_waits(void **unused)
{
	(void)unused;
	begin();
	assert_int_equal(step(30 * MS, 0, 0), 0);
	assert_int_equal(step(30 * MS, 1, 0), 1);
}

static void who_is_exempt_is_not(void **unused)
{
	(void)unused;
	begin();
	jobs[0].may_delay = false;
	assert_int_equal(step(30 * MS, 10 * MS, 10 * MS), 0);
}

static void equal_waits_are_fair(void **unused)
{
	u32 i;

	(void)unused;
	begin();
	for (i = 0; i < 400; i++)
		step(20 * MS, 20 * MS, 20 * MS);
	assert_int_equal(step(20 * MS, 20 * MS, 20 * MS), 0);
	/* Within an eighth of the mean, too: 22 to 19.9. */
	for (i = 0; i < 1000; i++)
		assert_int_equal(step(22 * MS, 19 * MS, 19 * MS), 0);
}

/* What was waited for 30 s ago counts a twentieth; and no wait is ever lost at once. */
static void waits_fade(void **unused)
{
	u64 before;
	u32 i;

	(void)unused;
	begin();
	before = jobs[0].wait_ns;
	step(0, 0, 0);
	assert_in_range(jobs[0].wait_ns, before - before / 50, before - 1);
	for (i = 0; i < 300; i++)
		step(0, 0, 0);
	assert_in_range(jobs[0].wait_ns, before / 25, before / 15);
	/* A step that is late by hours forgets all but its own. */
	jobs[0].recent_ns = 5 * MS;
	jobs[1].recent_ns = 0;
	jobs[2].recent_ns = 0;
	fair_step(jobs, 3, 3600000 * MS);
	assert_int_equal(jobs[0].wait_ns, 5 * MS);
	assert_int_equal(jobs[1].wait_ns, 0);
}

/* A job that lost less than a hundredth of its time makes no share smaller. */
static void who_hardly_swaps_has_no_share(void **unused)
{
	u32 i;

	(void)unused;
	begin();
	for (i = 0; i < 400; i++)
		step(30 * MS, 30 * MS, MS / 2);
	assert_int_equal(step(30 * MS, 30 * MS, MS / 2), 0);
}

/* Weights 300, 100 and 100: three fifths of all waits are the first one's share. */
static void a_share_is_as_large_as_its_weight(void **unused)
{
	(void)unused;
	begin();
	jobs[0].entitled = mts_entitled(300);
	assert_int_equal(step(30 * MS, 10 * MS, 10 * MS), 0);
	/* Of 500 parts 450, 25 and 25 are their shares: the others exceed theirs now. */
	jobs[0].entitled = mts_entitled(1800);
	assert_int_equal(step(30 * MS, 10 * MS, 10 * MS), 2);
	assert_true(!jobs[0].delay && jobs[1].delay && jobs[2].delay);
	jobs[0].entitled = mts_entitled(150);
	assert_int_equal(step(30 * MS, 10 * MS, 10 * MS), 1);
	assert_true(jobs[0].delay);
}

/* The first is one user's, the others are another one's. */
static void begin_with_users(void)
{
	begin();
	jobs[0].user = 1000;
	jobs[1].user = 1001;
	jobs[2].user = 1001;
}

/* Their jobs wait for as long, together: no user exceeds half, though a job exceeds a third. */
static void a_user_is_judged_by_all_his_jobs(void **unused)
{
	u32 i;

	(void)unused;
	begin_with_users();
	for (i = 0; i < 400; i++)
		step(20 * MS, 10 * MS, 10 * MS);
	assert_int_equal(step(20 * MS, 10 * MS, 10 * MS), 0);
	/* As jobs the first would be delayed. */
	jobs[1].user = 1000;
	jobs[2].user = 1000;
	assert_int_equal(step(20 * MS, 10 * MS, 10 * MS), 1);
	assert_true(jobs[0].delay);
}

static void a_user_beyond_the_share_is_delayed_as_a_whole(void **unused)
{
	u32 i;

	(void)unused;
	begin_with_users();
	for (i = 0; i < 400; i++)
		step(10 * MS, 10 * MS, 10 * MS);
	assert_int_equal(step(10 * MS, 10 * MS, 10 * MS), 2);
	assert_true(!jobs[0].delay && jobs[1].delay && jobs[2].delay);
	/* Those that swap now. */
	assert_int_equal(step(10 * MS, 0, 10 * MS), 1);
	assert_true(jobs[2].delay);
	/* The disk would idle: only jobs of that user wait. */
	assert_int_equal(step(0, 10 * MS, 10 * MS), 0);
}

/* Two thirds of all waits are the second user's share, as that has weight 200; then half again. */
static void a_users_share_is_as_large_as_the_users_weight(void **unused)
{
	u32 i;

	(void)unused;
	begin_with_users();
	assert_true(mts_user_weights_set(&weights, 1001, 200));
	for (i = 0; i < 400; i++)
		step(10 * MS, 10 * MS, 10 * MS);
	assert_int_equal(step(10 * MS, 10 * MS, 10 * MS), 0);
	/* Half of all waits, and not two thirds: the first user exceeds a third. */
	for (i = 0; i < 400; i++)
		step(20 * MS, 10 * MS, 10 * MS);
	assert_int_equal(step(20 * MS, 10 * MS, 10 * MS), 1);
	assert_true(jobs[0].delay);
	assert_true(mts_user_weights_set(&weights, 1001, MTS_WEIGHT_DEFAULT));
	assert_int_equal(step(20 * MS, 10 * MS, 10 * MS), 0);
	for (i = 0; i < 400; i++)
		step(10 * MS, 10 * MS, 10 * MS);
	assert_int_equal(step(10 * MS, 10 * MS, 10 * MS), 2);
	assert_true(!jobs[0].delay && jobs[1].delay && jobs[2].delay);
}

/* In a user's own part jobs have shares by their weights, whatever other users do. */
static void jobs_of_a_user_share_his_part(void **unused)
{
	u32 i;

	(void)unused;
	begin_with_users();
	for (i = 0; i < 400; i++)
		step(40 * MS, 30 * MS, 10 * MS);
	assert_int_equal(step(40 * MS, 30 * MS, 10 * MS), 1);
	assert_true(jobs[1].delay);
	jobs[1].entitled = mts_entitled(300);
	assert_int_equal(step(40 * MS, 30 * MS, 10 * MS), 0);
	jobs[1].entitled = 0;
	assert_int_equal(step(40 * MS, 30 * MS, 0), 0);
}

static void few_jobs(void **unused)
{
	struct mts_fair_job one = { .recent_ns = STEP, .waits = true, .may_delay = true };

	(void)unused;
	assert_int_equal(fair_step(&one, 1, STEP), 0);
	assert_int_equal(fair_step(NULL, 0, STEP), 0);
	one.wait_ns = U64_MAX;
	one.recent_ns = U64_MAX;
	assert_int_equal(fair_step(&one, 1, 0), 0);
	assert_true(one.wait_ns == U64_MAX);
}

/* Not all who wait are ever delayed at once: one of them is at the mean, or below. */
static void never_all(void **unused)
{
	struct mts_fair_job many[16];
	u32 i, k, waiting, delayed;

	(void)unused;
	for (k = 0; k < 2000; k++) {
		waiting = 0;
		for (i = 0; i < 16; i++) {
			many[i] = (struct mts_fair_job){
				.wait_ns = random_below(10000 * MS),
				.recent_ns = random_below(2) ? random_below(STEP) : 0,
				.may_delay = true,
				.entitled = random_below(3) ? random_between(1, U32_MAX) : 0,
				.user = random_below(1 + k % 5),
			};
			many[i].waits = many[i].recent_ns > 0;
			waiting += many[i].waits;
		}
		delayed = fair_step(many, 16, STEP);
		assert_true(!delayed || delayed < 16);
		assert_true(delayed <= waiting);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_exceeds_the_share_is_delayed),
		cmocka_unit_test(who_computes_is_not),
		cmocka_unit_test(nobody_is_while_no_other_waits),
		cmocka_unit_test(who_is_exempt_is_not),
		cmocka_unit_test(equal_waits_are_fair),
		cmocka_unit_test(waits_fade),
		cmocka_unit_test(who_hardly_swaps_has_no_share),
		cmocka_unit_test(a_share_is_as_large_as_its_weight),
		cmocka_unit_test(a_user_is_judged_by_all_his_jobs),
		cmocka_unit_test(a_user_beyond_the_share_is_delayed_as_a_whole),
		cmocka_unit_test(a_users_share_is_as_large_as_the_users_weight),
		cmocka_unit_test(jobs_of_a_user_share_his_part),
		cmocka_unit_test(few_jobs),
		cmocka_unit_test(never_all),
	};

	return cmocka_run_group_tests_name("fair", tests, NULL, NULL);
}

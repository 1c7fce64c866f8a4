// SPDX-License-Identifier: GPL-2.0
/* Users divide what all are entitled to, and each user's jobs divide that by their weights. */
#include "policy/fair.h"
#include "policy/plan.h"
#include "policy/users.h"
#include "unit.h"

#define JOBS 12

static u64 scratch[16 * MTS_MAX_JOBS];

static struct mts_user_weights weights;

static void divide(struct mts_user_job *jobs, u32 n)
{
	assert_true(mts_users_scratch(n) <= sizeof(scratch));
	mts_users_divide(jobs, n, &weights, scratch);
}

static void a_user_with_five_jobs_has_as_much_as_one_with_one(void **unused)
{
	struct mts_user_job jobs[6];
	u32 i;

	(void)unused;
	for (i = 0; i < 6; i++)
		jobs[i] = (struct mts_user_job){ .user = i != 3, .takes_turns = true };
	divide(jobs, 6);
	for (i = 0; i < 6; i++)
		assert_int_equal(jobs[i].entitled, MTS_ENTITLED_DEFAULT / (i == 3 ? 1 : 5));
}

static void weights_count_within_a_user(void **unused)
{
	struct mts_user_job jobs[] = {
		{ .user = 7, .weight = 300, .takes_turns = true },
		{ .user = 8, .weight = 1, .takes_turns = true },
		{ .user = 7, .takes_turns = true },
	};

	(void)unused;
	divide(jobs, 3);
	assert_int_equal(jobs[0].entitled, MTS_ENTITLED_DEFAULT / 4 * 3);
	assert_int_equal(jobs[1].entitled, MTS_ENTITLED_DEFAULT);
	assert_int_equal(jobs[2].entitled, MTS_ENTITLED_DEFAULT / 4);
}

static bool give(u32 user, u32 weight)
{
	return mts_user_weights_set(&weights, user, weight);
}

/* A user of weight 200 has twice as much as one of weight 100, whatever jobs they have. */
static void users_are_entitled_by_their_weights(void **unused)
{
	struct mts_user_job jobs[] = {
		{ .user = 7, .takes_turns = true },
		{ .user = 8, .takes_turns = true },
		{ .user = 8, .takes_turns = true },
		{ .user = 9, .takes_turns = true },
		{ .user = 8, .weight = 200, .takes_turns = true },
	};
	u32 i;

	(void)unused;
	weights.n = 0;
	assert_true(give(8, 200) && give(7, MTS_WEIGHT_MIN) && give(1, MTS_WEIGHT_MAX));
	divide(jobs, 5);
	assert_int_equal(jobs[0].entitled, MTS_ENTITLED_DEFAULT / 100);
	assert_int_equal(jobs[1].entitled, MTS_ENTITLED_DEFAULT / 2);
	assert_int_equal(jobs[2].entitled, MTS_ENTITLED_DEFAULT / 2);
	assert_int_equal(jobs[3].entitled, MTS_ENTITLED_DEFAULT);
	assert_int_equal(jobs[4].entitled, MTS_ENTITLED_DEFAULT);
	/* The usual weight again. */
	assert_true(give(8, MTS_WEIGHT_DEFAULT) && give(7, MTS_WEIGHT_DEFAULT));
	assert_int_equal(weights.n, 1);
	divide(jobs, 5);
	assert_int_equal(jobs[0].entitled, MTS_ENTITLED_DEFAULT);
	assert_int_equal(jobs[4].entitled, MTS_ENTITLED_DEFAULT / 2);
	/* No weights at all. */
	mts_users_divide(jobs, 5, NULL, scratch);
	for (i = 0; i < 3; i++)
		assert_int_equal(jobs[i].entitled, MTS_ENTITLED_DEFAULT / (i ? 4 : 1));
	weights.n = 0;
}

/* The largest number that may come of it fits (entitled.h). */
static void a_user_of_the_largest_weight(void **unused)
{
	struct mts_user_job job = { .user = 8, .weight = MTS_WEIGHT_MAX, .takes_turns = true };

	(void)unused;
	weights.n = 0;
	assert_true(give(8, MTS_WEIGHT_MAX));
	divide(&job, 1);
	assert_int_equal(job.entitled, mts_entitled(MTS_WEIGHT_MAX));
	weights.n = 0;
}

/* Set and removed in any order: as a table of all users, and in order of their numbers. */
static void weights_are_kept(void **unused)
{
	u32 plain[300] = { 0 }, user, weight, i, n;

	(void)unused;
	random_start("user weights");
	weights.n = 0;
	for (unit_case = 0; unit_case < unit_cases(20000); unit_case++) {
		user = random_below(300);
		weight = random_below(2) ? random_between(MTS_WEIGHT_MIN, MTS_WEIGHT_MAX) :
					   MTS_WEIGHT_DEFAULT;
		if (give(user * 0x00ffffffu, weight))
			plain[user] = weight == MTS_WEIGHT_DEFAULT ? 0 : weight;
		else
			check(weights.n == MTS_MAX_USERS && !plain[user]);
		for (n = 0, i = 0; i < 300; i++) {
			n += !!plain[i];
			check(mts_user_weight(&weights, i * 0x00ffffffu) ==
			      (plain[i] ?: MTS_WEIGHT_DEFAULT));
		}
		check(weights.n == n);
		for (i = 1; i < n; i++)
			check(weights.of[i - 1].user < weights.of[i].user);
	}
	weights.n = 0;
}

static void a_full_table_takes_no_more(void **unused)
{
	u32 i;

	(void)unused;
	weights.n = 0;
	for (i = 0; i < MTS_MAX_USERS; i++)
		assert_true(give(i, 200));
	assert_false(give(MTS_MAX_USERS, 200));
	/* What needs no room. */
	assert_true(give(MTS_MAX_USERS, MTS_WEIGHT_DEFAULT));
	assert_true(give(5, 300));
	assert_int_equal(mts_user_weight(&weights, 5), 300);
	assert_true(give(5, MTS_WEIGHT_DEFAULT));
	assert_true(give(MTS_MAX_USERS, 200));
	assert_int_equal(weights.n, MTS_MAX_USERS);
	assert_int_equal(mts_user_weight(&weights, 5), MTS_WEIGHT_DEFAULT);
	weights.n = 0;
}

/* One that runs in any case: what it would have if it took turns, too. */
static void a_job_in_every_bin_takes_nothing(void **unused)
{
	struct mts_user_job jobs[] = {
		{ .user = 7, .takes_turns = true },
		{ .user = 7 },
		{ .user = 9, .weight = 50 },
	};

	(void)unused;
	divide(jobs, 3);
	assert_int_equal(jobs[0].entitled, MTS_ENTITLED_DEFAULT);
	assert_int_equal(jobs[1].entitled, MTS_ENTITLED_DEFAULT / 2);
	assert_int_equal(jobs[2].entitled, MTS_ENTITLED_DEFAULT);
	divide(NULL, 0);
}

/* The parts of each user add up, whatever the order of the jobs, and none is 0. */
static void parts_add_up(void **unused)
{
	struct mts_user_job jobs[JOBS];
	u64 sums[4];
	u32 i, user, n[4];

	(void)unused;
	random_start("users");
	for (unit_case = 0; unit_case < unit_cases(20000); unit_case++) {
		memset(sums, 0, sizeof(sums));
		memset(n, 0, sizeof(n));
		for (i = 0; i < JOBS; i++) {
			user = random_below(4);
			jobs[i] = (struct mts_user_job){
				/* Numbers that differ in one byte, and in all. */
				.user = user * 0x01010101u,
				.weight = random_below(2) ? random_below(MTS_WEIGHT_MAX + 1) : 0,
				.takes_turns = random_below(4),
			};
			n[user] += jobs[i].takes_turns;
		}
		divide(jobs, JOBS);
		for (i = 0; i < JOBS; i++) {
			check(jobs[i].entitled && jobs[i].entitled <= MTS_ENTITLED_DEFAULT);
			if (jobs[i].takes_turns)
				sums[jobs[i].user & 3] += jobs[i].entitled;
		}
		for (user = 0; user < 4; user++)
			check(!n[user] || (sums[user] <= MTS_ENTITLED_DEFAULT + n[user] &&
					   sums[user] >= MTS_ENTITLED_DEFAULT - n[user]));
	}
}

static void a_user_with_all_jobs(void **unused)
{
	static struct mts_user_job jobs[MTS_MAX_JOBS];
	u32 i;

	(void)unused;
	for (i = 0; i < MTS_MAX_JOBS; i++)
		jobs[i] = (struct mts_user_job){ .user = U32_MAX - 1, .takes_turns = true };
	divide(jobs, MTS_MAX_JOBS);
	for (i = 0; i < MTS_MAX_JOBS; i++)
		assert_int_equal(jobs[i].entitled, MTS_ENTITLED_DEFAULT / MTS_MAX_JOBS);
	jobs[0].weight = 1;
	for (i = 1; i < MTS_MAX_JOBS; i++)
		jobs[i].weight = MTS_WEIGHT_MAX;
	divide(jobs, MTS_MAX_JOBS);
	assert_int_equal(jobs[0].entitled, 1);
}

/* The rotor has one scratch memory, in which the jobs are, too. */
static void the_rotors_scratch_suffices(void **unused)
{
	u32 n;

	(void)unused;
	for (n = 1; n <= MTS_MAX_JOBS; n++) {
		assert_true(n * sizeof(struct mts_user_job) + mts_users_scratch(n) <=
			    mts_plan_scratch(n));
		assert_true(n * sizeof(struct mts_fair_job) + mts_fair_scratch(n) <=
			    mts_plan_scratch(n));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_user_with_five_jobs_has_as_much_as_one_with_one),
		cmocka_unit_test(weights_count_within_a_user),
		cmocka_unit_test(users_are_entitled_by_their_weights),
		cmocka_unit_test(a_user_of_the_largest_weight),
		cmocka_unit_test(weights_are_kept),
		cmocka_unit_test(a_full_table_takes_no_more),
		cmocka_unit_test(a_job_in_every_bin_takes_nothing),
		cmocka_unit_test(parts_add_up),
		cmocka_unit_test(a_user_with_all_jobs),
		cmocka_unit_test(the_rotors_scratch_suffices),
	};

	return cmocka_run_group_tests_name("users", tests, NULL, NULL);
}

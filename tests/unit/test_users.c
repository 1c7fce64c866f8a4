// SPDX-License-Identifier: GPL-2.0
/* Users divide what all are entitled to, and each user's jobs divide that by their weights. */
#include "policy/fair.h"
#include "policy/plan.h"
#include "policy/users.h"
#include "unit.h"

#define JOBS 12

static u64 scratch[16 * MTS_MAX_JOBS];

static void divide(struct mts_user_job *jobs, u32 n)
{
	assert_true(mts_users_scratch(n) <= sizeof(scratch));
	mts_users_divide(jobs, n, scratch);
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
		cmocka_unit_test(a_job_in_every_bin_takes_nothing),
		cmocka_unit_test(parts_add_up),
		cmocka_unit_test(a_user_with_all_jobs),
		cmocka_unit_test(the_rotors_scratch_suffices),
	};

	return cmocka_run_group_tests_name("users", tests, NULL, NULL);
}

// SPDX-License-Identifier: GPL-2.0
/* Time out of turn: accounts of jobs, what they earn, and when they are empty. */
#include "policy/account.h"
#include "unit.h"

#define SECOND 1000000000ull

static struct mts_account account;

static void begin(void)
{
	account = (struct mts_account){ 0 };
	mts_account_earn(&account, 100 * SECOND, &(struct mts_share){ 1, 1, 1, 1 });
}

/* In so many seconds; ns. */
static u64 earns(struct mts_share share, u64 seconds)
{
	u64 before;

	begin();
	mts_account_spend(&account, MTS_ACCOUNT_FULL_NS);
	before = mts_account_left(&account);
	mts_account_earn(&account, (100 + seconds) * SECOND, &share);
	return mts_account_left(&account) - before;
}

static void a_new_account_is_full(void **unused)
{
	(void)unused;
	begin();
	assert_int_equal(mts_account_left(&account), MTS_ACCOUNT_FULL_NS);
	assert_false(account.empty);
	/* And gets no fuller. */
	mts_account_earn(&account, 5000 * SECOND, &(struct mts_share){ 64, 64, 2, 2 });
	assert_int_equal(mts_account_left(&account), MTS_ACCOUNT_FULL_NS);
}

static void an_empty_one_opens_with_a_part(void **unused)
{
	const struct mts_share whole = { 1, 1, 1, 1 };

	(void)unused;
	begin();
	mts_account_spend(&account, MTS_ACCOUNT_FULL_NS - 1);
	assert_false(account.empty);
	mts_account_spend(&account, 1);
	assert_true(account.empty);
	/* An eighth of a second is not enough, a quarter is. */
	mts_account_earn(&account, 101 * SECOND, &whole);
	assert_true(account.empty);
	mts_account_earn(&account, 102 * SECOND, &whole);
	assert_false(account.empty);
}

static void a_debt_is_paid_first(void **unused)
{
	(void)unused;
	begin();
	mts_account_spend(&account, MTS_ACCOUNT_FULL_NS + 5 * SECOND);
	assert_int_equal(mts_account_left(&account), 0);
	mts_account_earn(&account, 140 * SECOND, &(struct mts_share){ 1, 1, 1, 1 });
	assert_int_equal(mts_account_left(&account), 0);
	assert_true(account.empty);
	mts_account_earn(&account, 148 * SECOND, &(struct mts_share){ 1, 1, 1, 1 });
	assert_int_equal(mts_account_left(&account), SECOND);
}

static void it_earns_an_eighth_of_the_share(void **unused)
{
	(void)unused;
	/* One processor: a third of the time for each of three jobs, however they are packed. */
	assert_int_equal(earns((struct mts_share){ 1, 1, 3, 3 }, 24), SECOND);
	assert_int_equal(earns((struct mts_share){ 1, 1, 2, 3 }, 24), SECOND);
	/* Two of them do not help a job of one thread that has a third of the time. */
	assert_int_equal(earns((struct mts_share){ 1, 2, 3, 3 }, 24), SECOND);
	assert_int_equal(earns((struct mts_share){ 8, 2, 3, 3 }, 24), 2 * SECOND);
	/* 64 processors, ten bins, 200 jobs: one thread each has a tenth of the time. */
	assert_int_equal(earns((struct mts_share){ 1, 64, 10, 200 }, 80), SECOND);
	assert_int_equal(earns((struct mts_share){ 64, 64, 10, 200 }, 25), SECOND);
	/* Unknown numbers count as one. */
	assert_int_equal(earns((struct mts_share){ 0 }, 8), SECOND);
}

static void nothing_overflows(void **unused)
{
	(void)unused;
	begin();
	mts_account_spend(&account, U64_MAX);
	mts_account_spend(&account, U64_MAX);
	assert_int_equal(account.spent_ns, U64_MAX);
	mts_account_earn(&account, U64_MAX, &(struct mts_share){ U32_MAX, U32_MAX, 4096, 4096 });
	/* A clock that was read on another processor. */
	mts_account_earn(&account, 0, &(struct mts_share){ 1, 1, 1, 1 });
	assert_int_equal(account.earned_at_ns, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_new_account_is_full),
		cmocka_unit_test(an_empty_one_opens_with_a_part),
		cmocka_unit_test(a_debt_is_paid_first),
		cmocka_unit_test(it_earns_an_eighth_of_the_share),
		cmocka_unit_test(nothing_overflows),
	};

	return cmocka_run_group_tests_name("account", tests, NULL, NULL);
}

// SPDX-License-Identifier: GPL-2.0
/* How long a verdict against turns holds, and what drops it. */
#include "policy/verdict.h"
#include "unit.h"

#define SECOND 1000000000ull
#define GIB (1ull << 30)

static struct mts_verdict verdict;
static const struct mts_grounds usual = {
	.demand = 60 * GIB,
	.exempt = 2 * GIB,
	.capacity = 22 * GIB,
	.jobs = 10,
	.processors = 8,
};

static void each_holds_for_twice_as_long(void **unused)
{
	u64 now = SECOND, hold = 30 * SECOND;
	u32 i;

	(void)unused;
	verdict = (struct mts_verdict){ 0 };
	assert_false(mts_verdict_holds(&verdict, now));
	for (i = 0; i < 8; i++) {
		mts_verdict_give(&verdict, 13, now);
		assert_int_equal(verdict.reason, 13);
		assert_true(mts_verdict_holds(&verdict, now + hold - 1));
		assert_false(mts_verdict_holds(&verdict, now + hold));
		now += hold;
		hold = mts_min(2 * hold, 600 * SECOND);
	}
	mts_verdict_forget(&verdict);
	assert_false(mts_verdict_holds(&verdict, now));
	mts_verdict_give(&verdict, 13, now);
	assert_false(mts_verdict_holds(&verdict, now + 30 * SECOND));
}

/* Given while jobs took turns; then its grounds were noted. */
static void give(void)
{
	verdict = (struct mts_verdict){ 0 };
	mts_verdict_give(&verdict, 15, SECOND);
	assert_false(mts_verdict_review(&verdict, &usual));
	assert_true(mts_verdict_holds(&verdict, 2 * SECOND));
}

static void expect_dropped(const struct mts_grounds *grounds, bool dropped)
{
	give();
	assert_int_equal(mts_verdict_review(&verdict, grounds), dropped);
	assert_int_equal(mts_verdict_holds(&verdict, 2 * SECOND), !dropped);
}

static void it_holds_for_its_jobs(void **unused)
{
	struct mts_grounds same = usual;

	(void)unused;
	expect_dropped(&same, false);
	same.demand += usual.demand / 8;
	same.capacity -= usual.capacity / 8;
	same.exempt += usual.exempt / 8;
	same.jobs = 11;
	expect_dropped(&same, false);
}

static void other_jobs_drop_it(void **unused)
{
	struct mts_grounds other = usual;

	(void)unused;
	other.demand += usual.demand / 8 + 1;
	expect_dropped(&other, true);
	other.demand = usual.demand - usual.demand / 8 - 1;
	expect_dropped(&other, true);
	other.demand = 0;
	expect_dropped(&other, true);
	other = usual;
	other.exempt = 0;
	expect_dropped(&other, true);
	other = usual;
	other.capacity = 24 * GIB;
	expect_dropped(&other, false);
	other.capacity = 25 * GIB;
	expect_dropped(&other, true);
	other = usual;
	other.jobs = 12;
	expect_dropped(&other, true);
	other = usual;
	other.processors = 7;
	expect_dropped(&other, true);
}

/* Little by little is a change, too: it is compared with what it was then. */
static void small_changes_add_up(void **unused)
{
	struct mts_grounds grounds = usual;
	u32 i, dropped = 0;

	(void)unused;
	give();
	for (i = 0; i < 10; i++) {
		grounds.demand += GIB;
		dropped += mts_verdict_review(&verdict, &grounds);
	}
	assert_int_equal(dropped, 1);
	assert_false(mts_verdict_review(&verdict, &usual));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_holds_for_twice_as_long),
		cmocka_unit_test(it_holds_for_its_jobs),
		cmocka_unit_test(other_jobs_drop_it),
		cmocka_unit_test(small_changes_add_up),
	};

	return cmocka_run_group_tests_name("verdict", tests, NULL, NULL);
}

// SPDX-License-Identifier: GPL-2.0
/* Which policy is in force, by windows that are made up. */
#include "policy/choice.h"
#include "policy/forecast.h"
#include "policy/plan.h"
#include "unit.h"

#define SECOND 1000000000ull
#define MS 1000000ull

static struct mts_choice choice;
static struct mts_choice_window window;

static void begin(void)
{
	u32 i;

	mts_choice_forget(&choice);
	window = (struct mts_choice_window){ .now = SECOND,
					     .acted = MTS_POLICY_NONE,
					     .loses = true };
	for (i = 0; i < MTS_POLICIES; i++) {
		window.may[i] = true;
		window.forecast[i] = MTS_FORECAST_UNKNOWN;
	}
}

/* A window of two seconds, in which the policy in force gives @share. */
static u32 step(u64 share)
{
	window.elapsed_ns = 2 * SECOND;
	window.now += window.elapsed_ns;
	window.user_ns = share * window.elapsed_ns / 1000;
	window.acted = choice.policy;
	mts_choice_step(&choice, &window);
	return choice.policy;
}

static void a_better_one_is_tried_after_two_windows(void **unused)
{
	(void)unused;
	begin();
	window.forecast[MTS_POLICY_TOKEN] = 700;
	assert_int_equal(step(300), MTS_POLICY_NONE);
	assert_int_equal(step(300), MTS_POLICY_TOKEN);
	assert_true(choice.on_trial);
	assert_int_equal(choice.of[MTS_POLICY_NONE].how, MTS_GIVES_MEASURED);
	assert_int_equal(choice.of[MTS_POLICY_NONE].share, 300);
	assert_int_equal(choice.of[MTS_POLICY_TOKEN].how, MTS_GIVES_FORECAST);
	assert_int_equal(choice.of[MTS_POLICY_FAIR].how, MTS_GIVES_UNKNOWN);
	/* It was better in both, though another one is best in the second. */
	begin();
	window.forecast[MTS_POLICY_TOKEN] = 700;
	step(300);
	window.forecast[MTS_POLICY_FAIR] = 800;
	assert_int_equal(step(300), MTS_POLICY_TOKEN);
	/* Not in a row. */
	begin();
	window.forecast[MTS_POLICY_TOKEN] = 700;
	step(300);
	window.loses = false;
	step(300);
	window.loses = true;
	assert_int_equal(step(300), MTS_POLICY_NONE);
	assert_int_equal(step(300), MTS_POLICY_TOKEN);
}

/* Jobs that grow are other jobs time and again, and lose all the same. */
static void other_jobs_do_not_begin_the_windows_anew(void **unused)
{
	struct mts_grounds grounds = {
		.demand = 100 * MIB, .capacity = 60 * MIB, .jobs = 8, .processors = 2
	};

	(void)unused;
	begin();
	mts_choice_review(&choice, &grounds, window.now);
	window.forecast[MTS_POLICY_TURNS] = 900;
	step(300);
	grounds.demand *= 2;
	assert_true(mts_choice_review(&choice, &grounds, window.now));
	assert_int_equal(step(300), MTS_POLICY_TURNS);
	/* They are about to begin. */
	grounds.demand *= 2;
	assert_false(mts_choice_review(&choice, &grounds, window.now));
	assert_int_equal(choice.policy, MTS_POLICY_TURNS);
}

static void a_tenth_is_too_little(void **unused)
{
	u32 i;

	(void)unused;
	begin();
	window.forecast[MTS_POLICY_TURNS] = 940;
	window.forecast[MTS_POLICY_TOKEN] = 930;
	window.forecast[MTS_POLICY_FAIR] = 920;
	for (i = 0; i < 10; i++)
		assert_int_equal(step(860), MTS_POLICY_NONE);
}

static void jobs_that_lose_nothing_are_left_alone(void **unused)
{
	u32 i;

	(void)unused;
	begin();
	window.loses = false;
	window.forecast[MTS_POLICY_TURNS] = 900;
	window.forecast[MTS_POLICY_FAIR] = 900;
	for (i = 0; i < 10; i++)
		assert_int_equal(step(100), MTS_POLICY_NONE);
}

static void a_poor_trial_ends_and_bars_it(void **unused)
{
	u64 until, held;
	u32 i;

	(void)unused;
	begin();
	window.forecast[MTS_POLICY_TOKEN] = 700;
	step(300);
	step(300);
	for (i = 0; i < 4; i++)
		assert_int_equal(step(310), MTS_POLICY_TOKEN);
	assert_int_equal(step(310), MTS_POLICY_NONE);
	assert_int_equal(choice.of[MTS_POLICY_TOKEN].how, MTS_GIVES_MEASURED);
	assert_int_equal(choice.of[MTS_POLICY_TOKEN].share, 310);
	until = choice.of[MTS_POLICY_TOKEN].verdict.until;
	assert_int_equal(until, window.now + 30 * SECOND);
	/* What it gave is known for that time, whatever the forecast. */
	while (window.now + 2 * SECOND < until) {
		assert_int_equal(step(300), MTS_POLICY_NONE);
		assert_int_equal(choice.of[MTS_POLICY_TOKEN].share, 310);
	}
	/* It is tried again then, and is barred for twice as long. */
	for (i = 0; i < 2; i++)
		step(300);
	assert_int_equal(choice.policy, MTS_POLICY_TOKEN);
	for (i = 0; i < 5; i++)
		step(300);
	assert_int_equal(choice.policy, MTS_POLICY_NONE);
	held = choice.of[MTS_POLICY_TOKEN].verdict.until - window.now;
	assert_int_equal(held, 60 * SECOND);
}

static void a_good_one_goes_on_until_it_is_poor(void **unused)
{
	u32 i;

	(void)unused;
	begin();
	window.forecast[MTS_POLICY_FAIR] = 700;
	step(300);
	step(300);
	for (i = 0; i < 20; i++)
		assert_int_equal(step(600), MTS_POLICY_FAIR);
	assert_false(choice.on_trial);
	assert_int_equal(step(200), MTS_POLICY_FAIR);
	assert_int_equal(step(600), MTS_POLICY_FAIR);
	assert_int_equal(step(200), MTS_POLICY_FAIR);
	assert_int_equal(step(200), MTS_POLICY_NONE);
	assert_int_equal(choice.of[MTS_POLICY_FAIR].verdict.until, 0);
}

static void turns_replace_what_gives_less(void **unused)
{
	u32 i;

	(void)unused;
	begin();
	window.forecast[MTS_POLICY_FAIR] = 700;
	window.forecast[MTS_POLICY_TURNS] = 600;
	step(300);
	step(300);
	for (i = 0; i < 6; i++)
		assert_int_equal(step(590), MTS_POLICY_FAIR);
	assert_false(choice.on_trial);
	assert_int_equal(step(500), MTS_POLICY_FAIR);
	assert_int_equal(step(500), MTS_POLICY_TURNS);
	assert_int_equal(choice.of[MTS_POLICY_FAIR].verdict.until, 0);
	/* A round that gives less than another one gave or is forecast to. */
	assert_int_equal(step(400), MTS_POLICY_TURNS);
	assert_int_equal(step(400), MTS_POLICY_FAIR);
}

/* Their own forecast is about as good as that of the others is rough. */
static void a_rough_forecast_is_to_promise_more_than_turns(void **unused)
{
	(void)unused;
	begin();
	window.forecast[MTS_POLICY_TURNS] = 900;
	window.forecast[MTS_POLICY_TOKEN] = 980;
	step(300);
	assert_int_equal(step(300), MTS_POLICY_TURNS);
	begin();
	window.forecast[MTS_POLICY_TURNS] = 900;
	window.forecast[MTS_POLICY_TOKEN] = 1000;
	step(300);
	assert_int_equal(step(300), MTS_POLICY_TOKEN);
}

static void a_trial_is_cut_short_where_turns_promise_more(void **unused)
{
	(void)unused;
	begin();
	window.forecast[MTS_POLICY_TURNS] = 900;
	window.forecast[MTS_POLICY_TOKEN] = 1000;
	step(300);
	step(300);
	/* It was to give more than that, and has not had its time yet. */
	assert_int_equal(step(100), MTS_POLICY_TOKEN);
	assert_int_equal(step(100), MTS_POLICY_TOKEN);
	window.forecast[MTS_POLICY_TURNS] = 1200;
	assert_int_equal(step(100), MTS_POLICY_TOKEN);
	assert_int_equal(step(100), MTS_POLICY_TURNS);
	assert_int_equal(choice.of[MTS_POLICY_TOKEN].verdict.until, 0);
}

/* Fault: a job of 6 GiB fetches for a minute, and the token was judged after ten seconds. */
static void a_trial_lasts_for_a_holding(void **unused)
{
	u32 i;

	(void)unused;
	begin();
	window.forecast[MTS_POLICY_TOKEN] = 1000;
	window.token_takes_ns = 300 * SECOND;
	step(300);
	step(300);
	for (i = 0; i < 30; i++)
		assert_int_equal(step(100), MTS_POLICY_TOKEN);
	for (i = 30; i < 150; i++)
		assert_int_equal(step(900), MTS_POLICY_TOKEN);
	assert_false(choice.on_trial);
	assert_int_equal(choice.of[MTS_POLICY_TOKEN].share, 740);
	/* No longer than what it is compared with is known. */
	begin();
	window.forecast[MTS_POLICY_TOKEN] = 1000;
	window.token_takes_ns = 3600 * SECOND;
	step(300);
	step(300);
	for (i = 0; i < 299; i++)
		assert_int_equal(step(100), MTS_POLICY_TOKEN);
	assert_int_equal(step(100), MTS_POLICY_NONE);
	assert_int_equal(choice.of[MTS_POLICY_TOKEN].verdict.until, window.now + 30 * SECOND);
}

static void what_may_not_be_is_not(void **unused)
{
	(void)unused;
	begin();
	window.forecast[MTS_POLICY_TURNS] = 900;
	window.forecast[MTS_POLICY_TOKEN] = 500;
	window.may[MTS_POLICY_TURNS] = false;
	step(300);
	assert_int_equal(step(300), MTS_POLICY_TOKEN);
}

/* mode=shadow: what is measured is what the jobs got without. */
static void a_shadow_is_no_trial(void **unused)
{
	u32 i;

	(void)unused;
	begin();
	window.forecast[MTS_POLICY_TOKEN] = 700;
	for (i = 0; i < 20; i++) {
		window.now += 2 * SECOND;
		window.elapsed_ns = 2 * SECOND;
		window.user_ns = 600 * MS;
		window.acted = MTS_POLICY_NONE;
		mts_choice_step(&choice, &window);
	}
	assert_int_equal(choice.policy, MTS_POLICY_TOKEN);
	assert_int_equal(choice.of[MTS_POLICY_NONE].share, 300);
	assert_int_equal(choice.of[MTS_POLICY_TOKEN].how, MTS_GIVES_FORECAST);
}

static void other_jobs_are_looked_at_afresh(void **unused)
{
	struct mts_grounds grounds = {
		.demand = 100 * MIB, .capacity = 60 * MIB, .jobs = 8, .processors = 2
	};

	(void)unused;
	begin();
	assert_false(mts_choice_review(&choice, &grounds, window.now));
	window.forecast[MTS_POLICY_TOKEN] = 700;
	step(300);
	step(300);
	grounds.demand += 12 * MIB;
	assert_false(mts_choice_review(&choice, &grounds, window.now));
	assert_int_equal(choice.policy, MTS_POLICY_TOKEN);
	grounds.demand += MIB;
	assert_true(mts_choice_review(&choice, &grounds, window.now));
	assert_int_equal(choice.policy, MTS_POLICY_NONE);
	assert_int_equal(choice.of[MTS_POLICY_TOKEN].how, MTS_GIVES_UNKNOWN);
	assert_false(mts_choice_review(&choice, &grounds, window.now));
}

/* While jobs take turns they have other demands: no reason to forget what was tried. */
static void turns_forget_nothing(void **unused)
{
	struct mts_grounds grounds = {
		.demand = 100 * MIB, .capacity = 60 * MIB, .jobs = 8, .processors = 2
	};

	(void)unused;
	begin();
	mts_choice_review(&choice, &grounds, window.now);
	step(300);
	mts_choice_take(&choice, MTS_POLICY_TURNS, window.now);
	mts_choice_take(&choice, MTS_POLICY_NONE, window.now);
	grounds.demand = 50 * MIB;
	assert_false(mts_choice_review(&choice, &grounds, window.now));
	assert_int_equal(choice.of[MTS_POLICY_NONE].share, 300);
}

/* ---- forecasts --------------------------------------------------------------------- */

/* A window of a second on two processors, 100 MiB, 0.1 ms for a page. */
static const struct mts_forecast_host host = {
	.elapsed_ns = SECOND,
	.could_run = 2000,
	.memory = 100 * MIB,
	.fault_ns = 100000,
};

/* Thrashes: runs a tenth of the time, has half of @mib. */
static struct mts_forecast_job thrashing(u64 mib)
{
	return (struct mts_forecast_job){
		.user_ns = 100 * MS,
		.waited_ns = 800 * MS,
		.wants = 1000,
		.rss = mib * MIB / 2,
		.lacks = mib * MIB / 2,
		.may_hold = true,
		.may_delay = true,
	};
}

static void a_holder_runs_when_it_has_its_memory(void **unused)
{
	struct mts_forecast_job jobs[] = { thrashing(80), thrashing(80) };
	u64 takes;

	(void)unused;
	/*
	 * 40 MiB are 10240 pages, 1.024 s, then it holds for ten; the other one has none of its
	 * memory left.
	 */
	assert_int_equal(mts_forecast_token(&host, jobs, 2, &takes), 907);
	assert_int_equal(takes, 11024 * MS);
	/* One has what it needs, and runs: then none holds. */
	jobs[1].waited_ns = 0;
	jobs[1].lacks = 0;
	jobs[1].user_ns = 900 * MS;
	assert_int_equal(mts_forecast_token(&host, jobs, 2, &takes), 1000);
}

static void where_no_job_can_hold_it_is_none(void **unused)
{
	struct mts_forecast_job jobs[] = { thrashing(80), thrashing(80) };
	struct mts_forecast_host blind = host;
	u64 takes;

	(void)unused;
	jobs[0].may_hold = false;
	assert_int_equal(mts_forecast_token(&host, jobs, 2, &takes), 200);
	jobs[0].may_hold = true;
	jobs[0].user_ns = 900 * MS;
	assert_int_equal(mts_forecast_token(&host, jobs, 2, &takes), 1000);
	/* Larger than memory: neither ever has all. */
	jobs[0] = thrashing(200);
	jobs[1] = thrashing(200);
	assert_in_range(mts_forecast_token(&host, jobs, 2, &takes), 100, 200);
	assert_int_equal(takes, 0);
	blind.fault_ns = 0;
	assert_true(mts_forecast_token(&blind, jobs, 2, &takes) == MTS_FORECAST_UNKNOWN);
	/* A page that takes for ever. */
	blind.fault_ns = U64_MAX;
	assert_in_range(mts_forecast_token(&blind, jobs, 2, &takes), 100, 200);
}

static void others_wait_less_for_a_delayed_job(void **unused)
{
	struct mts_forecast_job jobs[] = { thrashing(80), thrashing(20), thrashing(20) };
	u64 accounts[128];

	(void)unused;
	assert_true(mts_forecast_fair_scratch(3) <= sizeof(accounts));
	/* Nobody is above the share of all. */
	assert_int_equal(mts_forecast_fair(&host, jobs, 3, NULL, accounts), 300);
	/* Three threads wait for 2.4 of 4 s: the others have 30 % of their 1.6 s. */
	jobs[0].waited_ns = 2400 * MS;
	assert_int_equal(mts_forecast_fair(&host, jobs, 3, NULL, accounts), 730);
	jobs[0].may_delay = false;
	assert_int_equal(mts_forecast_fair(&host, jobs, 3, NULL, accounts), 300);
	/* Alone it is not delayed. */
	assert_int_equal(mts_forecast_fair(&host, jobs, 1, NULL, accounts), 100);
	assert_int_equal(mts_forecast_fair(&host, jobs, 0, NULL, accounts), 0);
}

/* Fault: what all threads of a job waited in weeks of another policy overflowed the division. */
static void weeks_of_waits_are_many(void **unused)
{
	struct mts_forecast_job jobs[] = { thrashing(80), thrashing(20), thrashing(20) };
	u64 accounts[128];

	(void)unused;
	jobs[0].waited_ns = 1ull << 63;
	assert_in_range(mts_forecast_fair(&host, jobs, 3, NULL, accounts), 700, 2000);
}

/* admission.c has both in the rotor's scratch. */
static void the_scratch_has_room_for_all_jobs(void **unused)
{
	(void)unused;
	assert_true(mts_plan_scratch(MTS_MAX_JOBS) >=
		    MTS_MAX_JOBS * (sizeof(struct mts_forecast_job) + sizeof(struct mts_fair_job)));
}

/* Any figures: nothing divides by 0, no policy is made up, and a barred one is not in force. */
static void whatever_is_measured(void **unused)
{
	u32 i;

	(void)unused;
	random_start(__func__);
	for (unit_case = 0; unit_case < unit_cases(20000); unit_case++) {
		if (unit_case % 100 == 0)
			begin();
		window.now += random_below(3 * SECOND);
		window.elapsed_ns = random_below(3 * SECOND);
		window.user_ns = random_below(6 * SECOND);
		window.acted = random_below(2) ? choice.policy : MTS_POLICY_NONE;
		window.loses = random_below(2);
		for (i = 0; i < MTS_POLICIES; i++) {
			window.may[i] = random_below(4);
			window.forecast[i] =
				random_below(3) ? random_below(4000) : MTS_FORECAST_UNKNOWN;
		}
		mts_choice_step(&choice, &window);
		check(choice.policy < MTS_POLICIES);
		check(!mts_verdict_holds(&choice.of[choice.policy].verdict, window.now));
	}
}

/* Turns are in force, and none gave @share before. */
static void begin_turns(u64 share)
{
	begin();
	window.forecast[MTS_POLICY_TURNS] = 900;
	step(share);
	assert_int_equal(step(share), MTS_POLICY_TURNS);
	/* A policy that is no better is not tried. */
	window.forecast[MTS_POLICY_TURNS] = MTS_FORECAST_UNKNOWN;
}

static void what_a_policy_gave_expires(void **unused)
{
	u64 until;

	(void)unused;
	begin_turns(600);
	until = window.now + MTS_CHOICE_EXPIRES_NS;
	while (window.now < until)
		assert_int_equal(step(800), MTS_POLICY_TURNS);
	step(800);
	assert_int_equal(choice.of[MTS_POLICY_NONE].how, MTS_GIVES_UNKNOWN);
	/* The jobs get less now, as they sleep: with no turns they might get less, too. */
	step(100);
	assert_int_equal(step(100), MTS_POLICY_TURNS);
}

static void under_turns_other_jobs_end_what_others_gave(void **unused)
{
	struct mts_grounds grounds = {
		.demand = 100 * MIB, .capacity = 60 * MIB, .jobs = 8, .processors = 2
	};

	(void)unused;
	begin();
	mts_choice_review(&choice, &grounds, window.now);
	window.forecast[MTS_POLICY_TURNS] = 900;
	step(300);
	assert_int_equal(step(300), MTS_POLICY_TURNS);
	/* They use less of their memory while they take turns. */
	grounds.demand /= 2;
	assert_false(mts_choice_review(&choice, &grounds, window.now));
	assert_int_equal(choice.of[MTS_POLICY_NONE].share, 300);
	/* Four of them have ended, and so turns give less. */
	grounds.jobs /= 2;
	assert_false(mts_choice_review(&choice, &grounds, window.now));
	assert_int_equal(choice.policy, MTS_POLICY_TURNS);
	assert_int_equal(choice.of[MTS_POLICY_NONE].how, MTS_GIVES_UNKNOWN);
	step(200);
	assert_int_equal(step(200), MTS_POLICY_TURNS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_better_one_is_tried_after_two_windows),
		cmocka_unit_test(other_jobs_do_not_begin_the_windows_anew),
		cmocka_unit_test(a_tenth_is_too_little),
		cmocka_unit_test(jobs_that_lose_nothing_are_left_alone),
		cmocka_unit_test(a_poor_trial_ends_and_bars_it),
		cmocka_unit_test(a_good_one_goes_on_until_it_is_poor),
		cmocka_unit_test(turns_replace_what_gives_less),
		cmocka_unit_test(a_rough_forecast_is_to_promise_more_than_turns),
		cmocka_unit_test(a_trial_is_cut_short_where_turns_promise_more),
		cmocka_unit_test(a_trial_lasts_for_a_holding),
		cmocka_unit_test(what_may_not_be_is_not),
		cmocka_unit_test(a_shadow_is_no_trial),
		cmocka_unit_test(other_jobs_are_looked_at_afresh),
		cmocka_unit_test(turns_forget_nothing),
		cmocka_unit_test(a_holder_runs_when_it_has_its_memory),
		cmocka_unit_test(where_no_job_can_hold_it_is_none),
		cmocka_unit_test(others_wait_less_for_a_delayed_job),
		cmocka_unit_test(weeks_of_waits_are_many),
		cmocka_unit_test(the_scratch_has_room_for_all_jobs),
		cmocka_unit_test(whatever_is_measured),
		cmocka_unit_test(what_a_policy_gave_expires),
		cmocka_unit_test(under_turns_other_jobs_end_what_others_gave),
	};

	return cmocka_run_group_tests_name("choice", tests, NULL, NULL);
}

// SPDX-License-Identifier: GPL-2.0
/* Weights and users: time in proportion to them, and no pause that is too long. */
#include "cases.h"

#include "context/virtual/machine.h"
#include "events/stats.h"
#include "policy/fair.h"
#include "rotor/state.h"
#include "rotor/users.h"
#include "world.h"

#define MAX 64

static struct model *jobs[MAX];
static u64 ran_before[MAX], overdue_before;
static u32 njobs;

static bool has_turns(void *unused)
{
	return mts_rotor.round.nbins >= 2;
}

/* Turns of what is added meanwhile, on a quick disk that takes little of the time. */
static void begin(u32 step, u64 max_pause_ns)
{
	struct mts_config config = config_of(MTS_MODE_ALWAYS);
	struct host quick = usual_host;

	quick.bulk_ns = 500;
	/* So that the time for which a job runs is its own. */
	quick.processors = MAX;
	njobs = 0;
	case_begin(&quick, MTS_MODE_OFF);
	config.step = step;
	config.max_pause_ns = max_pause_ns;
	config.demand = MTS_DEMAND_ALLOCATED;
	world_configure(&config);
}

static void add(u64 size, u32 weight)
{
	jobs[njobs] = host_add(size, 0, 0);
	host_weigh(jobs[njobs++], weight);
}

static void add_for(u32 user, u64 size, u32 weight)
{
	add(size, weight);
	host_give(jobs[njobs - 1], user);
}

static void count_from_now(void)
{
	u32 i;

	for (i = 0; i < njobs; i++)
		ran_before[i] = jobs[i]->ran;
	overdue_before = mts_stats_read(overdue_thaws);
}

static void run(u64 ns)
{
	NEED(wait_until(has_turns, NULL, 60 * SECOND) < 60 * SECOND, "no turns");
	/* What pages cost, and what jobs need, is known by then. */
	machine_sleep(120 * SECOND);
	count_from_now();
	machine_sleep(ns);
	host_advance();
}

static u64 ran(u32 i)
{
	return jobs[i]->ran - ran_before[i];
}

/* Within an eighth of what it is to be. */
static void expect_ran(u32 i, u64 ns)
{
	EXPECT(ran(i) >= ns - ns / 8 && ran(i) <= ns + ns / 8,
	       "a job of weight %u ran for %llu s, not %llu", jobs[i]->job->weight, ran(i) / SECOND,
	       ns / SECOND);
}

static void expect_proportion(void)
{
	u64 sum = 0, weights = 0;
	u32 i;

	for (i = 0; i < njobs; i++) {
		sum += ran(i);
		weights += jobs[i]->job->weight;
	}
	for (i = 0; i < njobs; i++)
		expect_ran(i, sum * jobs[i]->job->weight / weights);
}

static void expect_pauses(u64 ns)
{
	u32 i;

	for (i = 0; i < njobs; i++)
		EXPECT(jobs[i]->job->frozen_longest <= ns, "a job of weight %u was frozen %llu ms",
		       jobs[i]->job->weight, jobs[i]->job->frozen_longest / MS);
	EXPECT(mts_stats_read(overdue_thaws) == overdue_before, "the watchdog had to thaw %llu",
	       mts_stats_read(overdue_thaws) - overdue_before);
}

static void add_three(void)
{
	u32 i;

	for (i = 0; i < 3; i++)
		add(5 * GIB, 100 << i);
}

static void bins_run_in_proportion_to_weights(void)
{
	begin(MTS_STEP_BIN, 0);
	add_three();
	run(1200 * SECOND);
	expect_proportion();
	expect_pauses(MTS_PAUSE_STRETCHED_NS);
	world_unload();
}

/* Each is larger than half of the memory: one runs at a time. */
static void large_groups_run_in_proportion_to_weights(void)
{
	begin(64, 0);
	add_three();
	run(1200 * SECOND);
	NEED(mts_rotor.round.plan.overlaps, "bins do not overlap");
	expect_proportion();
	expect_pauses(MTS_PAUSE_STRETCHED_NS);
	world_unload();
}

/* Of 30 jobs about half run at a time. */
static void small_groups_run_in_proportion_to_weights(void)
{
	u32 i;

	begin(64, 0);
	for (i = 0; i < 30; i++)
		add(500 * MIB, 100 + 100 * (i % 3));
	run(1200 * SECOND);
	NEED(mts_rotor.round.plan.overlaps, "bins do not overlap");
	expect_proportion();
	expect_pauses(MTS_PAUSE_STRETCHED_NS);
	world_unload();
}

/* Groups of several jobs, of sizes and weights in any order. */
static void mixed_groups_run_in_proportion_to_weights(void)
{
	u32 i;

	begin(512, 0);
	for (i = 0; i < 40; i++)
		add((100 + 150 * (i % 5)) * MIB, 100 << i % 2);
	run(1200 * SECOND);
	NEED(mts_rotor.round.plan.overlaps, "bins do not overlap");
	expect_proportion();
	expect_pauses(MTS_PAUSE_STRETCHED_NS);
	world_unload();
}

/* What a job is entitled to of @sum, if @service is the service of all; at most all of the time. */
static u64 due(u32 i, u64 service, u64 all)
{
	return min(service * jobs[i]->job->weight / 100, all);
}

/* Sizes and weights of the seed. A job cannot run for more than all of the time. */
static void any_weights_get_their_parts(void)
{
	const u64 all = 1200 * SECOND;
	u64 sum = 0, served, service = 0, step;
	u32 i, n = 16 + machine_draw(20);

	begin(1 + machine_draw(400), 0);
	for (i = 0; i < n; i++)
		add(200 * MIB + machine_draw(GIB), 50 + machine_draw(400));
	run(all);
	NEED(mts_rotor.round.plan.overlaps, "bins do not overlap");
	for (i = 0; i < n; i++)
		sum += ran(i);
	for (step = all; step; step /= 2) {
		served = 0;
		for (i = 0; i < n; i++)
			served += due(i, service + step, all);
		if (served <= sum)
			service += step;
	}
	for (i = 0; i < n; i++)
		EXPECT(ran(i) + due(i, service, all) / 8 + 10 * SECOND >= due(i, service, all),
		       "a job of weight %u and %llu MiB ran for %llu s, not %llu",
		       jobs[i]->job->weight, jobs[i]->size / MIB, ran(i) / SECOND,
		       due(i, service, all) / SECOND);
	expect_pauses(MTS_PAUSE_STRETCHED_NS);
	world_unload();
}

static void expect_turns_of_the_smallest_weight(u32 step)
{
	u32 i;

	begin(step, 30 * SECOND);
	add(3 * GIB, MTS_WEIGHT_MIN);
	for (i = 0; i < 4; i++)
		add(3 * GIB, MTS_WEIGHT_MAX);
	run(600 * SECOND);
	expect_pauses(30 * SECOND);
	EXPECT(jobs[0]->job->slices > 20, "in ten minutes the job of weight 1 has had %llu slices",
	       jobs[0]->job->slices);
	EXPECT(ran(0) < ran(1) / 4, "it ran for %llu s, another one for %llu", ran(0) / SECOND,
	       ran(1) / SECOND);
	world_unload();
}

static void the_smallest_weight_gets_its_turn_in_bins(void)
{
	expect_turns_of_the_smallest_weight(MTS_STEP_BIN);
}

static void the_smallest_weight_gets_its_turn_in_groups(void)
{
	expect_turns_of_the_smallest_weight(64);
}

static void expect_another_weight_holds(u32 step)
{
	u32 i;

	begin(step, 0);
	add_three();
	run(300 * SECOND);
	for (i = 0; i < 3; i++)
		host_weigh(jobs[i], 400 >> i);
	machine_sleep(60 * SECOND);
	count_from_now();
	machine_sleep(1200 * SECOND);
	host_advance();
	expect_proportion();
	expect_pauses(MTS_PAUSE_STRETCHED_NS);
	world_unload();
}

static void another_weight_holds_in_bins(void)
{
	expect_another_weight_holds(MTS_STEP_BIN);
}

static void another_weight_holds_in_groups(void)
{
	expect_another_weight_holds(64);
}

/*
 * A job cannot run for more than all of the time. For an hour it has had less than it is entitled
 * to, and must not have what it lacks later, at the cost of the others.
 */
static void what_no_job_can_have_is_forgotten(void)
{
	u32 i;

	begin(64, 0);
	for (i = 0; i < 6; i++)
		add(2 * GIB, i ? 100 : MTS_WEIGHT_MAX);
	run(3600 * SECOND);
	EXPECT(ran(0) > 3400 * SECOND, "it ran for %llu of 3600 s", ran(0) / SECOND);
	for (i = 1; i < 6; i++)
		EXPECT(ran(i) > ran(1) - ran(1) / 8 && ran(i) < ran(1) + ran(1) / 8,
		       "others ran for %llu and %llu s", ran(1) / SECOND, ran(i) / SECOND);
	host_weigh(jobs[0], MTS_WEIGHT_DEFAULT);
	machine_sleep(120 * SECOND);
	count_from_now();
	machine_sleep(600 * SECOND);
	host_advance();
	expect_proportion();
	expect_pauses(MTS_PAUSE_STRETCHED_NS);
	world_unload();
}

/* ---- users --------------------------------------------------------------------------------- */

static void set_share(u32 share)
{
	struct mts_config config = mts_rotor.order.config;

	config.share = share;
	world_configure(&config);
}

/* Of all time that jobs ran, this part was job @i's. */
static void expect_part(u32 i, u32 of, u32 parts)
{
	u64 sum = 0;
	u32 k;

	for (k = 0; k < njobs; k++)
		sum += ran(k);
	expect_ran(i, sum * of / parts);
}

static void goes_on(u64 ns)
{
	machine_sleep(120 * SECOND);
	count_from_now();
	machine_sleep(ns);
	host_advance();
}

#define ADA 1000
#define BOB 1001

/* Ada has one job, Bob has five: none fits beside another one. */
static void expect_half_for_one_job(u32 step)
{
	u32 i;

	begin(step, 0);
	set_share(MTS_SHARE_USER);
	for (i = 0; i < 6; i++)
		add_for(i ? BOB : ADA, 5 * GIB, 100);
	run(2400 * SECOND);
	for (i = 0; i < 6; i++)
		expect_part(i, i ? 1 : 5, 10);
	expect_pauses(MTS_PAUSE_STRETCHED_NS);
	set_share(MTS_SHARE_JOB);
	goes_on(2400 * SECOND);
	for (i = 0; i < 6; i++)
		expect_part(i, 1, 6);
	expect_pauses(MTS_PAUSE_STRETCHED_NS);
	world_unload();
}

static void a_user_with_one_job_gets_half_in_bins(void)
{
	expect_half_for_one_job(MTS_STEP_BIN);
}

static void a_user_with_one_job_gets_half_in_groups(void)
{
	expect_half_for_one_job(64);
}

/*
 * Ada's one job gets three times as long as Bob's three together. The weight is set before she has
 * a job, and taken back while turns last.
 */
static void expect_time_by_users_weights(u32 step)
{
	u32 i;

	begin(step, 0);
	set_share(MTS_SHARE_USER);
	NEED(!mts_users_weigh(ADA, 300), "the weight is not taken");
	for (i = 0; i < 4; i++)
		add_for(i ? BOB : ADA, 5 * GIB, i == 1 ? 200 : 100);
	run(2400 * SECOND);
	for (i = 0; i < 4; i++)
		expect_part(i, i == 0 ? 12 : i == 1 ? 2 : 1, 16);
	expect_pauses(MTS_PAUSE_STRETCHED_NS);
	NEED(!mts_users_weigh(ADA, 0), "the weight is not taken back");
	goes_on(2400 * SECOND);
	for (i = 0; i < 4; i++)
		expect_part(i, i == 0 ? 4 : i == 1 ? 2 : 1, 8);
	expect_pauses(MTS_PAUSE_STRETCHED_NS);
	world_unload();
}

static void time_goes_by_users_weights_in_bins(void)
{
	expect_time_by_users_weights(MTS_STEP_BIN);
}

static void time_goes_by_users_weights_in_groups(void)
{
	expect_time_by_users_weights(64);
}

/* With share=job what users weigh does not count. */
static void a_users_weight_does_not_count_by_job(void)
{
	begin(MTS_STEP_BIN, 0);
	NEED(!mts_users_weigh(ADA, 300), "the weight is not taken");
	add_for(ADA, 5 * GIB, 100);
	add_for(BOB, 5 * GIB, 100);
	run(1200 * SECOND);
	expect_part(0, 1, 2);
	NEED(!mts_users_weigh(ADA, 0), "the weight is not taken back");
	world_unload();
}

/* What a weight says, it says among the jobs of its user. */
static void expect_weights_within_users(u32 step)
{
	begin(step, 0);
	set_share(MTS_SHARE_USER);
	add_for(ADA, 5 * GIB, 100);
	add_for(ADA, 5 * GIB, 300);
	add_for(BOB, 5 * GIB, MTS_WEIGHT_MIN);
	run(2400 * SECOND);
	expect_part(0, 1, 8);
	expect_part(1, 3, 8);
	expect_part(2, 4, 8);
	expect_pauses(MTS_PAUSE_STRETCHED_NS);
	world_unload();
}

static void weights_count_within_a_user_in_bins(void)
{
	expect_weights_within_users(MTS_STEP_BIN);
}

static void weights_count_within_a_user_in_groups(void)
{
	expect_weights_within_users(64);
}

/* Jobs come and go: what they get comes from the others of their user. */
static void expect_no_gain_by_more_jobs(u32 step)
{
	u32 i;

	begin(step, 0);
	set_share(MTS_SHARE_USER);
	add_for(ADA, 5 * GIB, 100);
	add_for(BOB, 5 * GIB, 100);
	run(600 * SECOND);
	expect_part(0, 1, 2);
	for (i = 0; i < 3; i++)
		add_for(BOB, 5 * GIB, 100);
	goes_on(1200 * SECOND);
	for (i = 0; i < 5; i++)
		expect_part(i, i ? 1 : 4, 8);
	for (i = 1; i < 4; i++)
		host_end_job(jobs[i]);
	jobs[1] = jobs[4];
	njobs = 2;
	goes_on(600 * SECOND);
	expect_part(0, 1, 2);
	expect_pauses(MTS_PAUSE_STRETCHED_NS);
	world_unload();
}

static void a_user_gains_nothing_by_more_jobs_in_bins(void)
{
	expect_no_gain_by_more_jobs(MTS_STEP_BIN);
}

static void a_user_gains_nothing_by_more_jobs_in_groups(void)
{
	expect_no_gain_by_more_jobs(64);
}

/* A pinned job has its memory, and takes nothing from the part of the user's others. */
static void a_pinned_job_takes_no_part(void)
{
	begin(MTS_STEP_BIN, 0);
	set_share(MTS_SHARE_USER);
	add_for(ADA, 5 * GIB, 100);
	add_for(BOB, 5 * GIB, 100);
	host_give(host_add(256 * MIB, MTS_JOB_PIN, 0), ADA);
	run(1200 * SECOND);
	expect_part(0, 1, 2);
	world_unload();
}

static bool is_sharing(void *unused)
{
	return mts_rotor.phase.state == MTS_STATE_SHARING;
}

/* policy=fair: one waits for three times as long as the others, which is its share. */
static void its_share_of_waits_is_as_large_as_its_weight(void)
{
	struct mts_config config = config_of(MTS_MODE_AUTO);
	struct host busy = usual_host;
	u64 total;
	u32 i;

	busy.reclaims = true;
	njobs = 0;
	config.policy = MTS_POLICY_FAIR;
	case_begin(&busy, MTS_MODE_OFF);
	for (i = 0; i < 3; i++) {
		add(5 * GIB, i ? 100 : 300);
		jobs[i]->stalls = i ? 300 : 900;
	}
	world_configure(&config);
	NEED(wait_until(is_sharing, NULL, 60 * SECOND) < 60 * SECOND, "the policy does not act");
	machine_sleep(30 * SECOND);
	total = jobs[0]->job->frozen_total;
	machine_sleep(30 * SECOND);
	EXPECT(jobs[0]->job->frozen_total - total < 2 * SECOND, "it was delayed for %llu ms",
	       (jobs[0]->job->frozen_total - total) / MS);
	/* With the same weight as the others it is, for half of the time. */
	host_weigh(jobs[0], 100);
	total = jobs[0]->job->frozen_total;
	machine_sleep(30 * SECOND);
	EXPECT(jobs[0]->job->frozen_total - total > 5 * SECOND, "it was delayed for %llu ms",
	       (jobs[0]->job->frozen_total - total) / MS);
	world_unload();
}

/*
 * policy=fair: of four that wait alike three are Bob's. As jobs each has its share; as a user Bob
 * waits for too long.
 */
static void waits_count_for_the_user(void)
{
	struct mts_config config = config_of(MTS_MODE_AUTO);
	struct host busy = usual_host;
	u64 total[4];
	u32 i;

	busy.reclaims = true;
	njobs = 0;
	config.policy = MTS_POLICY_FAIR;
	case_begin(&busy, MTS_MODE_OFF);
	for (i = 0; i < 4; i++) {
		add_for(i ? BOB : ADA, 4 * GIB, 100);
		jobs[i]->stalls = 300;
	}
	world_configure(&config);
	NEED(wait_until(is_sharing, NULL, 60 * SECOND) < 60 * SECOND, "the policy does not act");
	machine_sleep(60 * SECOND);
	for (i = 0; i < 4; i++) {
		total[i] = jobs[i]->job->frozen_total;
		EXPECT(total[i] < 2 * SECOND, "by job, job %u was delayed for %llu ms", i,
		       total[i] / MS);
	}
	set_share(MTS_SHARE_USER);
	machine_sleep(30 * SECOND);
	for (i = 0; i < 4; i++)
		total[i] = jobs[i]->job->frozen_total - total[i];
	EXPECT(!total[0], "by user, Ada's job was delayed for %llu ms", total[0] / MS);
	for (i = 1; i < 4; i++)
		EXPECT(total[i] > 5 * SECOND && total[i] < 16 * SECOND,
		       "by user, job %u of Bob's was delayed for %llu ms", i, total[i] / MS);
	/* Three quarters of all waits are his share now. */
	NEED(!mts_users_weigh(BOB, 300), "the weight is not taken");
	machine_sleep(60 * SECOND);
	for (i = 0; i < 4; i++)
		total[i] = jobs[i]->job->frozen_total;
	machine_sleep(30 * SECOND);
	for (i = 0; i < 4; i++)
		EXPECT(jobs[i]->job->frozen_total - total[i] < 2 * SECOND,
		       "with weight 300 for Bob, job %u was delayed for %llu ms", i,
		       (jobs[i]->job->frozen_total - total[i]) / MS);
	NEED(!mts_users_weigh(BOB, 0), "the weight is not taken back");
	world_unload();
}

const struct a_case weight_cases[] = {
	CASE(bins_run_in_proportion_to_weights),
	CASE(large_groups_run_in_proportion_to_weights),
	CASE(small_groups_run_in_proportion_to_weights),
	CASE(mixed_groups_run_in_proportion_to_weights),
	CASE(any_weights_get_their_parts),
	CASE(the_smallest_weight_gets_its_turn_in_bins),
	CASE(the_smallest_weight_gets_its_turn_in_groups),
	CASE(another_weight_holds_in_bins),
	CASE(another_weight_holds_in_groups),
	CASE(what_no_job_can_have_is_forgotten),
	CASE(its_share_of_waits_is_as_large_as_its_weight),
	CASE(a_user_with_one_job_gets_half_in_bins),
	CASE(a_user_with_one_job_gets_half_in_groups),
	CASE(time_goes_by_users_weights_in_bins),
	CASE(time_goes_by_users_weights_in_groups),
	CASE(a_users_weight_does_not_count_by_job),
	CASE(weights_count_within_a_user_in_bins),
	CASE(weights_count_within_a_user_in_groups),
	CASE(a_user_gains_nothing_by_more_jobs_in_bins),
	CASE(a_user_gains_nothing_by_more_jobs_in_groups),
	CASE(a_pinned_job_takes_no_part),
	CASE(waits_count_for_the_user),
	{ 0 },
};

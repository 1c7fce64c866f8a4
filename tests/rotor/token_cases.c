// SPDX-License-Identifier: GPL-2.0
/* policy=token: who holds, for how long, and what is left of it. */
#include "cases.h"

#include "context/virtual/machine.h"
#include "events/stats.h"
#include "jobs/thaw.h"
#include "rotor/state.h"
#include "world.h"

#define JOBS 3u
/* The rotor sees pressure, measures twice, and then decides. */
#define SOON_NS (10 * SECOND)

static struct model *jobs[JOBS];

/*
 * Jobs of 3, 4 and 5 GiB in 7.5 GiB, which thrash when the policy begins. The disk serves single
 * faults at 200 MB/s: a holder has its memory in some of its ten seconds.
 */
static void begin(void)
{
	struct mts_config config = config_of(MTS_MODE_AUTO);
	struct host fast = usual_host;
	u32 i;

	fast.fault_ns = 20000;
	case_begin(&fast, MTS_MODE_OFF);
	for (i = 0; i < JOBS; i++)
		jobs[i] = host_add((3 + i) * GIB, 0, 0);
	machine_sleep(20 * SECOND);
	config.policy = MTS_POLICY_TOKEN;
	world_configure(&config);
}

static struct model *holder(void)
{
	u32 i;

	for (i = 0; i < JOBS; i++)
		if (jobs[i] && jobs[i]->job->holder)
			return jobs[i];
	return NULL;
}

static bool is_held(void *unused)
{
	return holder();
}

static bool is_free(void *unused)
{
	return !holder();
}

static void need_holder(void)
{
	NEED(wait_until(is_held, NULL, 60 * SECOND) < 60 * SECOND, "none holds");
}

/* Nothing of the policy is left within a second. */
static void expect_restored(const char *after)
{
	u32 i;

	EXPECT(wait_until(is_free, NULL, SECOND) < SECOND, "%s: %s holds", after,
	       holder()->job->name);
	machine_sleep(SECOND);
	for (i = 0; i < JOBS; i++)
		if (jobs[i])
			EXPECT(jobs[i]->low == jobs[i]->own_low, "%s: memory.low is %llu MiB",
			       after, jobs[i]->low / MIB);
}

static void the_job_that_lacks_least_holds(void)
{
	const struct model *model;
	u64 faults[JOBS];
	u32 i;

	begin();
	for (i = 0; i < JOBS; i++)
		faults[i] = jobs[i]->major_faults;
	need_holder();
	model = holder();
	/* The third one has all that it needs. */
	for (i = 0; i < JOBS; i++)
		EXPECT(jobs[i] == model || jobs[i]->major_faults < faults[i] + 500 ||
			       jobs[i]->swap + 128 * MIB > model->swap,
		       "it lacks %llu MiB, %s lacks %llu", model->swap / MIB, jobs[i]->job->name,
		       jobs[i]->swap / MIB);
	EXPECT(model->low > model->size, "memory.low is %llu MiB", model->low / MIB);
	EXPECT(model->job->holdings == 1 && mts_stats_read(holdings) == 1, "not counted");
	world_unload();
}

static bool have_all_held(void *unused)
{
	return jobs[0]->job->holdings && jobs[1]->job->holdings && jobs[2]->job->holdings;
}

static void another_one_holds_after_ten_seconds(void)
{
	u64 took;

	begin();
	need_holder();
	took = wait_until(have_all_held, NULL, 90 * SECOND);
	EXPECT(took < 90 * SECOND, "they held %llu, %llu and %llu times", jobs[0]->job->holdings,
	       jobs[1]->job->holdings, jobs[2]->job->holdings);
	EXPECT(mts_stats_read(holding_ns) >= 10 * SECOND, "held for %llu ms",
	       mts_stats_read(holding_ns) / MS);
	world_unload();
}

/* mode=off stands for whatever ends the policy for a while: a lull, or a verdict. */
static void whose_turn_it_is_outlives_a_while_without(void)
{
	struct mts_config off = config_of(MTS_MODE_OFF), on = config_of(MTS_MODE_AUTO);
	const struct model *first;

	begin();
	need_holder();
	first = holder();
	off.policy = MTS_POLICY_TOKEN;
	world_configure(&off);
	expect_restored("mode=off");
	on.policy = MTS_POLICY_TOKEN;
	world_configure(&on);
	need_holder();
	EXPECT(holder() != first, "%s holds again", first->job->name);
	world_unload();
}

static bool holds_no_more(void *model)
{
	return !((struct model *)model)->job->holder;
}

static void a_holder_that_sleeps_gives_it_up(void)
{
	struct model *model;

	begin();
	need_holder();
	model = holder();
	model->awake = false;
	EXPECT(wait_until(holds_no_more, model, 4 * SECOND) < 4 * SECOND, "it holds on");
	machine_sleep(2 * SECOND);
	EXPECT(model->low == model->own_low, "memory.low is %llu MiB", model->low / MIB);
	world_unload();
}

/* And what it had is another's. */
static void a_holder_that_ends_is_followed(void)
{
	u32 i = 0;

	begin();
	need_holder();
	while (jobs[i] != holder())
		i++;
	host_end_job(jobs[i]);
	/* Another one thrashes in its place. */
	jobs[i] = host_add(5 * GIB, 0, 0);
	machine_sleep(2 * SECOND);
	EXPECT(wait_until(is_held, NULL, 60 * SECOND) < 60 * SECOND, "none holds");
	world_unload();
}

static void a_pinned_job_does_not_hold(void)
{
	u32 i;

	begin();
	host_add(GIB, MTS_JOB_PIN, 0)->awake = false;
	for (i = 0; i < 60; i++) {
		machine_sleep(SECOND);
		EXPECT(!models[3]->job->holder, "it holds");
	}
	NEED(mts_stats_read(holdings), "none holds");
	world_unload();
}

static void its_own_protection_is_restored(void)
{
	struct mts_config turns = config_of(MTS_MODE_AUTO);
	u32 i;

	begin();
	for (i = 0; i < JOBS; i++) {
		jobs[i]->own_low = 64 * MIB;
		jobs[i]->low = 64 * MIB;
	}
	need_holder();
	NEED(holder()->low > GIB, "memory.low is %llu MiB", holder()->low / MIB);
	world_configure(&turns);
	expect_restored("policy=turns");
	world_unload();
}

/* The slice's own value, and the holder's if it is in there, which may be an eighth too small. */
static void expect_slices(void)
{
	const struct model *model = holder();
	u32 i;

	for (i = 0; i < SLICES; i++) {
		u64 own = host.slice_own[i], low = host.slice_low[i];
		bool above = model && (i == TOP_SLICE || i == model->job->id % 2);

		if (above)
			EXPECT(low >= (own + model->low) / 8 * 7 && low <= own + 9 * GIB,
			       "slice %u: memory.low is %llu of %llu MiB", i, low / MIB,
			       (own + model->low) / MIB);
		else
			EXPECT(low == own, "slice %u: memory.low is %llu MiB", i, low / MIB);
	}
}

static void cgroups_above_the_holder_are_protected(void)
{
	struct mts_config turns = config_of(MTS_MODE_AUTO);
	const struct model *first;

	begin();
	host_protect_slice(0, 64 * MIB);
	need_holder();
	first = holder();
	machine_sleep(SECOND / 2);
	expect_slices();
	while (holder() == first)
		machine_sleep(SECOND / 10);
	need_holder();
	machine_sleep(SECOND / 2);
	expect_slices();
	/* As systemd does it. */
	host_protect_slice(TOP_SLICE, 5 * MIB);
	machine_sleep(2 * SECOND);
	expect_slices();
	world_configure(&turns);
	expect_restored("policy=turns");
	expect_slices();
	world_unload();
}

static void protection_above_is_a_sum(void)
{
	const struct model *one, *other;

	begin();
	one = host_add(GIB, MTS_JOB_PIN, 0);
	host_add(GIB / 2, 0, 0);
	other = host_add(GIB / 4, MTS_JOB_PIN, 0);
	NEED(one->job->id % 2 == other->job->id % 2, "not in one slice");
	machine_sleep(5 * SECOND);
	EXPECT(host.slice_low[one->job->id % 2] >= (one->low + other->low) / 8 * 7,
	       "memory.low is %llu MiB", host.slice_low[one->job->id % 2] / MIB);
	NEED(one->low + other->low > GIB, "the jobs are not protected");
	world_unload();
}

static void a_stop_withdraws_it(void)
{
	begin();
	need_holder();
	mts_thaw_and_stop(MTS_REASON_USER, "asked for");
	expect_restored("thaw");
	world_unload();
}

static void shadow_withdraws_it(void)
{
	struct mts_config shadow = config_of(MTS_MODE_SHADOW);

	begin();
	need_holder();
	shadow.policy = MTS_POLICY_TOKEN;
	world_configure(&shadow);
	expect_restored("mode=shadow");
	world_unload();
}

static void unload_withdraws_it(void)
{
	struct model *model;

	begin();
	need_holder();
	model = holder();
	world_unload();
	EXPECT(model->low == model->own_low, "memory.low is %llu MiB", model->low / MIB);
}

static void nobody_is_frozen_for_the_holder(void)
{
	u32 i;

	begin();
	need_holder();
	machine_sleep(60 * SECOND);
	for (i = 0; i < JOBS; i++)
		EXPECT(!jobs[i]->job->frozen_total && !jobs[i]->job->frozen, "%s was frozen",
		       jobs[i]->job->name);
	world_unload();
}

const struct a_case token_cases[] = {
	CASE(the_job_that_lacks_least_holds),
	CASE(another_one_holds_after_ten_seconds),
	CASE(whose_turn_it_is_outlives_a_while_without),
	CASE(a_holder_that_sleeps_gives_it_up),
	CASE(a_holder_that_ends_is_followed),
	CASE(a_pinned_job_does_not_hold),
	CASE(its_own_protection_is_restored),
	CASE(cgroups_above_the_holder_are_protected),
	CASE(protection_above_is_a_sum),
	CASE(a_stop_withdraws_it),
	CASE(shadow_withdraws_it),
	CASE(unload_withdraws_it),
	CASE(nobody_is_frozen_for_the_holder),
	{ 0 },
};

// SPDX-License-Identifier: GPL-2.0
/* policy=auto: what is in force, for how long, and what is left of it. */
#include "cases.h"

#include "context/virtual/machine.h"
#include "events/stats.h"
#include "policy/choice.h"
#include "rotor/choice.h"
#include "rotor/state.h"
#include "world.h"

#define JOBS 3u
/* The rotor sees pressure, closes two windows, and plans. */
#define SOON_NS (20 * SECOND)

static struct model *jobs[JOBS];

static struct mts_config auto_of(u32 mode)
{
	struct mts_config config = config_of(mode);

	config.policy = MTS_POLICY_AUTO;
	return config;
}

/*
 * Jobs of 5 GiB each in 7.5 GiB, which thrash when the policy begins. @runs: the part of the time
 * in which each runs, per mille; 0: as it comes. @bulk_ns: what a page in bulk takes.
 */
static void begin_thrashing(u32 mode, u32 runs, u64 bulk_ns)
{
	struct mts_config config = auto_of(mode);
	struct host busy = usual_host;
	u32 i;

	busy.reclaims = true;
	busy.bulk_ns = bulk_ns;
	busy.page_ns = bulk_ns / 4;
	busy.request_ns = 2 * bulk_ns;
	case_begin(&busy, MTS_MODE_OFF);
	for (i = 0; i < JOBS; i++)
		jobs[i] = host_add(5 * GIB, 0, 0);
	machine_sleep(20 * SECOND);
	for (i = 0; i < JOBS; i++) {
		jobs[i]->runs = runs;
		jobs[i]->stalls = runs ? 1000 - runs : 0;
	}
	world_configure(&config);
}

static const struct mts_choice *chosen(void)
{
	return &mts_rotor.choosing.choice;
}

static bool is_in_force(void *policy)
{
	return chosen()->policy == (unsigned long)policy;
}

static u64 wait_for(u32 policy, u64 ns)
{
	return wait_until(is_in_force, (void *)(unsigned long)policy, ns);
}

static bool is_configured(void *unused)
{
	return !mts_rotor.order.is_new;
}

/* As if they had been tried, and had not been worth it. */
static void bar_turns(void)
{
	NEED(wait_until(is_configured, NULL, SECOND) < SECOND, "the rotor has not seen it");
	mts_verdict_give(&mts_rotor.admission.verdict, MTS_REASON_SLOW_SWAP, machine_now());
	mts_rotor.admission.verdict.until = U64_MAX;
}

static void begin_token(void)
{
	begin_thrashing(MTS_MODE_AUTO, 100, 10000);
	bar_turns();
	NEED(wait_for(MTS_POLICY_TOKEN, SOON_NS) < SOON_NS, "policy %u", chosen()->policy);
}

static void while_all_fits_none_is_chosen(void)
{
	struct mts_config config = auto_of(MTS_MODE_AUTO);
	u32 i;

	case_begin(&usual_host, MTS_MODE_OFF);
	host_add(GIB, 0, 0);
	host_add(GIB, 0, 0);
	world_configure(&config);
	for (i = 0; i < 30; i++) {
		machine_sleep(SECOND);
		EXPECT(mts_rotor.phase.reason == MTS_REASON_FITS, "reason %u",
		       mts_rotor.phase.reason);
		EXPECT(chosen()->policy == MTS_POLICY_NONE, "policy %u", chosen()->policy);
	}
	world_unload();
}

static void turns_are_chosen_where_they_give_most(void)
{
	struct mts_policy_info info;
	u32 i;

	begin_thrashing(MTS_MODE_AUTO, 100, 500);
	EXPECT(wait_for(MTS_POLICY_TURNS, SOON_NS) < SOON_NS, "policy %u", chosen()->policy);
	/* A job whose turn it is has its memory. */
	for (i = 0; i < JOBS; i++)
		jobs[i]->runs = 1000;
	machine_sleep(SECOND);
	EXPECT(mts_rotor.round.nbins >= 2, "%u bins", mts_rotor.round.nbins);
	machine_sleep(60 * SECOND);
	mts_auto_info(&info);
	EXPECT(info.policy == MTS_POLICY_TURNS && !info.on_trial && info.since_ns, "policy %u",
	       info.policy);
	EXPECT(info.of[MTS_POLICY_TURNS].how == MTS_GIVES_MEASURED &&
		       info.of[MTS_POLICY_NONE].how == MTS_GIVES_MEASURED,
	       "turns %u, none %u", info.of[MTS_POLICY_TURNS].how, info.of[MTS_POLICY_NONE].how);
	EXPECT(info.of[MTS_POLICY_TURNS].permille > info.of[MTS_POLICY_NONE].permille,
	       "turns give %u, none %u", info.of[MTS_POLICY_TURNS].permille,
	       info.of[MTS_POLICY_NONE].permille);
	world_unload();
}

static bool is_decided(void *unused)
{
	return !chosen()->on_trial;
}

static void decide_on_token(void)
{
	u64 takes = max(chosen()->of[MTS_POLICY_TOKEN].takes_ns, MTS_CHOICE_TRIAL_NS), took;

	EXPECT(chosen()->on_trial, "it is not on trial");
	EXPECT(chosen()->of[MTS_POLICY_TOKEN].how == MTS_GIVES_FORECAST, "it is not forecast");
	took = wait_until(is_decided, NULL, MTS_CHOICE_EXPIRES_NS + 60 * SECOND);
	EXPECT(took < min(takes, MTS_CHOICE_EXPIRES_NS) + 5 * SECOND, "it takes %llu s",
	       took / SECOND);
	EXPECT(chosen()->of[MTS_POLICY_TOKEN].how == MTS_GIVES_MEASURED, "it is not measured");
}

/* The jobs get no more by it: it is given up, and tried again after 30 s, and for each time. */
static void a_trial_is_bounded(void)
{
	u64 took;

	begin_token();
	decide_on_token();
	EXPECT(chosen()->policy == MTS_POLICY_NONE, "policy %u", chosen()->policy);
	took = wait_for(MTS_POLICY_TOKEN, 60 * SECOND);
	EXPECT(took >= 30 * SECOND && took < 40 * SECOND, "tried again after %llu s",
	       took / SECOND);
	decide_on_token();
	took = wait_for(MTS_POLICY_TOKEN, 90 * SECOND);
	EXPECT(took >= 60 * SECOND && took < 70 * SECOND, "tried again after %llu s",
	       took / SECOND);
	world_unload();
}

/* One job gets on by it, and so it stays; until it does no more. */
static void a_policy_that_helps_stays(void)
{
	u32 i;

	begin_token();
	jobs[0]->runs = 900;
	decide_on_token();
	for (i = 0; i < 60; i++) {
		EXPECT(chosen()->policy == MTS_POLICY_TOKEN, "policy %u", chosen()->policy);
		machine_sleep(SECOND);
	}
	jobs[0]->runs = 10;
	EXPECT(wait_for(MTS_POLICY_NONE, 10 * SECOND) < 10 * SECOND, "policy %u", chosen()->policy);
	world_unload();
}

static bool is_protected(void *unused)
{
	u32 i;

	for (i = 0; i < JOBS; i++)
		if (jobs[i]->job->holder && jobs[i]->low > jobs[i]->own_low)
			return true;
	return false;
}

/* Nothing of a policy is left, and no job is frozen. */
static void expect_restored(const char *after)
{
	u32 i;

	machine_sleep(2 * SECOND);
	for (i = 0; i < JOBS; i++) {
		EXPECT(!jobs[i]->job->holder && jobs[i]->low == jobs[i]->own_low,
		       "%s: memory.low is %llu MiB", after, jobs[i]->low / MIB);
		EXPECT(!jobs[i]->job->frozen, "%s: %s is frozen", after, jobs[i]->job->name);
	}
}

static void mode_off_restores_all(void)
{
	struct mts_config off = auto_of(MTS_MODE_OFF);

	begin_token();
	NEED(wait_until(is_protected, NULL, 20 * SECOND) < 20 * SECOND, "none holds");
	world_configure(&off);
	expect_restored("mode=off");
	EXPECT(chosen()->policy == MTS_POLICY_NONE, "policy %u", chosen()->policy);
	world_unload();
}

static void unload_restores_all(void)
{
	struct model *model;

	begin_token();
	NEED(wait_until(is_protected, NULL, 20 * SECOND) < 20 * SECOND, "none holds");
	model = jobs[0]->job->holder ? jobs[0] : jobs[1]->job->holder ? jobs[1] : jobs[2];
	world_unload();
	EXPECT(model->low == model->own_low, "memory.low is %llu MiB", model->low / MIB);
}

/* It is chosen anew for other jobs, and what holds is undone meanwhile. */
static void other_jobs_get_a_fresh_look(void)
{
	u64 since;

	begin_token();
	NEED(wait_until(is_protected, NULL, 20 * SECOND) < 20 * SECOND, "none holds");
	since = chosen()->since;
	host_end_job(jobs[2]);
	jobs[2] = host_add(3 * GIB, 0, 0);
	EXPECT(wait_for(MTS_POLICY_NONE, 5 * SECOND) < 5 * SECOND, "policy %u since %llu s",
	       chosen()->policy, (machine_now() - since) / SECOND);
	world_unload();
}

static void a_shadow_chooses_and_does_nothing(void)
{
	u32 i;

	begin_thrashing(MTS_MODE_SHADOW, 100, 10000);
	bar_turns();
	EXPECT(wait_for(MTS_POLICY_TOKEN, SOON_NS) < SOON_NS, "policy %u", chosen()->policy);
	for (i = 0; i < 30; i++) {
		machine_sleep(SECOND);
		EXPECT(mts_rotor.phase.reason == MTS_REASON_SHADOW, "reason %u",
		       mts_rotor.phase.reason);
		EXPECT(chosen()->of[MTS_POLICY_TOKEN].how != MTS_GIVES_MEASURED, "it is measured");
	}
	EXPECT(!mts_stats_read(holdings), "%llu holdings", mts_stats_read(holdings));
	world_unload();
}

/* mode=always asks for turns, whatever they cost. */
static void by_the_users_word_it_is_turns(void)
{
	begin_thrashing(MTS_MODE_ALWAYS, 0, 10000);
	machine_sleep(2 * SECOND);
	EXPECT(chosen()->policy == MTS_POLICY_TURNS && mts_rotor.round.nbins >= 2,
	       "policy %u, %u bins", chosen()->policy, mts_rotor.round.nbins);
	world_unload();
}

/* Another policy that is configured has nothing of the choice. */
static void another_policy_ends_the_choice(void)
{
	struct mts_config none = config_of(MTS_MODE_AUTO);
	struct mts_policy_info info;

	begin_token();
	NEED(wait_until(is_protected, NULL, 20 * SECOND) < 20 * SECOND, "none holds");
	none.policy = MTS_POLICY_NONE;
	world_configure(&none);
	expect_restored("policy=none");
	mts_auto_info(&info);
	EXPECT(info.policy == MTS_POLICY_NONE && !info.since_ns && !info.of[0].how &&
		       !info.of[3].how,
	       "policy %u", info.policy);
	world_unload();
}

const struct a_case auto_cases[] = {
	CASE(while_all_fits_none_is_chosen),
	CASE(turns_are_chosen_where_they_give_most),
	CASE(a_trial_is_bounded),
	CASE(a_policy_that_helps_stays),
	CASE(mode_off_restores_all),
	CASE(unload_restores_all),
	CASE(other_jobs_get_a_fresh_look),
	CASE(a_shadow_chooses_and_does_nothing),
	CASE(by_the_users_word_it_is_turns),
	CASE(another_policy_ends_the_choice),
	{ 0 },
};

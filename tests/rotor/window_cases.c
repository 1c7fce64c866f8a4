// SPDX-License-Identifier: GPL-2.0
/*
 * Faults of what decides about turns: verdicts, what was learned, and what it was learned from.
 * Issue "Window" replaces these decisions, and mends them.
 */
#include "cases.h"

#include "context/virtual/machine.h"
#include "events/stats.h"
#include "events/wake.h"
#include "jobs/freezer.h"
#include "rotor/state.h"
#include "rotor/turn.h"
#include "world.h"

static bool has_turns(void *unused)
{
	return mts_rotor.round.nbins >= 2;
}

static bool has_no_turns(void *unused)
{
	return !has_turns(NULL);
}

static bool holds(void *unused)
{
	return mts_rotor.phase.reason == MTS_REASON_SLOW_SWAP ||
	       mts_rotor.phase.reason == MTS_REASON_NO_GAIN;
}

/* ---- verdicts ----------------------------------------------------------------------------- */

/* They need twice the memory, and wait for their pages one by one. */
static void add_thrashing_jobs(struct model **jobs)
{
	u32 i;

	for (i = 0; i < 3; i++)
		jobs[i] = host_add(5 * GIB, 0, 0);
}

/* Without a verdict: what the next two are compared with. */
static void jobs_that_thrash_take_turns(void)
{
	struct model *jobs[3];
	u64 took;

	case_begin(&usual_host, MTS_MODE_AUTO);
	add_thrashing_jobs(jobs);
	took = wait_until(has_turns, NULL, 60 * SECOND);
	EXPECT(took < 20 * SECOND, "no turns after %llu ms", took / MS);
	world_unload();
}

static void expect_turns_of_other_jobs(struct model **jobs, u32 n)
{
	struct model *others[3];
	u64 took;

	NEED(holds(NULL), "reason %u", mts_rotor.phase.reason);
	while (n)
		host_end_job(jobs[--n]);
	machine_sleep(SECOND);
	add_thrashing_jobs(others);
	took = wait_until(has_turns, NULL, 60 * SECOND);
	EXPECT(took < 20 * SECOND, "turns of other jobs begin after %llu ms", took / MS);
	world_unload();
}

/* So many bins that each job would be frozen for too long. */
static void slow_swap_outlives_its_jobs(void)
{
	static struct model *jobs[200];
	struct host busy = usual_host;
	u32 i;

	busy.swap = 2048 * GIB;
	busy.swapin_every_ns = 2 * MS;
	busy.reclaims = true;
	case_begin(&busy, MTS_MODE_AUTO);
	for (i = 0; i < ARRAY_SIZE(jobs); i++) {
		jobs[i] = host_add(2 * MIB, 0, 0);
		jobs[i]->resident = jobs[i]->size;
		jobs[i]->swap = 5 * GIB;
		host.swap_used += jobs[i]->swap;
	}
	mts_wake_rotor(MTS_ROTOR_EV_RECLAIM);
	wait_until(holds, NULL, 10 * SECOND);
	expect_turns_of_other_jobs(jobs, ARRAY_SIZE(jobs));
}

/* As soon as these take turns they hardly run. */
static void no_gain_outlives_its_jobs(void)
{
	struct model *jobs[3];
	u32 i;

	case_begin(&usual_host, MTS_MODE_AUTO);
	add_thrashing_jobs(jobs);
	NEED(wait_until(has_turns, NULL, 60 * SECOND) < 60 * SECOND, "no turns");
	for (i = 0; i < 3; i++)
		jobs[i]->runs = 1;
	wait_until(holds, NULL, 600 * SECOND);
	expect_turns_of_other_jobs(jobs, ARRAY_SIZE(jobs));
}

/* Beside them others come and go all the time: each is a fifth of all that is needed. */
static void jobs_that_come_and_go_are_no_other_jobs(void)
{
	struct model *jobs[3], *other;
	u64 rounds;
	u32 i;

	case_begin(&usual_host, MTS_MODE_AUTO);
	add_thrashing_jobs(jobs);
	NEED(wait_until(has_turns, NULL, 60 * SECOND) < 60 * SECOND, "no turns");
	for (i = 0; i < 3; i++)
		jobs[i]->runs = 1;
	NEED(wait_until(holds, NULL, 600 * SECOND) < 600 * SECOND, "turns go on");
	rounds = mts_stats_read(rounds);
	for (i = 0; i < 40; i++) {
		other = host_add(4 * GIB, 0, 0);
		other->resident = GIB;
		other->swap = 3 * GIB;
		host.swap_used += other->swap;
		machine_sleep(8 * SECOND);
		host_end_job(other);
		machine_sleep(7 * SECOND);
	}
	rounds = mts_stats_read(rounds) - rounds;
	EXPECT(rounds < 20, "%llu rounds in ten minutes that turns do not pay for", rounds);
	world_unload();
}

/* They hardly run in their turns, and each round is cut short. */
static void rounds_that_are_cut_short_are_judged(void)
{
	struct model *jobs[3];
	u32 i;

	case_begin(&usual_host, MTS_MODE_AUTO);
	add_thrashing_jobs(jobs);
	NEED(wait_until(has_turns, NULL, 60 * SECOND) < 60 * SECOND, "no turns");
	for (i = 0; i < 3; i++)
		jobs[i]->runs = 1;
	for (i = 0; i < 200 && !holds(NULL); i++) {
		machine_sleep(3 * SECOND);
		host_advance();
		/* As a job that is pinned does. */
		mts_wake_rotor(MTS_ROTOR_EV_CONFIG);
	}
	EXPECT(holds(NULL), "they take turns for ten minutes, in %llu rounds",
	       mts_stats_read(rounds));
	world_unload();
}

/* ---- what was learned --------------------------------------------------------------------- */

static void a_slow_disk_is_believed_for_ever(void)
{
	struct host slow = usual_host;
	struct model *jobs[3];
	u32 i;

	slow.bulk_ns = 60000;
	slow.request_ns = 5 * MS;
	case_begin(&slow, MTS_MODE_ALWAYS);
	for (i = 0; i < 3; i++)
		jobs[i] = host_add(5 * GIB, 0, 0);
	machine_sleep(600 * SECOND);
	NEED(mts_rotor_disk_is_slow(), "the disk is not slow");
	for (i = 0; i < 3; i++)
		host_end_job(jobs[i]);
	host.bulk_ns = 2000;
	machine_sleep(3600 * SECOND);
	EXPECT(!mts_rotor_disk_is_slow(), "an hour later it is slow");
	world_unload();
}

static bool runs_a_full_bin(void *unused)
{
	return mts_rotor.phase.state == MTS_STATE_RUNNING &&
	       mts_rotor.round.bins[mts_rotor.phase.running].jobs > 1 &&
	       machine_now() - mts_rotor.phase.slice_began > 2 * SECOND;
}

static bool is_swap_full(void *unused)
{
	return mts_rotor_is_swap_full();
}

/* Four jobs, of which two fit. A bin of two runs. */
static void begin_pairs(struct model **jobs, const struct host *given)
{
	struct mts_config config = config_of(MTS_MODE_ALWAYS);
	u32 i;

	case_begin(given, MTS_MODE_ALWAYS);
	config.demand = MTS_DEMAND_ALLOCATED;
	world_configure(&config);
	for (i = 0; i < 4; i++) {
		jobs[i] = host_add(3200 * MIB, 0, 0);
		/* Two of them are in memory. */
		jobs[i]->resident = i < 2 ? jobs[i]->size : 0;
		jobs[i]->swap = jobs[i]->size - jobs[i]->resident;
		host.swap_used += jobs[i]->swap;
	}
	NEED(wait_until(has_turns, NULL, 60 * SECOND) < 60 * SECOND, "no turns");
	machine_sleep(120 * SECOND);
	NEED(wait_until(runs_a_full_bin, NULL, 120 * SECOND) < 120 * SECOND, "no bin of two jobs");
}

/* Two seconds in which 3 GiB come from swap. @jobs: it is those that run; NULL: it is no job. */
static void swap_in(struct model **jobs)
{
	const u64 pages = (GIB >> PAGE_SHIFT) * 3 / 20;
	u32 tick, i;

	for (tick = 0; tick < 20; tick++) {
		for (i = 0; jobs && i < 4; i++)
			if (jobs[i]->job->runs)
				jobs[i]->refaults += pages / 2;
		host.swapins += pages;
		host.last_reclaim = machine_now();
		machine_sleep(100 * MS);
	}
}

static void expect_no_lesson(void)
{
	EXPECT(!mts_rotor.fit.lesson.capacity_ceiling, "the capacity falls below %llu MiB",
	       mts_rotor.fit.lesson.capacity_ceiling / MIB);
	world_unload();
}

/* For a while something that is no job has memory that it does not give back, unseen. */
static void a_lesson_of_the_capacity_lasts(void)
{
	struct host quick = usual_host;
	struct model *jobs[4];
	u64 before, after;

	quick.bulk_ns = 2000;
	begin_pairs(jobs, &quick);
	before = mts_rotor.round.plan.capacity;
	swap_in(jobs);
	machine_sleep(60 * SECOND);
	NEED(mts_rotor.round.plan.capacity < before, "nothing was learned");
	machine_sleep(1200 * SECOND);
	after = mts_rotor.round.plan.capacity;
	EXPECT(after >= before - before / 64, "20 minutes later the capacity is %llu MiB of %llu",
	       after / MIB, before / MIB);
	NEED(wait_until(runs_a_full_bin, NULL, 120 * SECOND) < 120 * SECOND, "no bin of two jobs");
	world_unload();
}

static void swapins_of_others_lower_the_capacity(void)
{
	struct host quick = usual_host;
	struct model *jobs[4];

	quick.bulk_ns = 2000;
	begin_pairs(jobs, &quick);
	swap_in(NULL);
	expect_no_lesson();
}

/* The watchdog has thawed a job: it has memory that the plan gave to the running bin. */
static void an_overdue_job_lowers_the_capacity(void)
{
	struct host quick = usual_host;
	struct model *jobs[4];
	u32 i;

	quick.bulk_ns = 2000;
	begin_pairs(jobs, &quick);
	for (i = 0; jobs[i]->job->runs; i++)
		;
	jobs[i]->job->overdue = true;
	mts_freezer_thaw(jobs[i]->job);
	swap_in(jobs);
	expect_no_lesson();
}

/* What is to leave stays in memory: there is too little room for a bin of any size. */
static void a_full_swap_lowers_the_capacity(void)
{
	struct host quick = usual_host;
	struct model *jobs[4];

	quick.bulk_ns = 2000;
	begin_pairs(jobs, &quick);
	host.swap = host.swap_used + 256 * MIB;
	NEED(wait_until(is_swap_full, NULL, 60 * SECOND) < 60 * SECOND, "swap is not full");
	NEED(wait_until(runs_a_full_bin, NULL, 60 * SECOND) < 60 * SECOND, "no bin of two jobs");
	swap_in(jobs);
	expect_no_lesson();
}

/* Turns of small bins, and then of large ones on the same disk. */
static void a_switch_costs_what_small_ones_did(void)
{
	struct mts_config config = config_of(MTS_MODE_ALWAYS);
	struct model *jobs[3];
	u64 planned;
	u32 i;

	case_begin(&usual_host, MTS_MODE_ALWAYS);
	config.bin_bytes = 256 * MIB;
	world_configure(&config);
	for (i = 0; i < 3; i++)
		jobs[i] = host_add(200 * MIB, 0, 0);
	machine_sleep(120 * SECOND);
	NEED(mts_rotor.costs.switches.mean_ns, "no switch was measured");
	for (i = 0; i < 3; i++)
		host_end_job(jobs[i]);
	config.bin_bytes = 0;
	world_configure(&config);
	NEED(wait_until(has_no_turns, NULL, 60 * SECOND) < 60 * SECOND, "turns go on");
	for (i = 0; i < 2; i++)
		host_add(6 * GIB, 0, 0);
	NEED(wait_until(has_turns, NULL, 60 * SECOND) < 60 * SECOND, "no turns");
	planned = (mts_rotor.round.plan.round_ns - mts_rotor.round.plan.run_ns) /
		  mts_rotor.round.nbins;
	/* 6 GiB out and in, at 400 MB/s. */
	EXPECT(planned > 10 * SECOND, "a switch that takes 32 s is planned with %llu ms",
	       planned / MS);
	world_unload();
}

/*
 * Eight jobs of 128 MiB that may have 512 MiB, on a host that has memory for all. Each lacks
 * nothing, so that nothing was evicted for it.
 */
static void groups_hold_no_more_than_bin(void)
{
	struct mts_config config = config_of(MTS_MODE_ALWAYS);
	struct model *jobs[8];
	u64 held = 0;
	u32 i;

	case_begin(&usual_host, MTS_MODE_ALWAYS);
	for (i = 0; i < ARRAY_SIZE(jobs); i++)
		jobs[i] = host_add(128 * MIB, 0, 0);
	config.bin_bytes = 512 * MIB;
	config.evict = MTS_EVICT_FULL;
	config.demand = MTS_DEMAND_ALLOCATED;
	config.step = 1;
	world_configure(&config);
	NEED(wait_until(has_turns, NULL, 60 * SECOND) < 60 * SECOND, "no turns");
	machine_sleep(60 * SECOND);
	NEED(mts_rotor.round.plan.overlaps, "bins do not overlap");
	for (i = 0; i < ARRAY_SIZE(jobs); i++)
		held += jobs[i]->resident;
	EXPECT(held <= 576 * MIB, "the jobs have %llu MiB in memory", held / MIB);
	world_unload();
}

/* ---- whose turn it is ---------------------------------------------------------------------- */

static bool has_a_bin(void *model)
{
	return ((struct model *)model)->job->bin < mts_rotor.round.nbins;
}

/* Each job has a place in the order of eviction, and no two groups that wait have the same. */
static void expect_places(void)
{
	u32 i, j;

	for (i = 0; i < mts_rotor.roster.n; i++) {
		const struct mts_job *job = mts_rotor.roster.jobs[i];

		EXPECT(mts_turn_rank(job) < mts_rotor.round.nbins, "%s has place %u of %u",
		       job->name, mts_turn_rank(job), mts_rotor.round.nbins);
		for (j = 0; j < i && !job->runs; j++) {
			const struct mts_job *other = mts_rotor.roster.jobs[j];

			EXPECT(other->runs || other->bin == job->bin ||
				       mts_turn_rank(other) != mts_turn_rank(job),
			       "%s and %s have the same place", job->name, other->name);
		}
	}
}

/* Overlapping bins: the groups of an earlier round were more, and others. */
static void a_group_that_comes_has_the_place_of_an_old_one(void)
{
	struct mts_config config = config_of(MTS_MODE_ALWAYS);
	struct model *small[24], *newcomer;
	struct host quick = usual_host;
	u32 i;

	quick.bulk_ns = 2000;
	case_begin(&quick, MTS_MODE_ALWAYS);
	config.step = 64;
	world_configure(&config);
	for (i = 0; i < 8; i++)
		host_add(1200 * MIB, 0, 0);
	for (i = 0; i < ARRAY_SIZE(small); i++)
		small[i] = host_add(100 * MIB, 0, 0);
	NEED(wait_until(has_turns, NULL, 60 * SECOND) < 60 * SECOND, "no turns");
	machine_sleep(120 * SECOND);
	NEED(mts_rotor.round.plan.overlaps && mts_rotor.round.nbins > 20, "%u groups",
	     mts_rotor.round.nbins);
	for (i = 0; i < ARRAY_SIZE(small); i++)
		host_end_job(small[i]);
	machine_sleep(120 * SECOND);
	for (i = 0; i < ARRAY_SIZE(small); i++) {
		newcomer = host_add(500 * MIB, 0, 0);
		NEED(newcomer, "no more jobs");
		NEED(wait_until(has_a_bin, newcomer, 60 * SECOND) < 60 * SECOND, "no bin");
		expect_places();
	}
	world_unload();
}

/* ---- what is decided by ------------------------------------------------------------------- */

/* Memory is short, and a request takes the disk 5 ms. */
static struct host slow_host(void)
{
	struct host slow = usual_host;

	slow.bulk_ns = 60000;
	slow.request_ns = 5 * MS;
	slow.reclaims = true;
	return slow;
}

/*
 * Jobs had four processors while the host reclaimed, minutes ago. Others get one of them, and then
 * fill the memory in front of a slow disk.
 */
static void early_turns_are_judged_by_other_times(void)
{
	struct host slow = slow_host();
	struct model *jobs[4];
	u64 took;
	u32 i;

	case_begin(&slow, MTS_MODE_AUTO);
	for (i = 0; i < 4; i++) {
		jobs[i] = host_add(64 * MIB, 0, 0);
		jobs[i]->resident = jobs[i]->size;
	}
	machine_sleep(20 * SECOND);
	NEED(mts_rotor.admission.past.share > 3500, "share %llu", mts_rotor.admission.past.share);
	host.reclaims = false;
	for (i = 0; i < 4; i++)
		host_end_job(jobs[i]);
	machine_sleep(120 * SECOND);
	for (i = 0; i < 4; i++) {
		jobs[i] = host_add(5 * GIB, 0, 0);
		jobs[i]->runs = 250;
	}
	took = wait_until(has_turns, NULL, 60 * SECOND);
	NEED(took < 60 * SECOND && mts_stats_read(early_begins), "no early turns");
	EXPECT(mts_rotor.admission.past.before < 1500,
	       "four jobs that run for a quarter of the time are expected to get %llu per mille",
	       mts_rotor.admission.past.before);
	world_unload();
}

/*
 * Jobs without a terminal fill the memory in front of a slow disk, and may be frozen for long. The
 * first round is not planned anew as if all of them had what they need.
 */
static void jobs_without_a_terminal_begin_turns_early(void)
{
	struct host slow = slow_host();
	u64 took;
	u32 i;

	slow.unattended = true;
	case_begin(&slow, MTS_MODE_AUTO);
	for (i = 0; i < 24; i++)
		host_add(1 * GIB, 0, 0)->unattended = true;
	took = wait_until(has_turns, NULL, 60 * SECOND);
	NEED(mts_stats_read(early_begins), "no early turns");
	EXPECT(took < 60 * SECOND, "no turns in the round that is to be the first one");
	world_unload();
}

/*
 * Jobs fault in from a slow disk what they had, as memory is full. Nothing is new, and the storm is
 * there: the admission decides, by what the jobs lose.
 */
static void what_comes_back_from_swap_is_no_growth(void)
{
	struct host slow = slow_host();
	u32 i;

	case_begin(&slow, MTS_MODE_AUTO);
	for (i = 0; i < 4; i++) {
		struct model *job = host_add(2 * GIB + 512 * MIB, 0, 0);

		job->resident = 2 * GIB - 150 * MIB;
		job->swap = job->size - job->resident;
		host.swap_used += job->swap;
	}
	machine_sleep(4 * SECOND);
	EXPECT(!mts_stats_read(early_begins), "%llu pages came back, and the jobs were stopped",
	       host.swapins);
	EXPECT(host.swapins > 1000, "%llu pages came back", host.swapins);
	world_unload();
}

/* To measure all jobs takes 0.8 s of a processor. Since then one has grown. */
static void the_first_plan_has_old_demands(void)
{
	struct host busy = usual_host;
	struct model *jobs[40];
	u64 has, demand;
	u32 i;

	busy.memory = 64 * GIB;
	busy.swap = 256 * GIB;
	busy.swapin_every_ns = 2 * MS;
	busy.reclaims = true;
	busy.measuring_ns = 200 * MS;
	case_begin(&busy, MTS_MODE_AUTO);
	for (i = 0; i < 40; i++) {
		jobs[i] = host_add(512 * MIB, 0, 0);
		jobs[i]->resident = jobs[i]->size;
		jobs[i]->swap = 2 * GIB;
		host.swap_used += jobs[i]->swap;
	}
	jobs[0]->swap = 0;
	mts_wake_rotor(MTS_ROTOR_EV_RECLAIM);
	machine_sleep(40 * SECOND);
	NEED(mts_rotor.phase.reason == MTS_REASON_COPES, "reason %u", mts_rotor.phase.reason);
	jobs[0]->size += 8 * GIB;
	machine_sleep(12 * SECOND);
	for (i = 0; i < 40; i++) {
		jobs[i]->runs = 100;
		jobs[i]->stalls = 500;
	}
	NEED(wait_until(has_turns, NULL, 60 * SECOND) < 60 * SECOND, "no turns");
	has = jobs[0]->resident + jobs[0]->swap;
	demand = jobs[0]->job->demand;
	EXPECT(demand >= has - has / 8, "a job of %llu MiB is planned as one of %llu MiB",
	       has / MIB, demand / MIB);
	world_unload();
}

/* A make, and its compiler, which is larger than the memory. */
static void a_job_that_waits_for_its_child_has_a_bin_of_its_own(void)
{
	struct model *parent, *child;
	u64 began, frozen;

	case_begin(&usual_host, MTS_MODE_ALWAYS);
	parent = host_add(50 * MIB, 0, 0);
	parent->awake = false;
	child = host_add(10 * GIB, 0, 0);
	child->job->parent = parent->job->id;
	machine_sleep(10 * SECOND);
	began = machine_now();
	frozen = child->job->frozen_total;
	machine_sleep(300 * SECOND);
	frozen = child->job->frozen_total - frozen;
	EXPECT(frozen < (machine_now() - began) / 50, "of 300 s the child was frozen for %llu ms",
	       frozen / MS);
	world_unload();
}

/* It sleeps; the three others take turns. */
static struct model *a_server_beside_jobs_that_work(u64 bytes)
{
	struct model *server = host_add(bytes, 0, 0);
	u32 i;

	server->awake = false;
	for (i = 0; i < 3; i++)
		host_add(3 * GIB, 0, 0);
	return server;
}

static void a_job_that_sleeps_runs_in_every_bin_until_it_wakes(void)
{
	struct model *server;
	u64 frozen;

	case_begin(&usual_host, MTS_MODE_ALWAYS);
	server = a_server_beside_jobs_that_work(100 * MIB);
	NEED(wait_until(has_turns, NULL, 60 * SECOND) < 60 * SECOND, "no turns");
	machine_sleep(60 * SECOND);
	frozen = server->job->frozen_total;
	machine_sleep(300 * SECOND);
	EXPECT(server->job->sleeps && server->job->frozen_total == frozen,
	       "it was frozen for %llu ms", (server->job->frozen_total - frozen) / MS);
	server->awake = true;
	NEED(wait_until(has_a_bin, server, 120 * SECOND) < 120 * SECOND, "it takes no turns");
	EXPECT(!server->job->sleeps, "it sleeps in bin %u", server->job->bin);
	world_unload();
}

/* It has more than a 32nd of the capacity: in every bin it would take that from all others. */
static void a_large_job_that_sleeps_takes_turns(void)
{
	struct model *server;

	case_begin(&usual_host, MTS_MODE_ALWAYS);
	server = a_server_beside_jobs_that_work(500 * MIB);
	NEED(wait_until(has_turns, NULL, 60 * SECOND) < 60 * SECOND, "no turns");
	machine_sleep(60 * SECOND);
	EXPECT(!server->job->sleeps && server->job->bin < mts_rotor.round.nbins,
	       "it has bin %u of %u", server->job->bin, mts_rotor.round.nbins);
	world_unload();
}

const struct a_case window_cases[] = {
	CASE(jobs_that_thrash_take_turns),
	CASE(slow_swap_outlives_its_jobs),
	CASE(no_gain_outlives_its_jobs),
	CASE(jobs_that_come_and_go_are_no_other_jobs),
	CASE(rounds_that_are_cut_short_are_judged),
	CASE(a_slow_disk_is_believed_for_ever),
	CASE(a_lesson_of_the_capacity_lasts),
	CASE(swapins_of_others_lower_the_capacity),
	CASE(an_overdue_job_lowers_the_capacity),
	CASE(a_full_swap_lowers_the_capacity),
	CASE(a_switch_costs_what_small_ones_did),
	CASE(groups_hold_no_more_than_bin),
	CASE(a_group_that_comes_has_the_place_of_an_old_one),
	CASE(early_turns_are_judged_by_other_times),
	CASE(jobs_without_a_terminal_begin_turns_early),
	CASE(what_comes_back_from_swap_is_no_growth),
	CASE(the_first_plan_has_old_demands),
	CASE(a_job_that_waits_for_its_child_has_a_bin_of_its_own),
	CASE(a_job_that_sleeps_runs_in_every_bin_until_it_wakes),
	CASE(a_large_job_that_sleeps_takes_turns),
	{ 0 },
};

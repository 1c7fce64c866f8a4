// SPDX-License-Identifier: GPL-2.0
/* Faults that are mended, and what the rotor does in plain situations. */
#include "cases.h"

#include "check.h"
#include "context/virtual/machine.h"
#include "events/stats.h"
#include "events/wake.h"
#include "host.h"
#include "jobs/interactive.h"
#include "jobs/thaw.h"
#include "rotor/state.h"
#include "world.h"

/* ---- freezing ----------------------------------------------------------------------------- */

static bool is_asked_to_freeze(void *model)
{
	return READ_ONCE(((struct model *)model)->job->frozen);
}

static bool is_given_up(void *model)
{
	return ((struct model *)model)->job->freeze_failures;
}

/* One job of several is stuck. Return: how long it was asked to freeze before it ran on. */
static u64 time_of_a_stuck_job(u32 others)
{
	struct model *stuck;
	u64 took;

	case_begin(&usual_host, MTS_MODE_ALWAYS);
	stuck = host_add(5 * GIB, 0, 0);
	stuck->stuck = true;
	while (others--)
		host_add(5 * GIB, 0, 0);
	took = wait_until(is_asked_to_freeze, stuck, 60 * SECOND);
	NEED(took < 60 * SECOND, "it was never asked to freeze");
	took = wait_until(is_given_up, stuck, 60 * SECOND);
	world_unload();
	return took;
}

static void a_job_that_does_not_freeze_runs_on_after_a_second(void)
{
	u64 took = time_of_a_stuck_job(1);

	EXPECT(took >= SECOND - 10 * MS && took < SECOND + 100 * MS, "after %llu ms", took / MS);
}

static void jobs_that_freeze_at_once_do_not_prolong_it(void)
{
	u64 took = time_of_a_stuck_job(3);

	EXPECT(took >= SECOND - 10 * MS && took < SECOND + 100 * MS, "after %llu ms", took / MS);
}

static bool is_near_its_end(void *unused)
{
	return mts_rotor.phase.state == MTS_STATE_RUNNING &&
	       mts_rotor.phase.slice_ends - machine_now() < 200 * MS;
}

static bool is_over(void *slice_ends)
{
	return mts_rotor.phase.state != MTS_STATE_RUNNING ||
	       mts_rotor.phase.slice_ends != *(u64 *)slice_ends;
}

/* A job for which no bin has room, as each is overfull, comes shortly before the end of a slice. */
static void a_newcomer_that_does_not_freeze_prolongs_no_slice(void)
{
	struct mts_config config = config_of(MTS_MODE_ALWAYS);
	struct host quick = usual_host;
	struct model *stuck;
	u64 ends, took;

	quick.bulk_ns = 2000;
	case_begin(&quick, MTS_MODE_ALWAYS);
	config.demand = MTS_DEMAND_ALLOCATED;
	world_configure(&config);
	host_add(7800 * MIB, 0, 0);
	host_add(7800 * MIB, 0, 0);
	machine_sleep(60 * SECOND);
	took = wait_until(is_near_its_end, NULL, 120 * SECOND);
	NEED(took < 120 * SECOND, "no slice");
	ends = mts_rotor.phase.slice_ends;
	stuck = host_add(GIB, 0, 0);
	stuck->stuck = true;
	NEED(wait_until(is_asked_to_freeze, stuck, 150 * MS) < 150 * MS, "it is not frozen");
	wait_until(is_over, &ends, 10 * SECOND);
	EXPECT(machine_now() < ends + 100 * MS, "the slice ends %llu ms late",
	       (machine_now() - ends) / MS);
	world_unload();
}

/* ---- do turns pay? ------------------------------------------------------------------------ */

static bool has_turns(void *unused)
{
	return mts_rotor.round.nbins >= 2;
}

/*
 * 64 jobs on 64 processors. They run for a third of the time, as they wait for something; and for
 * so many per mille of it for memory. Much of them is in swap.
 */
static void begin_64_processors(u32 stalls)
{
	const struct host large = {
		.memory = 64 * GIB,
		.swap = 256 * GIB,
		.processors = 64,
		.bulk_ns = 2000,
		.page_ns = 2000,
		.fault_ns = 20000,
		.swapin_every_ns = 2 * MS,
		.reclaims = true,
	};
	u32 i;

	case_begin(&large, MTS_MODE_AUTO);
	for (i = 0; i < 64; i++) {
		struct model *model = host_add(600 * MIB, 0, 0);

		model->resident = model->size;
		model->swap = 600 * MIB;
		model->runs = 333;
		model->stalls = stalls;
		host.swap_used += model->swap;
	}
	mts_wake_rotor(MTS_ROTOR_EV_RECLAIM);
}

static void stalls_are_a_part_of_what_could_run_on_64_processors(void)
{
	u64 took;

	begin_64_processors(5);
	took = wait_until(has_turns, NULL, 20 * SECOND);
	EXPECT(took >= 20 * SECOND, "each job stalls for 0.5 %%, and they take turns after %llu ms",
	       took / MS);
	world_unload();
}

static void stalls_of_a_fifth_begin_turns_on_64_processors(void)
{
	u64 took;

	begin_64_processors(200);
	took = wait_until(has_turns, NULL, 20 * SECOND);
	EXPECT(took < 5 * SECOND, "each job stalls for 20 %%, and they take no turns");
	world_unload();
}

/* Three jobs that sleep and are mostly in swap, on 4 processors. */
static void begin_sleepers(void)
{
	struct host busy = usual_host;
	u32 i;

	busy.swapin_every_ns = 2 * MS;
	busy.reclaims = true;
	case_begin(&busy, MTS_MODE_AUTO);
	for (i = 0; i < 3; i++) {
		struct model *model = host_add(1 * GIB, 0, 0);

		model->resident = model->size;
		model->swap = 6 * GIB;
		model->awake = false;
		host.swap_used += model->swap;
	}
	mts_wake_rotor(MTS_ROTOR_EV_RECLAIM);
	machine_sleep(3 * SECOND);
}

static void an_added_cgroup_brings_no_past(void)
{
	u64 until;

	begin_sleepers();
	host_add_with_past(64 * MIB, 1000 * SECOND);
	for (until = machine_now() + 5 * SECOND; machine_now() < until; machine_sleep(MS))
		EXPECT(mts_rotor.admission.past.share <= 4100,
		       "jobs of 4 processors get %llu per mille of one",
		       mts_rotor.admission.past.share);
	world_unload();
}

static void time_of_jobs_that_ended_counts(void)
{
	u64 until, sum = 0, n = 0;
	struct model *jobs[4] = { 0 };
	u32 i;

	begin_sleepers();
	for (until = machine_now() + 10 * SECOND; machine_now() < until; machine_sleep(100 * MS)) {
		host_advance();
		for (i = 0; i < ARRAY_SIZE(jobs); i++) {
			if (jobs[i])
				host_end_job(jobs[i]);
			jobs[i] = host_add(64 * MIB, 0, 0);
			jobs[i]->resident = jobs[i]->size;
		}
		/* Once windows are full of such jobs. */
		if (until - machine_now() < 7 * SECOND) {
			sum += mts_rotor.admission.past.share;
			n++;
		}
	}
	EXPECT(sum / n > 3900, "4 jobs that run all the time get %llu per mille of a processor",
	       sum / n);
	world_unload();
}

/* A pinned job takes all that a bin may hold, so that each other job gets a bin of its own. */
static void exempt_jobs_that_take_all_are_no_slow_swap(void)
{
	struct host busy = usual_host;
	struct model *pinned;
	u32 i;

	busy.swapin_every_ns = 2 * MS;
	busy.reclaims = true;
	case_begin(&busy, MTS_MODE_AUTO);
	pinned = host_add(7250 * MIB, MTS_JOB_PIN, 0);
	pinned->resident = pinned->size;
	for (i = 0; i < 200; i++) {
		struct model *model = host_add(2 * MIB, 0, 0);

		model->resident = model->size;
		model->swap = 62 * MIB;
		host.swap_used += model->swap;
	}
	mts_wake_rotor(MTS_ROTOR_EV_RECLAIM);
	machine_sleep(3 * SECOND);
	NEED(mts_rotor.phase.state == MTS_STATE_IDLE, "state %u", mts_rotor.phase.state);
	NEED(!mts_rotor.round.plan.capacity, "%llu bytes are left", mts_rotor.round.plan.capacity);
	EXPECT(mts_rotor.phase.reason != MTS_REASON_SLOW_SWAP, "the swap is said to be slow");
	EXPECT(mts_rotor.phase.reason == MTS_REASON_EXEMPT, "reason %u", mts_rotor.phase.reason);
	/* It is pinned no more: that is seen at once, not after the backoff. */
	mutex_lock(&mts_lock);
	WRITE_ONCE(pinned->job->flags, 0);
	mutex_unlock(&mts_lock);
	mts_wake_rotor(MTS_ROTOR_EV_JOBS);
	machine_sleep(3 * SECOND);
	EXPECT(mts_rotor.phase.reason != MTS_REASON_EXEMPT, "it is not pinned any more");
	world_unload();
}

/* ---- no turns ----------------------------------------------------------------------------- */

static bool is_measured(void *model)
{
	return ((struct model *)model)->job->demand;
}

static bool has_hung(void *unused)
{
	return !host.hangs[OP_USAGE];
}

/* To read memory.stat once takes half a minute. Then a job comes. */
static void expect_ears_after_a_hang(void)
{
	struct model *first, *second;
	u64 took;

	host.hangs[OP_USAGE] = 30 * SECOND;
	first = host_add(64 * MIB, 0, 0);
	took = wait_until(has_hung, NULL, 10 * SECOND);
	NEED(took < 10 * SECOND, "nothing was measured");
	wait_until(is_measured, first, 40 * SECOND);
	second = host_add(64 * MIB, 0, 0);
	took = wait_until(is_measured, second, 300 * SECOND);
	EXPECT(took < 5 * SECOND, "a job is measured %llu ms after it came", took / MS);
	world_unload();
}

static void a_hang_in_measuring_does_not_deafen_the_rotor(void)
{
	case_begin(&usual_host, MTS_MODE_AUTO);
	host_add(1 * GIB, 0, 0);
	host_add(1 * GIB, 0, 0);
	machine_sleep(5 * SECOND);
	expect_ears_after_a_hang();
}

static void nor_while_it_watches(void)
{
	begin_sleepers();
	NEED(mts_rotor.phase.reason == MTS_REASON_COPES, "reason %u", mts_rotor.phase.reason);
	expect_ears_after_a_hang();
}

/* ---- newcomers ---------------------------------------------------------------------------- */

static u64 measurings(void)
{
	u64 sum = 0;
	u32 state, what;

	for (state = 0; state < 8; state++)
		for (what = 0; what < MISHAPS; what++)
			sum += host_mishaps[OP_USAGE][state][what];
	return sum;
}

/* In a slice jobs come one after the other for which no bin has room. */
static void a_newcomer_without_room_is_measured_once(void)
{
	u64 before, n = 0;

	case_begin(&usual_host, MTS_MODE_ALWAYS);
	host_add(5 * GIB, 0, 0);
	host_add(5 * GIB, 0, 0);
	/* They grow no more, so that the slice is not over for that. */
	machine_sleep(300 * SECOND);
	while (mts_rotor.phase.state != MTS_STATE_RUNNING)
		machine_sleep(MS);
	before = measurings();
	while (n < 200 && mts_rotor.phase.state == MTS_STATE_RUNNING) {
		host_add(4 * GIB, 0, 0);
		n++;
		machine_sleep(10 * MS);
	}
	before = measurings() - before;
	NEED(n >= 100, "the slice ended after %llu jobs", n);
	EXPECT(before < 3 * n, "%llu jobs have come, and %llu times one was measured", n, before);
	world_unload();
}

/* mtsctl hooks watch learns from them what came and went between two of its looks. */
static void beginnings_and_stops_are_counted(void)
{
	struct mts_config always = config_of(MTS_MODE_ALWAYS), off = config_of(MTS_MODE_OFF);

	case_begin(&usual_host, MTS_MODE_OFF);
	host_add(5 * GIB, 0, 0);
	host_add(5 * GIB, 0, 0);
	machine_sleep(10 * SECOND);
	EXPECT(!mts_stats_read(begins), "turns began with mode=off");
	world_configure(&always);
	NEED(wait_until(has_turns, NULL, 60 * SECOND) < 60 * SECOND, "no turns");
	machine_sleep(300 * SECOND);
	NEED(mts_stats_read(rounds) > 2, "%llu rounds", mts_stats_read(rounds));
	EXPECT(mts_stats_read(begins) == 1, "turns began once, and %llu are counted",
	       mts_stats_read(begins));
	mts_thaw_and_stop(MTS_REASON_USER, "asked for");
	mts_thaw_and_stop(MTS_REASON_USER, "asked for again");
	machine_sleep(SECOND);
	EXPECT(mts_stats_read(stops) == 1, "%llu stops", mts_stats_read(stops));
	world_configure(&always);
	NEED(wait_until(has_turns, NULL, 60 * SECOND) < 60 * SECOND, "no turns after the stop");
	world_configure(&off);
	machine_sleep(SECOND);
	world_configure(&always);
	NEED(wait_until(has_turns, NULL, 60 * SECOND) < 60 * SECOND, "no turns after mode=off");
	EXPECT(mts_stats_read(begins) == 3, "turns began three times, and %llu are counted",
	       mts_stats_read(begins));
	EXPECT(mts_stats_read(stops) == 1, "%llu stops", mts_stats_read(stops));
	world_unload();
}

/* ---- protection --------------------------------------------------------------------------- */

#define PINNED (500 * MIB)

static bool is_protected(void *model)
{
	return ((struct model *)model)->low >= PINNED - PINNED / 8;
}

/* As `systemctl set-property` does: it writes all settings of a unit anew. */
static void reset(struct model *model)
{
	NEED(is_protected(model), "memory.low is %llu MiB", model->low / MIB);
	model->low = 0;
}

static bool has_a_slice_before_it(void *unused)
{
	return mts_rotor.phase.state == MTS_STATE_RUNNING &&
	       machine_now() + 30 * SECOND < mts_rotor.phase.slice_ends;
}

/* A slice may last for as long as a pause, and the host reclaims meanwhile. */
static void a_protection_that_others_reset_is_set_again(void)
{
	struct mts_config config = config_of(MTS_MODE_ALWAYS);
	struct model *pinned;
	u64 took;

	case_begin(&usual_host, MTS_MODE_ALWAYS);
	config.slice_ns = 100 * SECOND;
	config.max_pause_ns = 600 * SECOND;
	world_configure(&config);
	pinned = host_add(PINNED, MTS_JOB_PIN, 0);
	host_add(5 * GIB, 0, 0);
	host_add(5 * GIB, 0, 0);
	took = wait_until(has_a_slice_before_it, NULL, 300 * SECOND);
	NEED(took < 300 * SECOND, "no slice of half a minute");
	host.reclaims = true;
	reset(pinned);
	took = wait_until(is_protected, pinned, 30 * SECOND);
	EXPECT(took < 3 * SECOND, "it has no memory.low for %llu ms", took / MS);
	world_unload();
}

/* Until the host reclaims the protection is not needed. */
static void and_without_turns_when_the_host_reclaims(void)
{
	struct model *pinned;
	u64 took;

	case_begin(&usual_host, MTS_MODE_AUTO);
	pinned = host_add(PINNED, MTS_JOB_PIN, 0);
	pinned->resident = PINNED;
	host_add(1 * GIB, 0, 0);
	host_add(1 * GIB, 0, 0);
	machine_sleep(10 * SECOND);
	reset(pinned);
	machine_sleep(60 * SECOND);
	host.last_reclaim = machine_now();
	mts_wake_rotor(MTS_ROTOR_EV_RECLAIM);
	took = wait_until(is_protected, pinned, 10 * SECOND);
	EXPECT(took < SECOND, "it has no memory.low for %llu ms", took / MS);
	world_unload();
}

static bool has_unused_memory(void *model)
{
	return ((struct model *)model)->job->unused;
}

/* As `mtsctl pin`. */
static void pin(struct model *model)
{
	mutex_lock(&mts_lock);
	WRITE_ONCE(model->job->flags, MTS_JOB_PIN);
	mts_jobs_changed();
	mutex_unlock(&mts_lock);
	mts_wake_rotor(MTS_ROTOR_EV_JOBS);
	mts_wake_rotor(MTS_ROTOR_EV_CONFIG);
}

static bool is_protected_whole(void *model)
{
	return ((struct model *)model)->low == ((struct model *)model)->size;
}

/* It has no slices any more, so what its last one did not use would count as unused for ever. */
static void all_memory_of_a_pinned_job_is_protected(void)
{
	struct model *model = NULL;
	u32 i;

	case_begin(&usual_host, MTS_MODE_ALWAYS);
	/* The fourth job of this host uses a half of its memory (op_use_ends()). */
	for (i = 0; i < 4; i++)
		model = host_add(5 * GIB / 2, 0, 0);
	NEED(wait_until(has_unused_memory, model, 600 * SECOND) < 600 * SECOND,
	     "no slice tells what it uses");
	pin(model);
	EXPECT(wait_until(is_protected_whole, model, 120 * SECOND) < 120 * SECOND,
	       "memory.low is %llu MiB, of %llu", model->low / MIB, model->size / MIB);
	world_unload();
}

static bool has_a_part_of(const struct model *model, u64 weight)
{
	return mts_rotor.round.nbins >= 2 && model->weight == weight / mts_rotor.round.nbins;
}

/* A person types, until its weight is a part of that. Return: is it, within a minute? */
static bool type_until(struct model *model, u64 weight)
{
	u32 i;

	for (i = 0; i < 300 && !has_a_part_of(model, weight); i++) {
		rcu_read_lock();
		mts_interactive_give(model->job, 0);
		rcu_read_unlock();
		machine_sleep(200 * MS);
		host_advance();
	}
	return has_a_part_of(model, weight);
}

static bool has_200(void *model)
{
	return ((struct model *)model)->weight == 200;
}

/* cpu.weight of a job with input is its own by the number of bins, whichever is set when. */
static void a_weight_that_others_set_is_divided(void)
{
	struct model *editor;
	u32 i;

	case_begin(&usual_host, MTS_MODE_ALWAYS);
	editor = host_add(100 * MIB, 0, 0);
	for (i = 0; i < 3; i++)
		host_add(5 * GIB, 0, 0);
	NEED(wait_until(has_turns, NULL, 60 * SECOND) < 60 * SECOND, "no turns");
	NEED(type_until(editor, 100), "weight %llu", editor->weight);
	editor->weight = 200;
	EXPECT(type_until(editor, 200), "weight %llu", editor->weight);
	/* Without input the last value that others set is its own again. */
	EXPECT(wait_until(has_200, editor, 120 * SECOND) < 120 * SECOND, "weight %llu",
	       editor->weight);
	world_unload();
}

/* ---- all of them -------------------------------------------------------------------------- */

const struct a_case rotor_cases[] = {
	CASE(a_job_that_does_not_freeze_runs_on_after_a_second),
	CASE(jobs_that_freeze_at_once_do_not_prolong_it),
	CASE(a_newcomer_that_does_not_freeze_prolongs_no_slice),
	CASE(stalls_are_a_part_of_what_could_run_on_64_processors),
	CASE(stalls_of_a_fifth_begin_turns_on_64_processors),
	CASE(an_added_cgroup_brings_no_past),
	CASE(time_of_jobs_that_ended_counts),
	CASE(a_hang_in_measuring_does_not_deafen_the_rotor),
	CASE(nor_while_it_watches),
	CASE(exempt_jobs_that_take_all_are_no_slow_swap),
	CASE(a_newcomer_without_room_is_measured_once),
	CASE(beginnings_and_stops_are_counted),
	CASE(a_protection_that_others_reset_is_set_again),
	CASE(and_without_turns_when_the_host_reclaims),
	CASE(all_memory_of_a_pinned_job_is_protected),
	CASE(a_weight_that_others_set_is_divided),
	{ 0 },
};

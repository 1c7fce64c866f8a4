// SPDX-License-Identifier: GPL-2.0
/* The queue: which jobs are held before they begin, for how long, and what starts them. */
#include "cases.h"

#include "context/virtual/machine.h"
#include "events/stats.h"
#include "jobs/calls.h"
#include "jobs/freezer.h"
#include "jobs/interactive.h"
#include "jobs/thaw.h"
#include "rotor/state.h"
#include "world.h"

#define DAY (24 * 3600 * SECOND)

static bool is_held(const struct model *model)
{
	return READ_ONCE(model->job->held);
}

static bool has_begun(void *model)
{
	return !is_held(model);
}

static struct model *submit(u64 size)
{
	return host_submit(size, true, U64_MAX, DAY);
}

/* A job that fills most of the memory, and one in the queue behind it. */
static struct model *begin_with_one_held(u32 mode, u64 wait_ns)
{
	struct model *large, *held;

	case_begin(&usual_host, mode);
	large = host_add(6 * GIB, 0, 0);
	machine_sleep(10 * SECOND);
	host_advance();
	NEED(large->resident == 6 * GIB, "the large one has %llu MiB", large->resident / MIB);
	held = host_submit(4 * GIB, true, U64_MAX, wait_ns);
	machine_sleep(10 * SECOND);
	host_advance();
	NEED(is_held(held) && !held->resident, "it is not held");
	return held;
}

/* ---- which start --------------------------------------------------------------------------- */

/* Ten jobs that need 2 GiB each, in 8. Each ends 20 s after it has begun. */
static void ten_jobs_run_three_at_a_time_and_nothing_moves(void)
{
	struct model *jobs[10];
	u32 i, running, ended = 0, most = 0;
	u64 since[10] = { 0 }, began;

	case_begin(&usual_host, MTS_MODE_AUTO);
	began = machine_now();
	for (i = 0; i < 10; i++)
		jobs[i] = submit(2 * GIB);
	while (ended < 10) {
		machine_sleep(10 * MS);
		host_advance();
		NEED(machine_now() - began < 300 * SECOND, "%u jobs have ended after 300 s", ended);
		for (running = 0, i = 0; i < 10; i++) {
			if (!jobs[i] || is_held(jobs[i]))
				continue;
			since[i] = since[i] ?: machine_now();
			/* One that ends makes room for another one at once. */
			if (machine_now() - since[i] < 20 * SECOND) {
				running++;
				continue;
			}
			EXPECT(jobs[i]->resident == 2 * GIB, "it has %llu MiB",
			       jobs[i]->resident / MIB);
			host_end_job(jobs[i]);
			jobs[i] = NULL;
			ended++;
		}
		most = max(most, running);
	}
	EXPECT(most == 3, "%u have run at a time", most);
	EXPECT(!host.swapouts && !host.swapins, "%llu pages went out", host.swapouts);
	EXPECT(!mts_stats_read(rounds), "%llu rounds", mts_stats_read(rounds));
	for (i = 1; i < 10; i++)
		EXPECT(since[i] >= since[i - 1], "job %u has begun before the one before it", i);
	/* Four waves of 20 s. */
	EXPECT(machine_now() - began < 82 * SECOND, "it took %llu ms",
	       (machine_now() - began) / MS);
	world_unload();
}

static void a_small_job_passes_a_large_one(void)
{
	struct model *large, *small, *medium;

	large = begin_with_one_held(MTS_MODE_AUTO, DAY);
	/* 6 of 7.2 GiB are in use. When that job has ended, 4 and 0.5 fit, and 4 and 3.5 do not. */
	medium = submit(7 * GIB / 2);
	small = submit(512 * MIB);
	machine_sleep(3 * SECOND);
	EXPECT(!is_held(small), "the small one waits");
	EXPECT(is_held(large) && is_held(medium), "one has begun that does not fit");
	EXPECT(mts_stats_read(queue_passes) == 1, "%llu have passed", mts_stats_read(queue_passes));
	world_unload();
}

static void unknown_jobs_begin_when_the_last_one_has_grown(void)
{
	struct model *jobs[3];
	u64 took;
	u32 i;

	case_begin(&usual_host, MTS_MODE_AUTO);
	for (i = 0; i < 3; i++)
		jobs[i] = host_submit(3 * GIB, false, U64_MAX, DAY);
	took = wait_until(has_begun, jobs[0], SECOND);
	NEED(took < SECOND, "the first one waits");
	took = wait_until(has_begun, jobs[1], 60 * SECOND);
	/* It fills 3 GiB in 3 s, and shows for 10 s that it is full. */
	EXPECT(took > 10 * SECOND && took < 20 * SECOND, "the second begins after %llu ms",
	       took / MS);
	took = wait_until(has_begun, jobs[2], 60 * SECOND);
	EXPECT(took >= 60 * SECOND, "three of them do not fit, and the third one has begun");
	EXPECT(!host.swapouts, "%llu pages went out", host.swapouts);
	world_unload();
}

static void the_end_of_known_commands_foretells_the_start(void)
{
	struct model *held;
	u64 began, in;

	case_begin(&usual_host, MTS_MODE_AUTO);
	began = machine_now();
	host_submit(6 * GIB, true, 100 * SECOND, DAY);
	held = submit(4 * GIB);
	machine_sleep(20 * SECOND);
	EXPECT(held->job->queue_place == 1, "place %u", held->job->queue_place);
	in = held->job->starts_at - began;
	EXPECT(in > 99 * SECOND && in < 102 * SECOND, "foretold for %llu ms", in / MS);
	/* It runs for longer than it did: nothing can be foretold. */
	machine_sleep(90 * SECOND);
	EXPECT(is_held(held) && !held->job->starts_at, "foretold for %llu ms",
	       held->job->starts_at / MS);
	world_unload();
}

/* ---- what else starts it ------------------------------------------------------------------- */

static void it_begins_after_its_longest_wait(void)
{
	struct model *held = begin_with_one_held(MTS_MODE_ALWAYS, 100 * SECOND);
	u64 took = wait_until(has_begun, held, 200 * SECOND) + 10 * SECOND;

	EXPECT(took > 99 * SECOND && took <= 100 * SECOND, "after %llu ms", took / MS);
	EXPECT(mts_stats_read(queue_expired) == 1, "%llu", mts_stats_read(queue_expired));
	EXPECT(!mts_stats_read(overdue_thaws), "it counts as a missed turn");
	EXPECT(!held->job->frozen_total, "its wait counts as a pause");
	/* Then it takes turns. */
	machine_sleep(60 * SECOND);
	EXPECT(held->job->slices && mts_rotor.round.nbins == 2, "%llu slices, %u bins",
	       held->job->slices, mts_rotor.round.nbins);
	world_unload();
}

static void a_stop_starts_it(void)
{
	struct model *held = begin_with_one_held(MTS_MODE_AUTO, DAY);

	mts_thaw_and_stop(MTS_REASON_USER, "asked for");
	EXPECT(!is_held(held), "it is held after a stop");
	/* And none is held after that. */
	held = submit(4 * GIB);
	EXPECT(!is_held(held), "it is held while nothing may be frozen");
	world_unload();
}

static void mode_off_starts_it(void)
{
	struct model *held = begin_with_one_held(MTS_MODE_AUTO, DAY);
	struct mts_config off = config_of(MTS_MODE_OFF);

	world_configure(&off);
	EXPECT(!is_held(held), "it is held with mode=off");
	world_unload();
}

static void a_rotor_that_is_stuck_starts_it(void)
{
	struct model *held = begin_with_one_held(MTS_MODE_AUTO, DAY);
	u64 took;

	/* Else the stop is a breach. */
	host.last_foul = machine_now();
	host.hangs[OP_USAGE] = 60 * SECOND;
	took = wait_until(has_begun, held, 60 * SECOND);
	EXPECT(took < 15 * SECOND, "it is held for %llu ms after the rotor hung", took / MS);
	EXPECT(mts_gate_reason() == MTS_REASON_STALL, "reason %u", mts_gate_reason());
	world_unload();
}

/* The rotor has slept for an hour, without a promise. */
static void a_rotor_that_slept_is_not_stuck(void)
{
	struct model *held;

	case_begin(&usual_host, MTS_MODE_AUTO);
	host_add(6 * GIB, 0, 0);
	machine_sleep(3600 * SECOND);
	held = submit(4 * GIB);
	machine_sleep(60 * SECOND);
	EXPECT(!mts_gate_reason(), "reason %u", mts_gate_reason());
	EXPECT(is_held(held), "it has begun");
	world_unload();
}

static void out_of_memory_does_not_start_it(void)
{
	struct model *held = begin_with_one_held(MTS_MODE_AUTO, DAY);

	host_oom();
	machine_sleep(SECOND);
	EXPECT(is_held(held) && !mts_gate_reason(), "it has begun");
	world_unload();
}

static void input_does_not_start_it(void)
{
	struct model *held = begin_with_one_held(MTS_MODE_AUTO, DAY);
	u32 i;

	for (i = 0; i < 20; i++) {
		rcu_read_lock();
		mts_interactive_give(held->job, 0);
		rcu_read_unlock();
		machine_sleep(200 * MS);
	}
	EXPECT(is_held(held), "it has begun");
	world_unload();
}

static void ring(struct model *model, enum mts_call kind)
{
	const struct mts_caller by = { .pid = 77, .comm = "caller" };

	rcu_read_lock();
	if (kind == MTS_CALL_SIGNAL) {
		mts_calls_extend(&model->job->task_until, machine_now() / MS + 1000);
		mts_calls_ring(model->job, kind, &by);
	} else {
		mts_calls_seen(model->job, kind, &by);
	}
	rcu_read_unlock();
	machine_sleep(SECOND);
}

static void a_signal_starts_it_and_a_full_pipe_does_not(void)
{
	struct model *held = begin_with_one_held(MTS_MODE_AUTO, DAY);

	ring(held, MTS_CALL_WRITE);
	ring(held, MTS_CALL_LOCK);
	EXPECT(is_held(held), "it has begun");
	ring(held, MTS_CALL_SIGNAL);
	EXPECT(!is_held(held), "it is held");
	world_unload();
}

static void a_pin_starts_it(void)
{
	struct model *held = begin_with_one_held(MTS_MODE_AUTO, DAY);

	mutex_lock(&mts_lock);
	WRITE_ONCE(held->job->flags, held->job->flags | MTS_JOB_PIN);
	mutex_unlock(&mts_lock);
	EXPECT(wait_until(has_begun, held, 5 * SECOND) < 3 * SECOND, "it is held");
	world_unload();
}

/* ---- beside turns -------------------------------------------------------------------------- */

static void turns_end_although_a_job_is_held(void)
{
	struct model *jobs[2], *held;
	u64 took;

	case_begin(&usual_host, MTS_MODE_ALWAYS);
	jobs[0] = host_add(5 * GIB, 0, 0);
	jobs[1] = host_add(5 * GIB, 0, 0);
	machine_sleep(60 * SECOND);
	held = submit(5 * GIB);
	machine_sleep(60 * SECOND);
	NEED(mts_rotor.round.nbins == 2 && is_held(held), "%u bins", mts_rotor.round.nbins);
	host_end_job(jobs[0]);
	machine_sleep(30 * SECOND);
	EXPECT(!mts_rotor.round.nbins, "one job takes turns with itself");
	EXPECT(is_held(held), "it has begun, and does not fit");
	host_end_job(jobs[1]);
	took = wait_until(has_begun, held, 30 * SECOND);
	EXPECT(took < 3 * SECOND, "it begins %llu ms after the last other job has ended",
	       took / MS);
	world_unload();
}

const struct a_case queue_cases[] = {
	CASE(ten_jobs_run_three_at_a_time_and_nothing_moves),
	CASE(a_small_job_passes_a_large_one),
	CASE(unknown_jobs_begin_when_the_last_one_has_grown),
	CASE(the_end_of_known_commands_foretells_the_start),
	CASE(it_begins_after_its_longest_wait),
	CASE(a_stop_starts_it),
	CASE(mode_off_starts_it),
	CASE(a_rotor_that_is_stuck_starts_it),
	CASE(a_rotor_that_slept_is_not_stuck),
	CASE(out_of_memory_does_not_start_it),
	CASE(input_does_not_start_it),
	CASE(a_signal_starts_it_and_a_full_pipe_does_not),
	CASE(a_pin_starts_it),
	CASE(turns_end_although_a_job_is_held),
	{ 0 },
};

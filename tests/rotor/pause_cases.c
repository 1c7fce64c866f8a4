// SPDX-License-Identifier: GPL-2.0
/* How long jobs are frozen where the limit is automatic. */
#include "cases.h"

#include "context/virtual/machine.h"
#include "events/stats.h"
#include "rotor/state.h"
#include "world.h"

/* Longer than a round with the longest pauses, and so that several follow. */
#define RUN_NS (3600 * SECOND)

static struct model *jobs[6];
static u32 njobs;
static u64 overdue;

static struct model *add(u64 size, bool unattended)
{
	struct model *model = host_add(size, 0, 0);

	model->unattended = unattended;
	jobs[njobs++] = model;
	return model;
}

/* Each needs most of the memory, and 30 s to come in place of another one. */
static void begin(const struct mts_config *config, u32 attended)
{
	u32 i;

	njobs = 0;
	case_begin(&usual_host, config->mode);
	world_configure(config);
	for (i = 0; i < 4; i++)
		add(6 * GIB, i >= attended);
}

static void run(u64 ns)
{
	u32 i;

	/* Turns begin, and what a switch takes is known. */
	machine_sleep(300 * SECOND);
	overdue = mts_stats_read(overdue_thaws);
	for (i = 0; i < njobs; i++)
		jobs[i]->job->frozen_longest = 0;
	machine_sleep(ns);
	NEED(mts_rotor.round.nbins >= 2, "no turns");
}

static void expect_pauses(const struct model *model, u64 least, u64 most)
{
	u64 longest = model->job->frozen_longest;

	EXPECT(longest >= least && longest <= most, "%s was frozen for up to %llu ms",
	       model->job->name, longest / MS);
}

/* Of no other jobs: turns of a minute would be switches for most of the time. */
static void pauses_are_as_long_as_pays_for_jobs_without_terminal(void)
{
	const struct mts_config config = config_of(MTS_MODE_ALWAYS);
	u64 slices;
	u32 i;

	begin(&config, 0);
	slices = mts_stats_read(slice_ns);
	run(RUN_NS);
	for (i = 0; i < njobs; i++)
		expect_pauses(jobs[i], MTS_PAUSE_STRETCHED_NS, MTS_PAUSE_UNATTENDED_NS);
	EXPECT(mts_stats_read(overdue_thaws) == overdue, "the watchdog had to thaw %llu",
	       mts_stats_read(overdue_thaws) - overdue);
	slices = mts_stats_read(slice_ns) - slices;
	EXPECT(slices > RUN_NS / 2, "they run for %llu s of an hour", slices / SECOND);
	world_unload();
}

static void no_pause_is_long_if_all_are_attended(void)
{
	const struct mts_config config = config_of(MTS_MODE_ALWAYS);
	u32 i;

	begin(&config, 4);
	run(RUN_NS);
	for (i = 0; i < njobs; i++)
		expect_pauses(jobs[i], 0, MTS_PAUSE_STRETCHED_NS);
	world_unload();
}

/* Two switches of 25 s leave 10 s of a minute. */
static void jobs_run_where_two_switches_take_most_of_a_pause(void)
{
	u64 slices;
	u32 i;

	njobs = 0;
	case_begin(&usual_host, MTS_MODE_ALWAYS);
	for (i = 0; i < 4; i++)
		add(3 * GIB, false);
	run(1);
	slices = mts_stats_read(slice_ns);
	run(RUN_NS);
	slices = mts_stats_read(slice_ns) - slices;
	EXPECT(slices > RUN_NS / 10, "they run for %llu s of an hour", slices / SECOND);
	EXPECT(mts_stats_read(overdue_thaws) == overdue, "the watchdog had to thaw %llu",
	       mts_stats_read(overdue_thaws) - overdue);
	world_unload();
}

static void nor_if_the_user_sets_a_limit(void)
{
	struct mts_config config = config_of(MTS_MODE_ALWAYS);
	u32 i;

	config.max_pause_ns = 40 * SECOND;
	begin(&config, 0);
	run(RUN_NS);
	for (i = 0; i < njobs; i++)
		expect_pauses(jobs[i], 0, config.max_pause_ns);
	world_unload();
}

/* It has room beside the others, as the share of interactive jobs is. */
static void an_attended_job_among_others_is_frozen_as_ever(void)
{
	const struct mts_config config = config_of(MTS_MODE_ALWAYS);
	u32 i;

	begin(&config, 0);
	add(256 * MIB, false);
	run(RUN_NS);
	for (i = 0; i < 4; i++)
		expect_pauses(jobs[i], MTS_PAUSE_STRETCHED_NS, MTS_PAUSE_UNATTENDED_NS);
	expect_pauses(jobs[4], 0, MTS_PAUSE_STRETCHED_NS);
	world_unload();
}

/* It is not in every bin, which would leave the others a sixth of the memory. */
static void no_pause_is_long_where_an_attended_job_has_no_room(void)
{
	const struct mts_config config = config_of(MTS_MODE_ALWAYS);
	u32 i;

	begin(&config, 1);
	run(RUN_NS);
	EXPECT(jobs[0]->job->frozen_longest, "an attended job takes no turns");
	for (i = 0; i < njobs; i++)
		expect_pauses(jobs[i], 0, MTS_PAUSE_STRETCHED_NS);
	world_unload();
}

static void sleep_until_frozen_is(const struct model *model, bool frozen)
{
	u64 until = machine_now() + RUN_NS;

	while (READ_ONCE(model->job->frozen) != frozen && machine_now() < until)
		machine_sleep(10 * MS);
	NEED(READ_ONCE(model->job->frozen) == frozen, "it takes no turns");
}

/* A service opens its socket after its start. In which bin of the round it is differs. */
static void a_job_that_becomes_attended_in_its_slice_is_frozen_as_ever(void)
{
	const struct mts_config config = config_of(MTS_MODE_ALWAYS);
	u32 i, attended;

	begin(&config, 0);
	run(RUN_NS);
	for (i = 0; i < 4; i++)
		for (attended = 0; attended < 2; attended++) {
			struct model *model = add(3 * GIB, true);

			njobs--;
			sleep_until_frozen_is(model, true);
			sleep_until_frozen_is(model, false);
			model->unattended = !attended;
			model->job->frozen_longest = 0;
			sleep_until_frozen_is(model, true);
			machine_sleep(300 * SECOND);
			if (attended)
				expect_pauses(model, 0, MTS_PAUSE_STRETCHED_NS);
			host_remove(model);
		}
	world_unload();
}

static void an_attended_newcomer_is_frozen_as_ever(void)
{
	const struct mts_config config = config_of(MTS_MODE_ALWAYS);
	u32 i;

	begin(&config, 0);
	run(RUN_NS);
	for (i = 0; i < 20; i++) {
		struct model *model = add(i % 2 ? 256 * MIB : 3 * GIB, false);

		njobs--;
		machine_sleep(machine_around(200 * SECOND));
		expect_pauses(model, 0, MTS_PAUSE_STRETCHED_NS);
		host_remove(model);
	}
	world_unload();
}

const struct a_case pause_cases[] = {
	CASE(pauses_are_as_long_as_pays_for_jobs_without_terminal),
	CASE(no_pause_is_long_if_all_are_attended),
	CASE(nor_if_the_user_sets_a_limit),
	CASE(jobs_run_where_two_switches_take_most_of_a_pause),
	CASE(an_attended_job_among_others_is_frozen_as_ever),
	CASE(no_pause_is_long_where_an_attended_job_has_no_room),
	CASE(a_job_that_becomes_attended_in_its_slice_is_frozen_as_ever),
	CASE(an_attended_newcomer_is_frozen_as_ever),
	{ 0 },
};

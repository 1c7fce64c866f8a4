// SPDX-License-Identifier: GPL-2.0
/* Faults about limits of cgroups: memory.high, memory.max and memory.swap.max. */
#include "cases.h"

#include "context/virtual/machine.h"
#include "rotor/state.h"
#include "world.h"

/* Without a cure turns begin within 20 s. */
#define LOOKED_NS (60 * SECOND)

static bool has_turns(void *unused)
{
	return mts_rotor.round.nbins >= 2;
}

/*
 * Two jobs need 7 GiB and may have 5; with a third one of 1.5 GiB that fits. The host reclaims all
 * the time, as for a copy of a file.
 */
static void begin(struct model **jobs)
{
	struct host busy = usual_host;

	busy.reclaims = true;
	busy.limit_above = 5 * GIB;
	case_begin(&busy, MTS_MODE_AUTO);
	jobs[0] = host_add(7 * GIB / 2, 0, 0);
	jobs[1] = host_add(7 * GIB / 2, 0, 0);
	jobs[2] = host_add(3 * GIB / 2, 0, 0);
}

static void expect_no_turns(struct model **jobs)
{
	u64 took = wait_until(has_turns, NULL, LOOKED_NS);

	NEED(jobs[0]->refaults && jobs[1]->refaults, "the limits do not bind");
	EXPECT(took >= LOOKED_NS, "turns begin after %llu ms", took / MS);
	EXPECT(!mts_rotor.fit.lesson.capacity_ceiling, "the capacity falls to %llu MiB",
	       mts_rotor.fit.lesson.capacity_ceiling / MIB);
	world_unload();
}

static void jobs_at_their_own_limit_begin_no_turns(void)
{
	struct model *jobs[3];

	begin(jobs);
	jobs[0]->limit = 5 * GIB / 2;
	jobs[1]->limit = 5 * GIB / 2;
	expect_no_turns(jobs);
}

/* Two of them share a limit: the rest of what they need is in swap. */
static void begin_below_a_limit(struct model **jobs)
{
	u32 i;

	begin(jobs);
	for (i = 0; i < 2; i++) {
		jobs[i]->limit_above = true;
		jobs[i]->resident = 5 * GIB / 2;
		jobs[i]->swap = jobs[i]->size - jobs[i]->resident;
		host.swap_used += jobs[i]->swap;
	}
}

static void jobs_at_a_limit_above_begin_no_turns(void)
{
	struct model *jobs[3];

	begin_below_a_limit(jobs);
	expect_no_turns(jobs);
}

/* What they may have fits, so there is nothing to take turns for, however the host does. */
static void asked_for_what_limits_allow_fits(void)
{
	const struct mts_config always = config_of(MTS_MODE_ALWAYS);
	struct model *jobs[3];

	begin_below_a_limit(jobs);
	world_configure(&always);
	expect_no_turns(jobs);
}

/* The others do take turns, in what it leaves. */
static void a_job_without_swap_is_in_every_bin(void)
{
	struct model *job;

	case_begin(&usual_host, MTS_MODE_ALWAYS);
	job = host_add(2 * GIB, 0, 0);
	job->swap_limit = 0;
	host_add(4 * GIB, 0, 0);
	host_add(4 * GIB, 0, 0);
	NEED(wait_until(has_turns, NULL, LOOKED_NS) < LOOKED_NS, "no turns");
	machine_sleep(LOOKED_NS);
	EXPECT(!job->job->frozen && !job->job->frozen_total, "it was frozen for %llu ms",
	       job->job->frozen_total / MS);
	EXPECT(mts_rotor.round.plan.resident_demand >= 2 * GIB, "%llu MiB are taken off",
	       mts_rotor.round.plan.resident_demand / MIB);
	world_unload();
}

static void what_a_limit_of_swap_keeps_is_in_every_bin(void)
{
	struct model *job;

	case_begin(&usual_host, MTS_MODE_ALWAYS);
	job = host_add(2 * GIB, 0, 0);
	job->swap_limit = GIB;
	host_add(4 * GIB, 0, 0);
	host_add(4 * GIB, 0, 0);
	NEED(wait_until(has_turns, NULL, LOOKED_NS) < LOOKED_NS, "no turns");
	machine_sleep(LOOKED_NS);
	NEED(job->job->frozen || job->job->frozen_total, "it takes no turns");
	EXPECT(mts_rotor.round.plan.resident_demand >= GIB, "%llu MiB are taken off",
	       mts_rotor.round.plan.resident_demand / MIB);
	world_unload();
}

const struct a_case limit_cases[] = {
	CASE(jobs_at_their_own_limit_begin_no_turns),
	CASE(jobs_at_a_limit_above_begin_no_turns),
	CASE(asked_for_what_limits_allow_fits),
	CASE(a_job_without_swap_is_in_every_bin),
	CASE(what_a_limit_of_swap_keeps_is_in_every_bin),
	{ 0 },
};

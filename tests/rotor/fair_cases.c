// SPDX-License-Identifier: GPL-2.0
/* policy=fair: a job that swaps beyond its share is delayed, for moments, and no other. */
#include "cases.h"

#include "context/virtual/machine.h"
#include "policy/fair.h"
#include "rotor/state.h"
#include "world.h"

static struct model *jobs[3];

static bool is_sharing(void *unused)
{
	return mts_rotor.phase.state == MTS_STATE_SHARING;
}

static bool is_delayed(void *unused)
{
	return READ_ONCE(jobs[0]->job->frozen);
}

/* All thrash; the first waits with three threads, and so for three times as long. */
static struct mts_config begin(u32 mode)
{
	struct mts_config config = config_of(mode);
	struct host busy = usual_host;
	u32 i;

	busy.reclaims = true;
	config.policy = MTS_POLICY_FAIR;
	case_begin(&busy, MTS_MODE_OFF);
	for (i = 0; i < 3; i++) {
		jobs[i] = host_add(5 * GIB, 0, 0);
		jobs[i]->stalls = i ? 300 : 900;
	}
	world_configure(&config);
	return config;
}

static void begin_delays(void)
{
	begin(MTS_MODE_AUTO);
	NEED(wait_until(is_sharing, NULL, 60 * SECOND) < 60 * SECOND, "the policy does not act");
	NEED(wait_until(is_delayed, NULL, 60 * SECOND) < 60 * SECOND, "nobody is delayed");
}

static void only_who_swaps_too_much_is_delayed(void)
{
	u64 total, began;

	begin_delays();
	machine_sleep(30 * SECOND);
	total = jobs[0]->job->frozen_total;
	began = machine_now();
	machine_sleep(30 * SECOND);
	total = jobs[0]->job->frozen_total - total;
	EXPECT(total <= (machine_now() - began) * 51 / 100, "it was frozen for %llu of 30 s",
	       total / SECOND);
	EXPECT(total >= 5 * SECOND, "it was frozen for %llu of 30 s", total / SECOND);
	EXPECT(jobs[0]->job->frozen_longest <= MTS_FAIR_DELAY_NS + 10 * MS,
	       "it was frozen for %llu ms", jobs[0]->job->frozen_longest / MS);
	EXPECT(!jobs[1]->job->frozen_total && !jobs[2]->job->frozen_total, "others were frozen");
	EXPECT(!mts_rotor.round.nbins, "there are %u bins", mts_rotor.round.nbins);
	world_unload();
}

static void another_policy_ends_its_delay(void)
{
	struct mts_config config = config_of(MTS_MODE_AUTO);

	begin_delays();
	config.policy = MTS_POLICY_NONE;
	world_configure(&config);
	machine_sleep(200 * MS);
	EXPECT(!jobs[0]->job->frozen && !jobs[0]->job->delayed, "it is delayed still");
	machine_sleep(10 * SECOND);
	EXPECT(mts_rotor.phase.reason == MTS_REASON_POLICY, "reason %u", mts_rotor.phase.reason);
	EXPECT(!jobs[0]->job->frozen, "it is frozen");
	world_unload();
}

/* Nobody else waits any more, though they did seconds ago. */
static void nobody_is_delayed_for_nobody(void)
{
	u64 total;
	u32 i;

	begin_delays();
	for (i = 1; i < 3; i++) {
		jobs[i]->awake = false;
		host.swap_used -= jobs[i]->swap;
		jobs[i]->swap = 0;
		jobs[i]->size = jobs[i]->resident;
	}
	machine_sleep(SECOND);
	total = jobs[0]->job->frozen_total;
	machine_sleep(5 * SECOND);
	NEED(is_sharing(NULL), "the policy does not act");
	total = jobs[0]->job->frozen_total - total;
	EXPECT(!total, "it was frozen for %llu ms", total / MS);
	world_unload();
}

static void while_all_fits_it_does_not_act(void)
{
	struct mts_config config = config_of(MTS_MODE_AUTO);

	config.policy = MTS_POLICY_FAIR;
	case_begin(&usual_host, MTS_MODE_OFF);
	host_add(GIB, 0, 0);
	host_add(GIB, 0, 0);
	world_configure(&config);
	machine_sleep(30 * SECOND);
	EXPECT(mts_rotor.phase.state == MTS_STATE_IDLE && mts_rotor.phase.reason == MTS_REASON_FITS,
	       "state %u, reason %u", mts_rotor.phase.state, mts_rotor.phase.reason);
	world_unload();
}

const struct a_case fair_cases[] = {
	CASE(only_who_swaps_too_much_is_delayed),
	CASE(another_policy_ends_its_delay),
	CASE(nobody_is_delayed_for_nobody),
	CASE(while_all_fits_it_does_not_act),
	{ 0 },
};

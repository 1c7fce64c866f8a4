// SPDX-License-Identifier: GPL-2.0
/* Jobs with pause limits of their own: plans keep them, and the watchdog does. */
#include "guest.h"

#define STALL_PARAMETER "/sys/module/mts/parameters/debug_stall_ms"
/* The watchdog thaws a job a quarter of a second before its limit; a slow host takes its time. */
#define LATE_NS (300 * NS_PER_MS)

static u64 longest_pause(const struct hog *hog)
{
	struct mts_job_info job = job_named(hog->name);
	u64 now = now_ns();
	u64 under_way =
		job.frozen_since_ns && now > job.frozen_since_ns ? now - job.frozen_since_ns : 0;

	return under_way > job.frozen_longest_ns ? under_way : job.frozen_longest_ns;
}

static void expect_pauses_of(const struct hog *hog, u64 limit)
{
	u64 longest = longest_pause(hog);

	check(longest <= limit + LATE_NS, "%s was frozen for %llu ms, its limit is %llu ms: %s",
	      hog->name, (unsigned long long)(longest / NS_PER_MS),
	      (unsigned long long)(limit / NS_PER_MS), describe());
}

/* It is small: the others take turns, it does not. */
static void a_short_limit_makes_it_resident(void)
{
	static const unsigned int sizes[] = { 6, 24, 24 };
	const u64 limit = 2000 * NS_PER_MS;
	struct mts_stats before = get_stats();
	struct mts_status s;

	start_hogs(HOG_RANDOM, 3, sizes);
	pause_job(hogs[0].id, limit);
	rotate(40, 3000, MTS_EVICT_FULL);
	expect_rotation(2);
	wait_rounds(2);
	s = get_status();
	check(s.limited == 1 && !s.limited_by, "%u limited, by job %u: %s", s.limited, s.limited_by,
	      describe());
	expect(job_named("a").state, MTS_JOB_LIMITED);
	expect_pauses_of(&hogs[0], limit);
	/* For the others nothing has changed. */
	check(longest_pause(&hogs[1]) > limit && longest_pause(&hogs[2]) > limit, "%s", describe());
	check(get_stats().overdue_thaws == before.overdue_thaws, "%llu were thawed out of turn: %s",
	      get_stats().overdue_thaws - before.overdue_thaws, describe());

	/* Without the limit it takes its turns; a stop leaves nothing behind. */
	pause_job(hogs[0].id, 0);
	expect_soon(!get_status().limited && job_named("a").state != MTS_JOB_LIMITED, "%s",
		    describe());
	expect_soon(job_named("a").frozen_longest_ns > limit, "%s", describe());
	pause_job(hogs[0].id, limit);
	expect_soon(get_status().limited == 1, "%s", describe());
	expect(mts_ioctl(MTS_IOC_THAW, NULL), 0);
	expect_soon(!get_status().limited && job_named("a").state == MTS_JOB_RUNNING, "%s",
		    describe());
}

/* It is too large for the budget: the round is shorter, for all, and the status says for whom. */
static void beyond_the_budget_the_round_is_shortened(void)
{
	const u64 limit = 2000 * NS_PER_MS;
	struct mts_stats before = get_stats();
	struct mts_status s;
	u32 i;

	start_hogs(HOG_RANDOM, 3, three_equal);
	pause_job(hogs[1].id, limit);
	rotate(32, 5000, MTS_EVICT_OFF);
	expect_rotation(3);
	wait_rounds(4);
	s = get_status();
	check(s.limited_by == hogs[1].id && !s.limited, "%u limited, by job %u: %s", s.limited,
	      s.limited_by, describe());
	check(s.longest_pause_ns < limit, "a pause of %llu ms is planned",
	      s.longest_pause_ns / NS_PER_MS);
	check(s.max_pause_ns == 30000 * NS_PER_MS, "%llu ms for the others",
	      s.max_pause_ns / NS_PER_MS);
	for (i = 0; i < 3; i++)
		check(job_named(hogs[i].name).slices >= 3, "%s", describe());
	expect_pauses_of(&hogs[1], limit);
	/* By planning, not by force. */
	check(get_stats().overdue_thaws == before.overdue_thaws, "%llu were thawed out of turn: %s",
	      get_stats().overdue_thaws - before.overdue_thaws, describe());

	pause_job(hogs[1].id, 0);
	expect_soon(!get_status().limited_by && get_status().longest_pause_ns > 2 * limit,
		    "%llu ms: %s", get_status().longest_pause_ns / NS_PER_MS, describe());
}

/* The interactive share is none: there is no budget. */
static void without_a_budget_the_round_is_shortened(void)
{
	static const unsigned int sizes[] = { 6, 24, 24 };
	const u64 limit = 2000 * NS_PER_MS;

	start_hogs(HOG_RANDOM, 3, sizes);
	pause_job(hogs[0].id, limit);
	rotate(40, 5000, MTS_EVICT_OFF);
	set_config(&(struct mts_config){ .mask = MTS_CONFIG_INTERACTIVE, .interactive = 0 });
	expect_rotation(2);
	wait_rounds(3);
	check(get_status().limited_by == hogs[0].id && !get_status().limited, "%s", describe());
	expect_pauses_of(&hogs[0], limit);
}

/* Slices cannot be short enough: it is never frozen, and the others keep their slices. */
static void a_limit_that_no_slices_keep(void)
{
	const u64 limit = 1000 * NS_PER_MS;

	start_hogs(HOG_RANDOM, 3, three_equal);
	pause_job(hogs[2].id, limit);
	set_config(&(struct mts_config){
		.mask = MTS_CONFIG_ALL,
		.mode = MTS_MODE_ALWAYS,
		.evict = MTS_EVICT_OFF,
		.slice_ns = 3000 * NS_PER_MS,
		.bin_bytes = 32 * MIB,
		.min_slice_ns = 2000 * NS_PER_MS,
		.max_pause_ns = 30000 * NS_PER_MS,
		.interactive = MTS_DEFAULT_INTERACTIVE,
		.step = MTS_STEP_BIN,
	});
	expect_rotation(2);
	wait_rounds(2);
	expect(job_named("c").state, MTS_JOB_LIMITED);
	check(!get_status().limited_by, "%s", describe());
	expect_pauses_of(&hogs[2], limit);
	check(longest_pause(&hogs[0]) > limit, "%s", describe());
}

/* The rotor hangs: the watchdog thaws the job whose limit is over, and it alone. */
static void the_watchdog_keeps_the_limit_of_one_job(void)
{
	struct mts_stats before;
	struct hog *hog, *other;
	char left[16] = "";
	u32 i;

	start_hogs(HOG_RANDOM, 3, three_equal);
	rotate(32, 20000, MTS_EVICT_FULL);
	expect_rotation(3);
	expect_soon(get_status().frozen == 2, "%s", describe());
	hog = frozen_hog();
	for (other = NULL, i = 0; i < 3; i++) {
		struct mts_job_info job = job_named(hogs[i].name);

		if (&hogs[i] != hog && waits_for_its_turn(&job))
			other = &hogs[i];
	}
	check(other, "%s", describe());
	expect_within(5000, longest_pause(hog) > 1000 * NS_PER_MS, "%s", describe());
	before = get_stats();
	/* The rotor is missed after 3.25 s. */
	expect(write_file(STALL_PARAMETER, "2800"), 0);
	expect_within(1000, !read_file(STALL_PARAMETER, left, sizeof(left)) && !atoi(left),
		      "no stall");
	pause_job(hog->id, 1000 * NS_PER_MS);
	expect_within(500, !cg_freeze_asked(hog->cgroup), "%s", describe());
	check(cg_freeze_asked(other->cgroup), "%s", describe());
	check(get_stats().overdue_thaws == before.overdue_thaws + 1, "overdue_thaws %llu",
	      get_stats().overdue_thaws - before.overdue_thaws);
	hog_expect_progress(hog, 1000);
	/* And the rotation goes on: soon, as two rounds of long slices cost half a minute. */
	set_config(&(struct mts_config){ .mask = MTS_CONFIG_SLICE, .slice_ns = 1000 * NS_PER_MS });
	wait_rounds(2);
	check(get_status().state != MTS_STATE_STOPPED, "%s", describe());
	check(get_stats().failsafe_thaws == before.failsafe_thaws, "%s", describe());
}

/* It comes in the middle of a long slice, with a limit. */
static void a_newcomer_has_its_limit_at_once(void)
{
	const u64 limit = 1500 * NS_PER_MS;
	struct mts_stats before;
	struct hog late;

	start_hogs(HOG_RANDOM, 3, three_equal);
	rotate(32, 3000, MTS_EVICT_FULL);
	expect_rotation(3);
	expect_soon(get_status().frozen == 2, "%s", describe());
	before = get_stats();
	hog_start_nowait(&late, &(struct hog_spec){ .name = "late",
						    .mib = 3,
						    .kind = HOG_RANDOM,
						    .in_turns = true,
						    .max_pause_ns = limit });
	check(job_named("late").max_pause_ns == limit, "no limit");
	wait_rounds(2);
	check(get_status().limited == 1, "%s", describe());
	expect_pauses_of(&late, limit);
	check(get_stats().overdue_thaws == before.overdue_thaws, "%llu were thawed out of turn: %s",
	      get_stats().overdue_thaws - before.overdue_thaws, describe());
}

GUEST_TESTS(TEST(a_short_limit_makes_it_resident), TEST(beyond_the_budget_the_round_is_shortened),
	    TEST(without_a_budget_the_round_is_shortened), TEST(a_limit_that_no_slices_keep),
	    TEST(the_watchdog_keeps_the_limit_of_one_job), TEST(a_newcomer_has_its_limit_at_once));

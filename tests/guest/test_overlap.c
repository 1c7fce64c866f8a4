// SPDX-License-Identifier: GPL-2.0
/* Bins that overlap: groups of jobs come and go, and several run at a time. */
#include "guest.h"

/* So many MiB for bins, switches of so many. */
static void overlap(unsigned int bin_mib, unsigned int step_mib, unsigned int slice_ms,
		    unsigned int max_pause_ms)
{
	set_config(&(struct mts_config){
		.mask = MTS_CONFIG_ALL,
		.mode = MTS_MODE_ALWAYS,
		.evict = MTS_EVICT_AUTO,
		.slice_ns = slice_ms * NS_PER_MS,
		.bin_bytes = bin_mib * MIB,
		.min_slice_ns = 100 * NS_PER_MS,
		.max_pause_ns = max_pause_ms * NS_PER_MS,
		.overhead = 0,
		.interactive = MTS_DEFAULT_INTERACTIVE,
		.demand = MTS_DEMAND_ALLOCATED,
		.step = step_mib,
	});
}

static u32 count_running(u32 n, u64 *mib)
{
	struct mts_job_info jobs[16];
	u32 i, running = 0;

	get_jobs(jobs, n, NULL);
	*mib = 0;
	for (i = 0; i < n; i++) {
		running += jobs[i].state == MTS_JOB_RUNNING;
		*mib += jobs[i].state == MTS_JOB_RUNNING ? jobs[i].demand / MIB : 0;
	}
	return running;
}

/* The time that a job was not frozen since @since, in ms; up to its last finished freeze. */
static u64 had(const struct hog *hog, const struct mts_job_info *since, u64 elapsed_ms)
{
	u64 frozen = job_named(hog->name).frozen_total_ns - since->frozen_total_ns;

	return elapsed_ms - frozen / NS_PER_MS;
}

/* Eight jobs of which four fit: most of them run at any time, and in a switch, too. */
static void several_groups_run(void)
{
	static const unsigned int eight[] = { 7, 7, 7, 7, 7, 7, 7, 7 };
	struct mts_job_info before[8];
	u32 looks = 0, all = 0, least = 8, switching = 0, in_switches = 0, running, i;
	u64 began, mib, fewest = ~0ull, most = 0;

	start_hogs(HOG_RANDOM, 8, eight);
	overlap(32, 7, 4000, 30000);
	expect_within(5000, is_rotating(), "%s", describe());
	wait_rounds(1);
	get_jobs(before, 8, NULL);
	for (began = now_ms(); now_ms() < began + 30000; sleep_ms(20)) {
		u32 state = get_status().state;

		running = count_running(8, &mib);
		check(mib <= 36, "%llu of 32 MiB run: %s", (unsigned long long)mib, describe());
		all += running;
		looks++;
		if (state == MTS_STATE_RUNNING && running < least)
			least = running;
		if (state == MTS_STATE_SWITCHING) {
			switching++;
			in_switches += running;
		}
	}
	check(all >= 3 * looks, "%u ran in %u looks: %s", all, looks, describe());
	check(least >= 3, "only %u ran at a time: %s", least, describe());
	check(!switching || in_switches >= 2 * switching, "in %u switches %u ran: %s", switching,
	      in_switches, describe());
	for (i = 0; i < 8; i++) {
		u64 ms = had(&hogs[i], &before[i], now_ms() - began);

		fewest = ms < fewest ? ms : fewest;
		most = ms > most ? ms : most;
		hog_expect_progress(&hogs[i], 10000);
	}
	/* An eighth, and a slice and a switch, which are under way. */
	check(most <= fewest + fewest / 8 + 2000, "%llu to %llu ms: %s", (unsigned long long)fewest,
	      (unsigned long long)most, describe());
}

/* Of mixed sizes, one of which has nearly all of the memory: each gets the same time. */
static void sizes_do_not_matter(void)
{
	static const unsigned int mixed[] = { 28, 3, 5, 9, 14 };
	struct mts_job_info before[5];
	u64 began, fewest = ~0ull, most = 0;
	u32 i;

	start_hogs(HOG_RANDOM, 5, mixed);
	overlap(32, 4, 2000, 30000);
	expect_within(5000, is_rotating(), "%s", describe());
	wait_rounds(2);
	get_jobs(before, 5, NULL);
	began = now_ms();
	sleep_ms(60000);
	for (i = 0; i < 5; i++) {
		u64 ms = had(&hogs[i], &before[i], now_ms() - began);

		fewest = ms < fewest ? ms : fewest;
		most = ms > most ? ms : most;
	}
	check(most <= fewest + fewest / 8 + 4000, "%llu to %llu ms: %s", (unsigned long long)fewest,
	      (unsigned long long)most, describe());
}

/* No job is frozen for longer than was said, however large the round is. */
static void pauses_are_kept(void)
{
	static const unsigned int ten[] = { 6, 6, 6, 6, 6, 6, 6, 6, 6, 6 };
	u64 overdue = get_stats().overdue_thaws;
	u32 i;

	start_hogs(HOG_RANDOM, 10, ten);
	overlap(24, 6, 10000, 5000);
	expect_within(5000, is_rotating(), "%s", describe());
	sleep_ms(30000);
	for (i = 0; i < 10; i++) {
		struct mts_job_info job = job_named(hogs[i].name);

		check(job.frozen_longest_ns <= 5000 * NS_PER_MS, "%s was frozen %llu ms: %s",
		      job.name, job.frozen_longest_ns / NS_PER_MS, describe());
	}
	check(get_stats().overdue_thaws <= overdue + 1, "%llu thaws by the watchdog: %s",
	      (unsigned long long)(get_stats().overdue_thaws - overdue), describe());
}

/* One that comes beside them runs at once if it fits, else it gets its turn. */
static void a_newcomer_gets_a_turn(void)
{
	static const unsigned int six[] = { 7, 7, 7, 7, 7, 7 };
	static const struct hog_spec one = { .name = "g", .mib = 7, .kind = HOG_RANDOM };

	start_hogs(HOG_RANDOM, 6, six);
	overlap(32, 7, 2000, 30000);
	expect_within(5000, is_rotating(), "%s", describe());
	wait_rounds(1);
	hog_start(&hogs[nhogs++], &one);
	hog_expect_progress(&hogs[6], 30000);
	/* And with all of them: disjoint bins from one slice to the next, and back. */
	set_config(&(struct mts_config){ .mask = MTS_CONFIG_STEP, .step = MTS_STEP_BIN });
	expect_within(20000, get_status().bins == 2, "%s", describe());
	set_config(&(struct mts_config){ .mask = MTS_CONFIG_STEP, .step = 7 });
	expect_within(20000, get_status().bins >= 7, "%s", describe());
	hog_expect_progress(&hogs[6], 30000);
}

/* Turns end when the rest fits, and at once when they are switched off. */
static void turns_end(void)
{
	static const unsigned int six[] = { 7, 7, 7, 7, 7, 7 };

	start_hogs(HOG_RANDOM, 6, six);
	overlap(32, 7, 20000, 60000);
	expect_within(5000, is_rotating(), "%s", describe());
	wait_rounds(1);
	hog_kill(&hogs[0]);
	hog_kill(&hogs[1]);
	hog_kill(&hogs[2]);
	expect_within(5000, get_status().state == MTS_STATE_IDLE && !get_status().frozen, "%s",
		      describe());
	hog_expect_progress(&hogs[3], 2000);
}

/* Three of six groups fit. */
static void status_marks_the_groups_that_run(void)
{
	static const unsigned int six[] = { 14, 14, 14, 14, 14, 14 };
	u32 i, runs, seen, ran = 0;
	struct mts_bin_info bins[6];
	struct mts_status s;
	u64 demand;

	start_hogs(HOG_RANDOM, 6, six);
	overlap(48, 16, 1000, 30000);
	expect_rotation(6);
	for (seen = 0; seen < 80; sleep_ms(50)) {
		if (!look_at_bins(&s, bins, 6))
			continue;
		runs = 0;
		demand = 0;
		for (i = 0; i < 6; i++) {
			check(bins[i].flags & MTS_BIN_OVERLAPS, "group %u: flags %x", i,
			      bins[i].flags);
			if (!(bins[i].flags & MTS_BIN_RUNS))
				continue;
			runs++;
			ran |= 1u << i;
			demand += bins[i].demand;
		}
		check(runs == 3 || runs == 2, "%u groups run: %s", runs, describe());
		check(demand <= s.capacity, "%llu bytes run: %s", (unsigned long long)demand,
		      describe());
		check(s.current_bin < 6 && bins[s.current_bin].flags & MTS_BIN_RUNS,
		      "the group that came in last does not run: %s", describe());
		seen++;
	}
	check(ran == 0x3f, "some groups never ran: %x: %s", ran, describe());
}

GUEST_TESTS(TEST(status_marks_the_groups_that_run), TEST(several_groups_run),
	    TEST(sizes_do_not_matter), TEST(pauses_are_kept), TEST(a_newcomer_gets_a_turn),
	    TEST(turns_end));

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

/* All the time that a job has been frozen, the freeze under way included, in ms. */
static u64 frozen_ms(const struct hog *hog)
{
	struct mts_job_info job = job_named(hog->name);
	u64 now = now_ns();

	return (job.frozen_total_ns + (job.frozen_since_ns ? now - job.frozen_since_ns : 0)) /
	       NS_PER_MS;
}

/*
 * Each of the jobs gets the same time from the beginning of one round to the beginning of another,
 * within an eighth, and a slice and a switch, which are under way. (A stretch that is no whole
 * number of rounds is a slice longer for some jobs, and a pause longer for others.)
 */
static void expect_the_same_time(const u64 *frozen, u32 n, u64 ms, u64 slice_ms)
{
	u64 fewest = ~0ull, most = 0;
	u32 i;

	for (i = 0; i < n; i++) {
		u64 had = ms - (frozen_ms(&hogs[i]) - frozen[i]);

		fewest = had < fewest ? had : fewest;
		most = had > most ? had : most;
	}
	check(most <= fewest + fewest / 8 + slice_ms, "%llu to %llu of %llu ms: %s",
	      (unsigned long long)fewest, (unsigned long long)most, (unsigned long long)ms,
	      describe());
}

/* Eight jobs of which four fit: most of them run at any time, and in a switch, too. */
static void several_groups_run(void)
{
	static const unsigned int eight[] = { 7, 7, 7, 7, 7, 7, 7, 7 };
	u32 looks = 0, all = 0, least = 8, switching = 0, in_switches = 0, running, i;
	u64 began, mib, rounds, frozen[8];

	start_hogs(HOG_RANDOM, 8, eight);
	overlap(32, 7, 4000, 30000);
	expect_within(5000, is_rotating(), "%s", describe());
	wait_rounds(1);
	began = now_ms();
	rounds = get_stats().rounds;
	for (i = 0; i < 8; i++)
		frozen[i] = frozen_ms(&hogs[i]);
	for (; get_stats().rounds < rounds + 4; sleep_ms(20)) {
		check(now_ms() < began + 4 * SOON_MS, "no four rounds: %s", describe());
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
	expect_the_same_time(frozen, 8, now_ms() - began, 2000);
	for (i = 0; i < 8; i++)
		hog_expect_progress(&hogs[i], 10000);
}

/* Of mixed sizes, one of which has nearly all of the memory: each gets the same time. */
static void sizes_do_not_matter(void)
{
	static const unsigned int mixed[] = { 28, 3, 5, 9, 14 };
	u64 began, frozen[5];
	u32 i;

	start_hogs(HOG_RANDOM, 5, mixed);
	overlap(32, 4, 2000, 30000);
	expect_within(5000, is_rotating(), "%s", describe());
	wait_rounds(2);
	began = now_ms();
	for (i = 0; i < 5; i++)
		frozen[i] = frozen_ms(&hogs[i]);
	wait_rounds(5);
	expect_the_same_time(frozen, 5, now_ms() - began, 4000);
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

/*
 * Three jobs of which one fits. From the beginning of one round to that of another each runs in
 * proportion to its weight, within an eighth, and a slice, which may be under way.
 */
static void expect_time_by_weight(unsigned int step_mib)
{
	static const unsigned int three[] = { 20, 20, 20 };
	u64 began, ms, frozen[3], had[3], sum = 0;
	u32 i;

	start_hogs(HOG_RANDOM, 3, three);
	overlap(30, step_mib, 2000, 30000);
	for (i = 0; i < 3; i++)
		weigh_job(job_named(hogs[i].name).id, 100 << i);
	expect_within(5000, is_rotating(), "%s", describe());
	wait_rounds(2);
	began = now_ms();
	for (i = 0; i < 3; i++)
		frozen[i] = frozen_ms(&hogs[i]);
	wait_rounds(5);
	ms = now_ms() - began;
	for (i = 0; i < 3; i++) {
		had[i] = ms - (frozen_ms(&hogs[i]) - frozen[i]);
		sum += had[i];
	}
	for (i = 0; i < 3; i++) {
		u64 due = (sum << i) / 7;

		note("weight %u: %llu of %llu ms, due %llu", 100 << i, (unsigned long long)had[i],
		     (unsigned long long)ms, (unsigned long long)due);
		check(had[i] + due / 8 + 1000 >= due && had[i] <= due + due / 8 + 1000,
		      "weight %u: %llu of %llu ms, due %llu: %s", 100 << i,
		      (unsigned long long)had[i], (unsigned long long)ms, (unsigned long long)due,
		      describe());
	}
}

/* Ada has one job, and Bob three; one fits. @weight: Ada's; Bob has the usual one. */
static void expect_time_by_user(unsigned int step_mib, u32 weight)
{
	struct hog_spec spec = { .mib = 20, .kind = HOG_RANDOM };
	u64 began, ms, frozen[4], had[4], sum = 0;
	u32 i;

	set_mode(MTS_MODE_OFF);
	for (nhogs = 0; nhogs < 4; nhogs++) {
		spec.name = (const char *[]){ "a", "b", "c", "d" }[nhogs];
		spec.user = nhogs ? 1001 : 1000;
		hog_start(&hogs[nhogs], &spec);
	}
	overlap(30, step_mib, 2000, 30000);
	choose_share(MTS_SHARE_USER);
	expect(try_user_weight(1000, weight), 0);
	expect_within(5000, is_rotating(), "%s", describe());
	wait_rounds(2);
	began = now_ms();
	for (i = 0; i < 4; i++)
		frozen[i] = frozen_ms(&hogs[i]);
	wait_rounds(5);
	ms = now_ms() - began;
	for (i = 0; i < 4; i++) {
		had[i] = ms - (frozen_ms(&hogs[i]) - frozen[i]);
		sum += had[i];
	}
	for (i = 0; i < 4; i++) {
		u64 due = sum * (i ? MTS_WEIGHT_DEFAULT : weight) / (MTS_WEIGHT_DEFAULT + weight) /
			  (i ? 3 : 1);

		note("%s: %llu of %llu ms, due %llu", i ? "Bob" : "Ada", (unsigned long long)had[i],
		     (unsigned long long)ms, (unsigned long long)due);
		check(had[i] + due / 8 + 1000 >= due && had[i] <= due + due / 8 + 1000,
		      "%s: %llu of %llu ms, due %llu: %s", i ? "Bob" : "Ada",
		      (unsigned long long)had[i], (unsigned long long)ms, (unsigned long long)due,
		      describe());
	}
	expect(try_user_weight(1000, 0), 0);
}

static void groups_run_by_user(void)
{
	expect_time_by_user(4, MTS_WEIGHT_DEFAULT);
}

static void bins_run_by_user(void)
{
	expect_time_by_user(MTS_STEP_BIN, MTS_WEIGHT_DEFAULT);
}

static void bins_run_by_users_weights(void)
{
	expect_time_by_user(MTS_STEP_BIN, 300);
}

static void groups_run_by_weight(void)
{
	expect_time_by_weight(4);
}

static void bins_run_by_weight(void)
{
	expect_time_by_weight(MTS_STEP_BIN);
}

GUEST_TESTS(TEST(status_marks_the_groups_that_run), TEST(several_groups_run),
	    TEST(sizes_do_not_matter), TEST(pauses_are_kept), TEST(a_newcomer_gets_a_turn),
	    TEST(groups_run_by_weight), TEST_SLOW(bins_run_by_weight, 0),
	    TEST_SLOW(groups_run_by_user, 0), TEST_SLOW(bins_run_by_user, 0),
	    TEST_SLOW(bins_run_by_users_weights, 0), TEST(turns_end));

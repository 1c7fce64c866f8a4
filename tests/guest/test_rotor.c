// SPDX-License-Identifier: GPL-2.0
/* The rotation: who runs when, for how long. */
#include "guest.h"

/* ---- turns ------------------------------------------------------------------------ */

/* Which bin runs, sampled: each next one is the next, after the last comes the first. */
static void bins_take_turns(void)
{
	u64 end;
	u32 last = MTS_BIN_NONE, changes = 0, i;
	struct mts_job_info jobs[3];

	start_hogs(HOG_RANDOM, 3, three_equal);
	rotate(32, 400, MTS_EVICT_OFF);
	expect_rotation(3);
	for (end = now_ms() + 6000; now_ms() < end; sleep_ms(3)) {
		struct mts_status s = get_status();

		if (s.state != MTS_STATE_RUNNING || s.current_bin == last)
			continue;
		check(last == MTS_BIN_NONE || s.current_bin == (last + 1) % 3,
		      "after bin %u came bin %u", last, s.current_bin);
		last = s.current_bin;
		changes++;
	}
	check(changes >= 10, "only %u changes in 6 s: %s", changes, describe());
	get_jobs(jobs, 3, NULL);
	for (i = 1; i < 3; i++)
		check(llabs((long long)(jobs[i].slices - jobs[0].slices)) <= 1, "%s", describe());
	for (i = 0; i < 3; i++)
		hog_expect_progress(&hogs[i], 3000);
}

static u32 check_standstill(void)
{
	struct mts_job_info before[3], after[3];
	long long said[3];
	u64 progress[3];
	u32 i, seen = 0;

	get_jobs(before, 3, NULL);
	for (i = 0; i < 3; i++) {
		progress[i] = hog_progress(&hogs[i]);
		said[i] = cg_key(hogs[i].cgroup, "cgroup.events", "frozen");
	}
	sleep_ms(25);
	for (i = 0; i < 3; i++)
		progress[i] = hog_progress(&hogs[i]) - progress[i];
	get_jobs(after, 3, NULL);
	for (i = 0; i < 3; i++) {
		if (!stood_still(&before[i], &after[i]))
			continue;
		check(!progress[i], "%s is frozen and made %llu steps", hogs[i].name,
		      (unsigned long long)progress[i]);
		check(said[i] == 1, "%s is frozen, cgroup.events says %lld", hogs[i].name, said[i]);
		seen++;
	}
	return seen;
}

static u32 bins_awake(const struct mts_job_info *jobs, u32 n)
{
	u32 i, awake = 0;

	for (i = 0; i < n; i++)
		awake += jobs[i].state == MTS_JOB_RUNNING;
	return awake;
}

static void never_two_bins(void)
{
	struct mts_job_info jobs[3];
	u32 standstills = 0, samples = 0;
	u64 end;

	start_hogs(HOG_RANDOM, 3, three_equal);
	rotate(32, 300, MTS_EVICT_OFF);
	expect_rotation(3);
	wait_rounds(1);
	for (end = now_ms() + 5000; now_ms() < end; samples++) {
		get_jobs(jobs, 3, NULL);
		check(bins_awake(jobs, 3) <= 1, "two bins run: %s", describe());
		standstills += check_standstill();
	}
	check(standstills > samples, "in %u samples only %u standstills: %s", samples, standstills,
	      describe());
}

/* Of a job's slices between two looks at it, in ns; 0: there was none. */
static u64 mean_slice(const struct mts_job_info *before, const struct mts_job_info *after)
{
	u64 slices = after->slices - before->slices;

	return slices ? (after->run_ns - before->run_ns) / slices : 0;
}

/* The last job whose slices were not what they should be, in ns. */
static struct {
	char name[MTS_NAME_SIZE];
	u64 mean;
	u64 should;
} astray;

/* In four rounds from now each job's slices are, on average, within a tenth of its bin's. */
static bool ran_as_planned(const struct mts_bin_info *bins)
{
	struct mts_job_info before[3], after[3];
	bool good = true;
	u32 i;

	get_jobs(before, 3, NULL);
	wait_rounds(4);
	get_jobs(after, 3, NULL);
	for (i = 0; i < 3; i++) {
		u64 should = bins[after[i].bin % 3].slice_ns;
		u64 mean = mean_slice(&before[i], &after[i]);

		check(after[i].slices - before[i].slices >= 3, "%s", describe());
		if (llabs((long long)(mean - should)) < (long long)should / 10)
			continue;
		good = false;
		astray.mean = mean;
		astray.should = should;
		snprintf(astray.name, sizeof(astray.name), "%s", after[i].name);
	}
	return good;
}

/* Slices as long as section 4.3 of the paper has it, and as planned. */
static void slices_follow_demand(void)
{
	static const unsigned int mib[] = { 36, 24, 18 };
	struct mts_bin_info bins[3];
	unsigned int attempts = 0;
	struct mts_status s;
	u32 i;

	start_hogs(HOG_RANDOM, 3, mib);
	rotate(40, 1000, MTS_EVICT_OFF);
	expect_rotation(3);
	s = get_status();
	check(get_bins(bins, 3) == 3, "%s", describe());
	for (i = 0; i < 3; i++) {
		u64 should = (u64)(1e9 * (double)bins[i].demand / (double)s.capacity);

		check(bins[i].jobs == 1, "bin %u holds %u jobs", i, bins[i].jobs);
		check(llabs((long long)(bins[i].slice_ns - should)) < (long long)should / 100,
		      "bin %u of %lluM: slice %llu ms, should be %llu", i, bins[i].demand / MIB,
		      bins[i].slice_ns / NS_PER_MS, (unsigned long long)(should / NS_PER_MS));
	}
	/* The first slice may have been cut short by the configuration. */
	wait_rounds(2);
	/* The guest's clock is the host's, which may have other things to do for a while. */
	while (!ran_as_planned(bins))
		check(++attempts < 4, "%s ran %llu ms a slice, should be %llu: %s", astray.name,
		      (unsigned long long)(astray.mean / NS_PER_MS),
		      (unsigned long long)(astray.should / NS_PER_MS), describe());
}

/* Are there three bins, with slices from the one to the other? */
static bool slices_are_within(u64 least, u64 most)
{
	struct mts_bin_info bins[3];
	u32 i;

	if (get_bins(bins, 3) != 3)
		return false;
	for (i = 0; i < 3; i++)
		if (bins[i].slice_ns < least || bins[i].slice_ns > most)
			return false;
	return true;
}

/* A switch that evicts and brings back 24 MiB takes more than a twentieth of 200 ms. */
static void slices_grow_with_the_price_of_a_switch(void)
{
	const u64 slice = 200 * NS_PER_MS, max_pause = 10000 * NS_PER_MS;
	u32 i;

	/* Each job is larger than a bin: its slice is a full one. */
	start_hogs(HOG_RANDOM, 3, three_equal);
	rotate(20, 200, MTS_EVICT_FULL);
	expect_rotation(3);
	wait_rounds(2);
	check(slices_are_within(slice, slice), "without overhead: %s", describe());

	set_config(&(struct mts_config){ .mask = MTS_CONFIG_OVERHEAD | MTS_CONFIG_MAX_PAUSE,
					 .overhead = 50,
					 .max_pause_ns = max_pause });
	wait_rounds(2);
	check(slices_are_within(slice + 1, max_pause), "they have not grown: %s", describe());
	check(get_status().longest_pause_ns <= max_pause, "pause %llu ms",
	      get_status().longest_pause_ns / NS_PER_MS);
	for (i = 0; i < 3; i++)
		check(job_named(hogs[i].name).frozen_longest_ns <= max_pause, "%s", describe());

	set_config(&(struct mts_config){ .mask = MTS_CONFIG_OVERHEAD, .overhead = 0 });
	wait_rounds(1);
	check(slices_are_within(slice, slice), "without overhead again: %s", describe());
}

static void every_packer_rotates(void)
{
	static const unsigned int mib[] = { 20, 14, 9, 6, 16 };
	u32 pack, i;

	start_hogs(HOG_RANDOM, 5, mib);
	rotate(32, 300, MTS_EVICT_OFF);
	for (pack = MTS_PACK_FFD; pack <= MTS_PACK_RW; pack++) {
		struct mts_bin_info bins[5];
		u32 n, jobs = 0;

		set_config(&(struct mts_config){ .mask = MTS_CONFIG_PACK, .pack = pack });
		wait_rounds(2);
		n = get_bins(bins, 5);
		check(n == get_status().bins && n >= 2 && n <= 4, "packer %u: %u bins", pack, n);
		for (i = 0; i < n; i++)
			jobs += bins[i].jobs;
		check(jobs == 5, "packer %u: %u jobs in bins", pack, jobs);
		for (i = 0; i < 5; i++)
			hog_expect_progress(&hogs[i], 5000);
	}
}

static void check_sleeping_bin_gives_up_its_slice(bool pressure_accounts)
{
	struct mts_job_info asleep, busy, later;
	struct mts_stats before;
	u64 slept, ran;
	struct hog sleeper;

	start_hogs(HOG_RANDOM, 2, three_equal);
	hog_start(&sleeper, &(struct hog_spec){ .name = "sleeper", .mib = 24, .kind = HOG_SLEEP });
	if (!pressure_accounts) {
		cg_hide_sleep(hogs[0].cgroup);
		cg_hide_sleep(hogs[1].cgroup);
		cg_hide_sleep(sleeper.cgroup);
	}
	rotate(32, 1600, MTS_EVICT_OFF);
	expect_rotation(3);
	wait_rounds(1);
	before = get_stats();
	asleep = job_named("sleeper");
	busy = job_named("a");
	expect_within(20000, job_named("sleeper").slices >= asleep.slices + 3, "%s", describe());
	later = job_named("sleeper");
	slept = mean_slice(&asleep, &later) / NS_PER_MS;
	/* Its slice would be 1200 ms. Fair start 100 ms, two looks of 50 ms, and a busy host. */
	check(slept < 800, "it kept its slice: %lu ms", slept);
	later = job_named("a");
	check(later.slices > busy.slices, "%s", describe());
	ran = mean_slice(&busy, &later) / NS_PER_MS;
	check(ran > 1000, "the busy one lost its: %lu ms", ran);
	check(get_stats().early_switches - before.early_switches >= 3, "early_switches %llu",
	      get_stats().early_switches - before.early_switches);
}

static void sleeping_bin_gives_up_its_slice(void)
{
	check_sleeping_bin_gives_up_its_slice(true);
}

/* As on hosts that were booted with psi=0. */
static void sleeping_bin_without_pressure_accounts(void)
{
	check_sleeping_bin_gives_up_its_slice(false);
}

/* Nobody runs: the host must not be kept busy with switches. */
static void sleeping_bins_switch_ever_more_rarely(void)
{
	struct mts_stats before, after;

	start_hogs(HOG_SLEEP, 3, three_equal);
	rotate(32, 2000, MTS_EVICT_OFF);
	expect_rotation(3);
	wait_rounds(3);
	before = get_stats();
	sleep_ms(6000);
	after = get_stats();
	/* Slices are full, 1.5 s, by now; the first took 200 ms. */
	check(after.switches - before.switches <= 5, "%llu switches in 6 s",
	      after.switches - before.switches);
	nhogs = 0;
}

/* ---- configuration and limits ----------------------------------------------------- */

static void config_applies_within_a_slice(void)
{
	u64 rounds;

	start_hogs(HOG_RANDOM, 3, three_equal);
	rotate(32, 60000, MTS_EVICT_OFF);
	expect_rotation(3);
	expect_soon(get_status().state == MTS_STATE_RUNNING, "%s", describe());
	rotate(32, 200, MTS_EVICT_OFF);
	rounds = get_stats().rounds;
	/* The slice that was under way has 45 s. */
	expect_soon(get_stats().rounds >= rounds + 3, "%s", describe());
	rotate(32, 60000, MTS_EVICT_OFF);
	expect_soon(get_status().state == MTS_STATE_RUNNING, "%s", describe());
	rotate(128, 60000, MTS_EVICT_OFF);
	expect_all_thawed(1500);
	expect_within(2000, get_status().state == MTS_STATE_IDLE, "%s", describe());
	rotate(32, 60000, MTS_EVICT_OFF);
	expect_soon(get_status().frozen == 2, "%s", describe());
	set_mode(MTS_MODE_OFF);
	expect_all_thawed(1000);
	expect_within(2000, get_status().state == MTS_STATE_OFF, "%s", describe());
}

static void slice_ends_as_announced(void)
{
	struct mts_status s;
	u64 end;
	u32 bin;

	start_hogs(HOG_RANDOM, 3, three_equal);
	rotate(32, 2000, MTS_EVICT_OFF);
	expect_soon(get_status().state == MTS_STATE_RUNNING, "%s", describe());
	s = get_status();
	check(s.slice_ends_ns > s.now_ns, "it is over already: %s", describe());
	check(s.slice_ends_ns - s.now_ns <= 1800 * NS_PER_MS, "in %llu ms",
	      (s.slice_ends_ns - s.now_ns) / NS_PER_MS);
	end = s.slice_ends_ns;
	bin = s.current_bin;
	expect_within(3000, (s = get_status()).current_bin != bin, "%s", describe());
	check(now_ns() >= end && now_ns() < end + 300 * NS_PER_MS, "%lld ms late",
	      (long long)(now_ns() - end) / (long long)NS_PER_MS);
	check(s.round_ns > 3000 * NS_PER_MS && s.round_ns < 8000 * NS_PER_MS, "round %llu ms",
	      s.round_ns / NS_PER_MS);
	check(s.longest_pause_ns < s.round_ns, "pause %llu ms", s.longest_pause_ns / NS_PER_MS);
}

static void longest_pause_is_kept(void)
{
	struct mts_stats before = get_stats();
	u32 i;

	start_hogs(HOG_RANDOM, 3, three_equal);
	rotate(32, 20000, MTS_EVICT_OFF);
	set_max_pause(1000 * NS_PER_MS);
	expect_rotation(3);
	sleep_ms(8000);
	for (i = 0; i < 3; i++) {
		struct mts_job_info job = job_named(hogs[i].name);

		check(job.frozen_longest_ns <= 1300 * NS_PER_MS, "%s was frozen %llu ms: %s",
		      job.name, job.frozen_longest_ns / NS_PER_MS, describe());
		check(job.slices >= 3, "%s: %s", job.name, describe());
	}
	/* By planning, not by force. */
	check(get_stats().overdue_thaws == before.overdue_thaws, "%llu were thawed out of turn: %s",
	      get_stats().overdue_thaws - before.overdue_thaws, describe());
}

/* Slices cannot get short enough: the watchdog keeps the promise. */
static void longest_pause_is_kept_by_the_watchdog(void)
{
	static const unsigned int eight[] = { 10, 10, 10, 10, 10, 10, 10, 10 };
	struct mts_stats before = get_stats();
	u32 i;

	start_hogs(HOG_RANDOM, 8, eight);
	set_config(&(struct mts_config){
		.mask = MTS_CONFIG_ALL,
		.mode = MTS_MODE_ALWAYS,
		.step = MTS_STEP_BIN,
		.evict = MTS_EVICT_OFF,
		.slice_ns = 1000 * NS_PER_MS,
		.bin_bytes = 12 * MIB,
		.min_slice_ns = 1000 * NS_PER_MS,
		.max_pause_ns = 1000 * NS_PER_MS,
		.overhead = 0,
	});
	expect_rotation(8);
	sleep_ms(8000);
	check(get_stats().overdue_thaws > before.overdue_thaws, "nobody was thawed out of turn: %s",
	      describe());
	for (i = 0; i < 8; i++) {
		struct mts_job_info job = job_named(hogs[i].name);

		check(job.frozen_longest_ns <= 1300 * NS_PER_MS, "%s was frozen %llu ms: %s",
		      job.name, job.frozen_longest_ns / NS_PER_MS, describe());
	}
	check(get_status().state != MTS_STATE_STOPPED, "%s", describe());
}

static void removed_while_frozen(void)
{
	struct hog *hog;

	start_hogs(HOG_RANDOM, 3, three_equal);
	rotate(32, 20000, MTS_EVICT_OFF);
	expect_soon(get_status().frozen == 2, "%s", describe());
	hog = frozen_hog();
	remove_job(hog->id);
	check(!cg_freeze_asked(hog->cgroup), "JOB_REMOVE has returned, cgroup.freeze is 1");
	hog_expect_progress(hog, 1000);
}

/* Two that are left fit together: nothing is frozen any more, within the slice. */
static void rotation_ends_when_the_rest_fits(void)
{
	static const unsigned int mib[] = { 24, 10, 10 };

	start_hogs(HOG_RANDOM, 3, mib);
	rotate(32, 20000, MTS_EVICT_OFF);
	expect_rotation(2);
	expect_soon(get_status().frozen, "%s", describe());
	hog_kill(&hogs[0]);
	expect_within(5000, !find_job("a", NULL), "%s", describe());
	expect_within(3000, get_status().state == MTS_STATE_IDLE && !get_status().frozen, "%s",
		      describe());
	hog_expect_progress(&hogs[1], 2000);
	hog_expect_progress(&hogs[2], 2000);
}

/* So do two of different bins: it does not wait for the slice's end. */
static void rotation_ends_when_the_rest_of_the_bins_fits(void)
{
	static const unsigned int mib[] = { 14, 14, 10, 10 };

	start_hogs(HOG_RANDOM, 4, mib);
	rotate(32, 20000, MTS_EVICT_OFF);
	expect_rotation(2);
	expect_soon(get_status().frozen == 2, "%s", describe());
	check(job_named("a").bin == job_named("b").bin, "%s", describe());
	hog_kill(&hogs[0]);
	hog_kill(&hogs[2]);
	expect_within(5000, !find_job("a", NULL) && !find_job("c", NULL), "%s", describe());
	expect_within(3000, get_status().state == MTS_STATE_IDLE && !get_status().frozen, "%s",
		      describe());
	hog_expect_progress(&hogs[1], 2000);
	hog_expect_progress(&hogs[3], 2000);
}

/* ---- which bins run ---------------------------------------------------------------- */

static void status_marks_the_bin_that_runs(void)
{
	struct mts_bin_info bins[3];
	struct mts_status s;
	u32 i, seen;

	start_hogs(HOG_RANDOM, 3, three_equal);
	rotate(32, 400, MTS_EVICT_OFF);
	expect_rotation(3);
	for (seen = 0; seen < 20; sleep_ms(50)) {
		if (!look_at_bins(&s, bins, 3))
			continue;
		for (i = 0; i < 3; i++)
			check(bins[i].flags == (i == s.current_bin ? MTS_BIN_RUNS : 0),
			      "bin %u, while %u runs: flags %x", i, s.current_bin, bins[i].flags);
		seen++;
	}
}

GUEST_TESTS(TEST(status_marks_the_bin_that_runs), TEST(bins_take_turns), TEST(never_two_bins),
	    TEST_SLOW(slices_follow_demand, 0),
	    TEST_SLOW(slices_grow_with_the_price_of_a_switch, 0), TEST(every_packer_rotates),
	    TEST(sleeping_bin_gives_up_its_slice), TEST(sleeping_bin_without_pressure_accounts),
	    TEST_SLOW(sleeping_bins_switch_ever_more_rarely, 0),
	    TEST(config_applies_within_a_slice), TEST(slice_ends_as_announced),
	    TEST(longest_pause_is_kept), TEST(longest_pause_is_kept_by_the_watchdog),
	    TEST(removed_while_frozen), TEST(rotation_ends_when_the_rest_fits),
	    TEST(rotation_ends_when_the_rest_of_the_bins_fits));

// SPDX-License-Identifier: GPL-2.0
/* What is evicted at a switch, and jobs that do not fit as planned. */
#include "guest.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

/* ---- eviction --------------------------------------------------------------------- */

/* Of the jobs that are frozen while a bin runs: all below, or all above the share of demand. */
static u32 check_frozen_memory(u64 percent, bool below)
{
	struct mts_job_info jobs[3], again[3];
	long long bytes;
	u32 i, seen = 0;

	if (get_status().state != MTS_STATE_RUNNING)
		return 0;
	get_jobs(jobs, 3, NULL);
	for (i = 0; i < 3; i++) {
		bytes = cg_number(cg_job(jobs[i].name), "memory.current");
		get_jobs(again, 3, NULL);
		if (!stood_still(&jobs[i], &again[i]) || get_status().state != MTS_STATE_RUNNING ||
		    !jobs[i].slices)
			continue;
		seen++;
		if (below)
			check((u64)bytes < jobs[i].demand * percent / 100, "%s holds %lld KiB: %s",
			      jobs[i].name, bytes >> 10, describe());
		else
			check((u64)bytes > jobs[i].demand * percent / 100, "%s holds %lld KiB: %s",
			      jobs[i].name, bytes >> 10, describe());
	}
	return seen;
}

static u32 sample_frozen_memory(unsigned int ms, u64 percent, bool below)
{
	u64 end = now_ms() + ms;
	u32 seen = 0;

	for (; now_ms() < end; sleep_ms(50))
		seen += check_frozen_memory(percent, below);
	return seen;
}

static void evict_full_empties_the_outgoing_bin(void)
{
	struct mts_stats before = get_stats(), after;
	u32 i;

	start_hogs(HOG_RANDOM, 3, three_equal);
	rotate(32, 1000, MTS_EVICT_FULL);
	wait_rounds(2);
	check(sample_frozen_memory(5000, 20, true) > 10, "hardly a sample: %s", describe());
	after = get_stats();
	check(after.evict_got - before.evict_got > 48 * MIB, "evict_got %llu KiB",
	      (after.evict_got - before.evict_got) >> 10);
	check(after.evict_asked > before.evict_asked, "nothing was asked for");
	for (i = 0; i < 3; i++) {
		check(job_named(hogs[i].name).evicted > 16 * MIB, "%s: evicted %llu KiB",
		      hogs[i].name, job_named(hogs[i].name).evicted >> 10);
		hog_expect_progress(&hogs[i], 10000);
	}
	/* What was evicted still counts as needed. */
	check(job_named("a").demand > 20 * MIB, "%s", describe());
}

static void evict_off_leaves_memory_alone(void)
{
	struct mts_stats before = get_stats();

	start_hogs(HOG_RANDOM, 3, three_equal);
	rotate(32, 400, MTS_EVICT_OFF);
	wait_rounds(1);
	check(sample_frozen_memory(3000, 80, false) > 10, "hardly a sample: %s", describe());
	check(get_stats().evict_asked == before.evict_asked, "it evicted");
}

/* There is room on the host: the incoming bin lacks nothing. */
static void evict_need_leaves_memory_alone_while_there_is_room(void)
{
	struct mts_stats before = get_stats();

	start_hogs(HOG_RANDOM, 3, three_equal);
	rotate(32, 400, MTS_EVICT_NEED);
	wait_rounds(2);
	check(sample_frozen_memory(2000, 80, false) > 6, "hardly a sample: %s", describe());
	check(get_stats().evict_got == before.evict_got, "it evicted");
}

/* Turns begin with everything; these slices are next to nothing beside their switches. */
static void evict_auto_goes_by_need_where_switches_are_dear(void)
{
	u64 got;

	start_hogs(HOG_RANDOM, 3, three_equal);
	got = get_stats().evict_got;
	rotate(32, 20, MTS_EVICT_AUTO);
	expect_rotation(3);
	expect_within(20000, get_status().evict == MTS_EVICT_NEED, "%s", describe());
	check(get_stats().evict_got > got + 24 * MIB, "the first round evicted %llu KiB",
	      (get_stats().evict_got - got) >> 10);

	/* What need brings about, cheap switches, is no reason to end it. */
	set_config(&(struct mts_config){ .mask = MTS_CONFIG_SLICE, .slice_ns = 500 * NS_PER_MS });
	wait_rounds(1);
	got = get_stats().evict_got;
	wait_rounds(2);
	expect(get_status().evict, MTS_EVICT_NEED);
	check(get_stats().evict_got == got, "it evicted");

	/* The user's word counts, and when he takes it back it is decided anew. */
	set_config(&(struct mts_config){ .mask = MTS_CONFIG_EVICT, .evict = MTS_EVICT_FULL });
	expect_within(20000, get_stats().evict_got > got, "%s", describe());
	expect(get_status().evict, MTS_EVICT_FULL);
	set_config(&(struct mts_config){ .mask = MTS_CONFIG_EVICT | MTS_CONFIG_SLICE,
					 .evict = MTS_EVICT_AUTO,
					 .slice_ns = 20 * NS_PER_MS });
	expect_within(20000, get_status().evict == MTS_EVICT_NEED, "%s", describe());
}

/* In the middle of eviction a THAW does not wait for its end. */
static void thaw_during_eviction(void)
{
	unsigned int i;

	start_hogs(HOG_RANDOM, 3, three_equal);
	for (i = 0; i < 6; i++) {
		u64 began;

		rotate(32, 300, MTS_EVICT_FULL);
		expect_soon(get_status().state == MTS_STATE_SWITCHING, "%s", describe());
		sleep_ms(20 * i);
		began = now_ms();
		expect(mts_ioctl(MTS_IOC_THAW, NULL), 0);
		check(now_ms() - began < 1000, "THAW took %llu ms",
		      (unsigned long long)(now_ms() - began));
		check(!get_status().frozen, "%s", describe());
		expect_all_thawed(1000);
	}
}

static void mode_auto_rotates_under_pressure(void)
{
	expect_turns_of_their_own();
}

/* ---- jobs that do not fit --------------------------------------------------------- */

static void job_larger_than_the_bin_runs_alone(void)
{
	static const unsigned int mib[] = { 48, 18, 8 };
	struct mts_bin_info bins[4];
	struct mts_job_info big;
	u32 i;

	start_hogs(HOG_RANDOM, 3, mib);
	rotate(32, 400, MTS_EVICT_OFF);
	expect_rotation(2);
	wait_rounds(3);
	big = job_named("a");
	check(get_bins(bins, 4) == 2 && big.bin < 2, "%s", describe());
	check(bins[big.bin].jobs == 1, "it has company: %u jobs", bins[big.bin].jobs);
	check(bins[big.bin].slice_ns <= 400 * NS_PER_MS, "its slice is %llu ms",
	      bins[big.bin].slice_ns / NS_PER_MS);
	for (i = 0; i < 3; i++)
		hog_expect_progress(&hogs[i], 3000);
}

/*
 * From 6.7 on much of what is freed in bulk stays on lists of the processor that freed it, and the
 * kernel does not call it available (mts_memory_listed()). Bins must not become smaller by that.
 */
static void what_processors_keep_is_available(void)
{
	const size_t bytes = 192 * MIB;
	u64 before = get_status().capacity, after;
	void *mem = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

	check(mem != MAP_FAILED, "mmap: %s", strerror(errno));
	check(before > 256 * MIB, "%s", describe());
	after = get_status().capacity;
	check(after + bytes / 2 < before, "%llu MiB of %llu are left of the capacity", after / MIB,
	      before / MIB);
	munmap(mem, bytes);
	after = get_status().capacity;
	check(after + 16 * MIB > before, "the capacity was %llu MiB, and is %llu", before / MIB,
	      after / MIB);
}

/* The running bin is not given more than it can hold, for not knowing. */
static void added_job_is_measured_on_arrival(void)
{
	struct mts_job_info job;
	struct hog other;
	u32 id;

	start_hogs(HOG_RANDOM, 2, three_equal);
	cg_make("t-arrives");
	hog_start(&other,
		  &(struct hog_spec){ .cgroup = "t-arrives", .mib = 28, .kind = HOG_RANDOM });
	rotate(32, 20000, MTS_EVICT_OFF);
	expect_rotation(2);
	expect_soon(get_status().state == MTS_STATE_RUNNING, "%s", describe());
	id = add_job("t-arrives", 0);
	expect_within(2000, find_id(id, &job) && job.demand > 24 * MIB, "%s", describe());
	expect_within(2000,
		      find_id(id, &job) && job.bin != get_status().current_bin &&
			      job.state == MTS_JOB_FROZEN,
		      "%s", describe());
	check(job.bin != job_named("a").bin && job.bin != job_named("b").bin,
	      "it was put where there is no room: %s", describe());
}

static void newcomer_gets_its_turn(void)
{
	struct hog late;
	struct mts_job_info job;

	start_hogs(HOG_RANDOM, 3, three_equal);
	rotate(32, 500, MTS_EVICT_OFF);
	expect_rotation(3);
	hog_start_nowait(&late,
			 &(struct hog_spec){ .name = "late", .mib = 24, .kind = HOG_RANDOM });
	expect_within(10000, hog_ready(&late), "it has not even touched its memory: %s",
		      describe());
	expect_within(10000, get_status().bins == 4, "%s", describe());
	wait_rounds(2);
	job = job_named("late");
	check(job.frozen_longest_ns < 4000 * NS_PER_MS, "%s", describe());
	hog_expect_progress(&late, 4000);
}

static bool is_early_in_slice_of(const char *name)
{
	struct mts_status s = get_status();

	return s.current_bin == job_named(name).bin &&
	       s.slice_ends_ns > s.now_ns + 4000 * NS_PER_MS;
}

/* Grows beyond the bin within its slice: split at once, not at the slice's end. */
static void growth_splits_the_bin(void)
{
	static const unsigned int mib[] = { 14, 14, 10 };
	struct mts_stats before = get_stats();
	struct hog grown;

	start_hogs(HOG_RANDOM, 3, mib);
	rotate(32, 8000, MTS_EVICT_OFF);
	expect_rotation(2);
	check(job_named("a").bin != job_named("c").bin, "%s", describe());
	expect_within(12000, is_early_in_slice_of("a"), "%s", describe());
	check(job_named("a").bin == job_named("b").bin, "%s", describe());
	/* A second process in a job of the bin that runs. */
	hog_start_nowait(&grown, &(struct hog_spec){
					 .cgroup = hogs[0].cgroup, .mib = 40, .kind = HOG_RANDOM });
	expect_within(3500, get_stats().regroups > before.regroups, "%s", describe());
	expect_within(3000, job_named("a").bin != job_named("b").bin, "%s", describe());
}

GUEST_TESTS(TEST(evict_full_empties_the_outgoing_bin), TEST(evict_off_leaves_memory_alone),
	    TEST(evict_need_leaves_memory_alone_while_there_is_room),
	    TEST(evict_auto_goes_by_need_where_switches_are_dear), TEST(thaw_during_eviction),
	    TEST_SLOW(mode_auto_rotates_under_pressure, 420),
	    TEST(job_larger_than_the_bin_runs_alone), TEST(what_processors_keep_is_available),
	    TEST(added_job_is_measured_on_arrival), TEST(newcomer_gets_its_turn),
	    TEST(growth_splits_the_bin));

// SPDX-License-Identifier: GPL-2.0
/* What jobs do not use of their memory stays in swap, and is no part of their demand. */
#include <stdio.h>
#include <stdlib.h>

#include "guest.h"

/* Jobs of 24 MiB that use 6 of them, each in a bin of its own. */
static void rotate_parts(void)
{
	start_hogs(HOG_PART, 3, three_equal);
	rotate(10, 1500, MTS_EVICT_FULL);
	count_used_memory();
}

static u64 unused_kib(const struct hog *hog)
{
	return job_named(hog->name).unused >> 10;
}

static u64 demand_kib(const struct hog *hog)
{
	return job_named(hog->name).demand >> 10;
}

static bool is_known_of_all(void)
{
	unsigned int i;

	for (i = 0; i < nhogs; i++)
		if (!unused_kib(&hogs[i]))
			return false;
	return true;
}

static u64 pages_brought_back_a_turn(void)
{
	struct mts_stats before = get_stats(), after;

	wait_rounds(2);
	after = get_stats();
	return (after.brought_back - before.brought_back) / (after.switches - before.switches);
}

static void unused_memory_stays_in_swap(void)
{
	u64 pages, faults;
	unsigned int i;

	rotate_parts();
	expect_within(150000, is_known_of_all(), "not known: %s", describe());
	wait_rounds(1);
	for (i = 0; i < nhogs; i++) {
		u64 demand = demand_kib(&hogs[i]), unused = unused_kib(&hogs[i]);

		note("job %s: demand %lu KiB, unused %lu KiB", hogs[i].name, demand, unused);
		check(unused > 16 << 10 && unused < 19 << 10, "%lu KiB unused", unused);
		check(demand > 5 << 10 && demand < 9 << 10, "demand %lu KiB", demand);
	}
	faults = hogs_major_faults();
	pages = pages_brought_back_a_turn();
	faults = hogs_major_faults() - faults;
	note("%lu pages a turn, %lu major faults, %lu left in swap, %lu missed", pages, faults,
	     (u64)get_stats().left_in_swap, (u64)get_stats().missed);
	check(pages > 5 * MIB / PAGE && pages < 8 * MIB / PAGE, "%lu pages a turn", pages);
	check(faults < 6 * MIB / PAGE / 10, "%lu major faults", faults);
}

/* All is brought back if the user wants it so. */
static void allocated_memory_comes_back(void)
{
	u64 pages, demand;

	start_hogs(HOG_PART, 3, three_equal);
	rotate(10, 1500, MTS_EVICT_FULL);
	wait_rounds(2);
	pages = pages_brought_back_a_turn();
	demand = demand_kib(&hogs[0]);
	note("%lu pages a turn, demand %lu KiB", pages, demand);
	expect(unused_kib(&hogs[0]), 0);
	check(demand > 23 << 10, "demand %lu KiB", demand);
	check(pages > 21 * MIB / PAGE, "%lu pages a turn", pages);
}

/* Turns end, and do not begin at once again for what nobody uses. */
static void turns_end_if_what_is_used_fits(void)
{
	unsigned int i;
	u64 rounds;

	start_hogs(HOG_PART, 3, three_equal);
	rotate(32, 1500, MTS_EVICT_FULL);
	count_used_memory();
	expect_soon(is_rotating(), "%s", describe());
	expect_within(90000, get_status().reason == MTS_REASON_FITS, "%s", describe());
	rounds = get_stats().rounds;
	expect_all_thawed(2000);
	for (i = 0; i < 10; i++)
		sleep_ms(1000);
	expect(get_stats().rounds, rounds);
	expect(get_status().reason, MTS_REASON_FITS);
}

/* Another part of the memory is used from now on: that is missed for a slice at most. */
static void what_is_missed_comes_back(void)
{
	u64 missed;

	rotate_parts();
	expect_within(150000, is_known_of_all(), "not known: %s", describe());
	wait_rounds(1);
	missed = get_stats().missed;
	hog_use_part(&hogs[0], 2);
	wait_rounds(2);
	missed = get_stats().missed - missed;
	note("%lu pages missed", missed);
	check(missed > 64, "%lu pages missed", missed);
	/* It is not trusted for some slices, and all of it comes back. */
	expect(unused_kib(&hogs[0]), 0);
	check(unused_kib(&hogs[1]) > 0, "nothing unused of the others");
	hog_expect_progress(&hogs[0], 30000);
}

/* What a job needs for the first time in its slice is not taken for unused. */
static void growth_is_used(void)
{
	const struct hog_spec spec = { .name = "grown", .mib = 16, .kind = HOG_RANDOM };
	struct hog grown;

	rotate_parts();
	hog_start_nowait(&grown, &spec);
	expect_within(60000, hog_ready(&grown), "%s", describe());
	wait_rounds(3);
	check(unused_kib(&grown) < 4 << 10, "%lu KiB unused", unused_kib(&grown));
	check(demand_kib(&grown) > 12 << 10, "demand %lu KiB", demand_kib(&grown));
}

static bool is_in_slice(u64 not_this)
{
	struct mts_status s = get_status();

	return s.state == MTS_STATE_RUNNING && s.slice_ends_ns && s.slice_ends_ns != not_this;
}

/* Each slice is cut short, by a new configuration, before anybody can touch anything. */
static void cut_slices_tell_nothing(void)
{
	u64 ends = 0, unused, slices = 0;
	unsigned int i, j;

	start_hogs(HOG_SLEEP, 3, three_equal);
	rotate(32, 5000, MTS_EVICT_OFF);
	count_used_memory();
	for (i = 0; i < 30; i++) {
		set_config(&(struct mts_config){
			.mask = MTS_CONFIG_SLICE,
			.slice_ns = (5000 + i) * NS_PER_MS,
		});
		expect_within(10000, is_in_slice(ends), "slice %u: %s", i, describe());
		ends = get_status().slice_ends_ns;
		for (j = 0; j < nhogs; j++) {
			unused = unused_kib(&hogs[j]);
			check(unused < 4 << 10, "slice %u: %lu KiB of %s unused: %s", i, unused,
			      hogs[j].name, describe());
		}
	}
	for (j = 0; j < nhogs; j++)
		slices += job_named(hogs[j].name).slices;
	check(slices > 20, "%s", describe());
}

GUEST_TESTS(TEST_WITHIN(unused_memory_stays_in_swap, 300),
	    TEST_WITHIN(allocated_memory_comes_back, 120),
	    TEST_WITHIN(turns_end_if_what_is_used_fits, 150),
	    TEST_WITHIN(what_is_missed_comes_back, 150), TEST_WITHIN(growth_is_used, 150),
	    TEST(cut_slices_tell_nothing));

// SPDX-License-Identifier: GPL-2.0
/* Kinds of memory, and of swap, that a bin is brought back from. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "guest.h"

/* What was brought back and evicted, and what that took, so far or of some rounds. */
struct traffic {
	u64 pages;
	u64 evicted; /* bytes */
	u64 reads; /* of the swap disk */
	u64 sectors;
	u64 faults; /* major, that the jobs waited for */
};

static struct traffic traffic_now(void)
{
	return (struct traffic){
		.pages = get_stats().brought_back,
		.evicted = get_stats().evict_got,
		.reads = swap_stat(SWAP_READS),
		.sectors = swap_stat(SWAP_SECTORS_READ),
		.faults = hogs_major_faults(),
	};
}

/* Of some whole rounds. */
static struct traffic traffic_of_rounds(u64 rounds)
{
	struct traffic before, after;

	wait_rounds(1);
	before = traffic_now();
	wait_rounds(rounds);
	after = traffic_now();
	return (struct traffic){
		.pages = after.pages - before.pages,
		.evicted = after.evicted - before.evicted,
		.reads = after.reads - before.reads,
		.sectors = after.sectors - before.sectors,
		.faults = after.faults - before.faults,
	};
}

/*
 * Its reads cannot be started without waiting, but what lies together in swap comes in
 * one request of eight pages, and the job itself waits for next to nothing.
 */
static void shared_memory(void)
{
	struct traffic t;

	start_hogs_of(HOG_SHARED, HOG_RANDOM, 3, three_equal);
	rotate(32, 1500, MTS_EVICT_FULL);
	t = traffic_of_rounds(3);
	note("%lu pages, %lu reads of %lu sectors, %lu major faults", t.pages, t.reads, t.sectors,
	     t.faults);
	check(t.pages > 2 * 3 * 20 * MIB / PAGE, "%lu pages brought back: %s", t.pages, describe());
	/* Each page once, though two processes map it. */
	check(t.pages < 5 * 3 * 24 * MIB / PAGE, "%lu pages brought back", t.pages);
	check(t.faults < t.pages / 20, "%lu pages brought back, but %lu major faults", t.pages,
	      t.faults);
	check(t.sectors / t.reads >= 40, "%lu sectors in %lu requests", t.sectors, t.reads);
}

static void huge_pages(void)
{
	struct traffic t;

	/* Free memory lies in pieces. */
	expect(write_file("/proc/sys/vm/drop_caches", "3"), 0);
	expect(write_file("/proc/sys/vm/compact_memory", "1"), 0);
	start_hogs_of(HOG_HUGE, HOG_RANDOM, 3, three_equal);
	/* The kernel brings these figures up to date every two seconds. */
	expect_within(5000, cg_key(hogs[0].cgroup, "memory.stat", "anon_thp") > 10ll << 20,
		      "no huge pages");
	rotate(32, 1500, MTS_EVICT_FULL);
	t = traffic_of_rounds(3);
	note("%lu pages, %lu reads of %lu sectors, %lu major faults", t.pages, t.reads, t.sectors,
	     t.faults);
	check(t.pages > 2 * 3 * 20 * MIB / PAGE, "%lu pages brought back: %s", t.pages, describe());
	check(t.faults < t.pages / 20, "%lu pages brought back, but %lu major faults", t.pages,
	      t.faults);
	check(t.sectors / t.reads >= 64, "%lu sectors in %lu requests", t.sectors, t.reads);
}

#define SHMEM_ENABLED "/sys/kernel/mm/transparent_hugepage/shmem_enabled"

/* Since 6.12 a huge page of shared memory is one entry in swap, and comes back page by page. */
static void huge_pages_of_shared_memory(void)
{
	struct traffic t;

	expect(write_file("/proc/sys/vm/drop_caches", "3"), 0);
	expect(write_file("/proc/sys/vm/compact_memory", "1"), 0);
	expect(write_file(SHMEM_ENABLED, "advise"), 0);
	start_hogs_of(HOG_SHARED_HUGE, HOG_RANDOM, 3, three_equal);
	expect_within(5000, cg_key(hogs[0].cgroup, "memory.stat", "shmem_thp") > 10ll << 20,
		      "no huge pages");
	rotate(32, 1500, MTS_EVICT_FULL);
	t = traffic_of_rounds(3);
	note("%lu pages, %lu reads of %lu sectors, %lu major faults", t.pages, t.reads, t.sectors,
	     t.faults);
	expect(write_file(SHMEM_ENABLED, "never"), 0);
	check(t.pages > 2 * 3 * 20 * MIB / PAGE, "%lu pages brought back: %s", t.pages, describe());
	check(t.faults < t.pages / 20, "%lu pages brought back, but %lu major faults", t.pages,
	      t.faults);
	check(t.sectors / t.reads >= 40, "%lu sectors in %lu requests", t.sectors, t.reads);
}

static void run(const char *command)
{
	int status = system(command);

	check(!status, "%s: status %d", command, status);
}

/* Of the same priority: the kernel fills them in turns. */
static void two_swap_disks(void)
{
	u64 first, second;
	struct traffic t;

	run("[ -d /sys/kernel/config/nullb/nullb1 ] ||"
	    " { cd /sys/kernel/config/nullb && mkdir nullb1 && cd nullb1 && echo 128 >size &&"
	    " echo 1 >memory_backed && echo 4096 >blocksize && echo 2 >irqmode &&"
	    " echo 1 >submit_queues && echo 100000 >completion_nsec && echo 1 >power &&"
	    " echo 0 >/sys/block/nullb1/queue/rotational && mkswap /dev/nullb1; } >/dev/null");
	swap_off("/dev/nullb0");
	swap_on("/dev/nullb0", 5);
	swap_on("/dev/nullb1", 5);
	start_hogs(HOG_RANDOM, 3, three_equal);
	rotate(32, 1500, MTS_EVICT_FULL);
	wait_rounds(1);
	first = swap_stat(SWAP_SECTORS_READ);
	second = disk_stat("nullb1", SWAP_SECTORS_READ);
	t = traffic_of_rounds(3);
	first = swap_stat(SWAP_SECTORS_READ) - first;
	second = disk_stat("nullb1", SWAP_SECTORS_READ) - second;
	note("%lu pages, %lu and %lu sectors, the first disk in %lu reads, %lu major faults",
	     t.pages, first, second, t.reads, t.faults);
	set_mode(MTS_MODE_OFF);
	expect_all_thawed(2000);
	while (nhogs)
		hog_kill(&hogs[--nhogs]);
	swap_off("/dev/nullb1");
	swap_off("/dev/nullb0");
	swap_on("/dev/nullb0", -1);
	check(first > t.pages && second > t.pages, "%lu and %lu sectors for %lu pages", first,
	      second, t.pages);
	check(t.sectors / t.reads >= 64, "%lu sectors in %lu requests", t.sectors, t.reads);
	check(t.faults < t.pages / 20, "%lu pages brought back, but %lu major faults", t.pages,
	      t.faults);
}

/* What is read without waiting is mapped at once, and the kernel keeps no copy of it in swap. */
static void zram(void)
{
	struct traffic t;

	swap_zram("0");
	start_hogs(HOG_RANDOM, 3, three_equal);
	rotate(32, 1500, MTS_EVICT_FULL);
	t = traffic_of_rounds(3);
	note("%lu pages, %lu KiB evicted, %lu major faults", t.pages, t.evicted >> 10, t.faults);
	set_mode(MTS_MODE_OFF);
	expect_all_thawed(2000);
	check(t.pages > 2 * 3 * 20 * MIB / PAGE, "%lu pages brought back", t.pages);
	check(t.evicted > 2 * 3 * 20 * MIB, "%lu KiB evicted", t.evicted >> 10);
	check(t.faults < t.pages / 20, "%lu pages brought back, but %lu major faults", t.pages,
	      t.faults);
}

static u64 zram_failed_writes(void)
{
	unsigned long reads, writes;
	char text[128];

	expect(read_file("/sys/block/zram0/io_stat", text, sizeof(text)), 0);
	check(sscanf(text, "%lu %lu", &reads, &writes) == 2, "io_stat: %s", text);
	return writes;
}

/*
 * A zram that has no room takes no more pages, but says so only page by page: whoever asks for some
 * to be evicted would have each tried up to 32 times. That is cut short, and then not asked for any
 * more; turns go on without, and end as always.
 */
static void zram_that_is_full(void)
{
	u64 before[3], failed, longest = 0;
	long mark;
	u32 i;

	mark = log_mark();
	swap_zram("256K");
	start_hogs(HOG_RANDOM, 3, three_equal);
	rotate(32, 500, MTS_EVICT_FULL);
	wait_rounds(2);
	failed = zram_failed_writes();
	for (i = 0; i < 3; i++)
		before[i] = hog_progress(&hogs[i]);
	wait_rounds(3);
	for (i = 0; i < 3; i++)
		check(hog_progress(&hogs[i]) > before[i], "%s stands still: %s", hogs[i].name,
		      describe());
	for (i = 0; i < 3; i++) {
		u64 ms = job_named(hogs[i].name).frozen_longest_ns / NS_PER_MS;

		longest = ms > longest ? ms : longest;
	}
	note("%lu writes failed; longest pause %lu ms", failed, longest);
	set_mode(MTS_MODE_OFF);
	expect_all_thawed(2000);
	check(log_says(mark, "swap takes no more"), "the log does not say so");
	check(failed > 1000, "it has room: %lu writes failed", failed);
	/* It was 30 s, and would be minutes with jobs of a usual size. */
	check(longest < 20000, "%lu ms in one pause", longest);
}

GUEST_TESTS(TEST_WITHIN(zram, 120), TEST_WITHIN(zram_that_is_full, 120),
	    TEST_WITHIN(huge_pages, 120), TEST_WITHIN(shared_memory, 120),
	    TEST_WITHIN(huge_pages_of_shared_memory, 120), TEST_WITHIN(two_swap_disks, 120));

// SPDX-License-Identifier: GPL-2.0
/* The bin that is to run is read back in bulk, while it still stands still. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "guest.h"

#define LIST_PAGES "/sys/module/mts/parameters/debug_list_pages"

/* Nearly all that was evicted comes back before the job runs, in long requests. */
static void expect_back_before_they_run(void)
{
	struct mts_stats before, after;
	u64 faults, reads, sectors, pages;

	start_hogs(HOG_RANDOM, 3, three_equal);
	rotate(32, 1500, MTS_EVICT_FULL);
	wait_rounds(1);
	before = get_stats();
	faults = hogs_major_faults();
	reads = swap_stat(SWAP_READS);
	sectors = swap_stat(SWAP_SECTORS_READ);
	wait_rounds(3);
	after = get_stats();
	faults = hogs_major_faults() - faults;
	reads = swap_stat(SWAP_READS) - reads;
	sectors = swap_stat(SWAP_SECTORS_READ) - sectors;
	pages = after.brought_back - before.brought_back;
	check(pages > 2 * 3 * 20 * MIB / PAGE, "%lu pages brought back: %s", pages, describe());
	check(after.bring_back_ns > before.bring_back_ns, "in no time");
	check(faults < pages / 20, "%lu pages brought back, but %lu major faults", pages, faults);
	check(sectors / reads >= 64, "%lu sectors in %lu requests", sectors, reads);
}

static void comes_back_before_it_runs(void)
{
	expect_back_before_they_run();
}

/* 16 MiB is the least; a bin of more takes several. */
static void comes_back_by_several_lists(void)
{
	expect(write_file(LIST_PAGES, "4096"), 0);
	expect_back_before_they_run();
}

/* When the other has ended, nothing has to fit any more: the last one's memory comes, too. */
static void comes_back_to_the_last(void)
{
	start_hogs(HOG_RANDOM, 2, three_equal);
	rotate(32, 20000, MTS_EVICT_FULL);
	wait_rounds(1);
	expect_comes_back_to_the_last(20, 10000);
}

/* What a job only reads keeps its place in swap, and is not written again. */
static void what_was_not_written_is_not_written_again(void)
{
	struct mts_stats before;
	u64 sectors, evicted;

	start_hogs(HOG_READER, 3, three_equal);
	rotate(32, 700, MTS_EVICT_FULL);
	wait_rounds(2);
	before = get_stats();
	sectors = swap_stat(SWAP_SECTORS_WRITTEN);
	wait_rounds(3);
	evicted = get_stats().evict_got - before.evict_got;
	sectors = swap_stat(SWAP_SECTORS_WRITTEN) - sectors;
	check(evicted > 100 * MIB, "evicted %lu KiB", evicted >> 10);
	check(sectors * 512 < evicted / 8, "evicted %lu KiB and wrote %lu KiB", evicted >> 10,
	      sectors / 2);
}

#define FEW 4u
#define SLOTS 512u

static void page_out_few(int pidfd, const struct hog *hog, u64 index)
{
	struct iovec few = { .iov_base = (void *)(hog_memory(hog) + index * PAGE),
			     .iov_len = FEW * PAGE };

	check(syscall(SYS_process_madvise, pidfd, &few, 1ul, MADV_PAGEOUT, 0u) == FEW * PAGE,
	      "%s: page %lu: %m", hog->name, index);
}

/* Some of one, some of the other, as when all reclaim at once. Return: how many lie so. */
static u64 page_out_in_turns(const struct hog *a, const struct hog *b, u64 pages)
{
	int fd_a = (int)syscall(SYS_pidfd_open, a->pid, 0u);
	int fd_b = (int)syscall(SYS_pidfd_open, b->pid, 0u);
	u64 i, beside = 0;

	for (i = 0; i < pages; i += FEW) {
		page_out_few(fd_a, a, i);
		page_out_few(fd_b, b, i);
	}
	close(fd_a);
	close(fd_b);
	for (i = 0; i < pages; i++)
		beside += hog_slot(a, i) && hog_slot(a, i) + FEW == hog_slot(b, i);
	return beside;
}

static bool both_wait(void)
{
	struct mts_job_info a = job_named("a"), b = job_named("b");

	return get_status().state == MTS_STATE_RUNNING && waits_for_its_turn(&a) &&
	       waits_for_its_turn(&b);
}

static bool swap_high_is(const struct hog *hog, const char *value)
{
	char text[32];

	return !cg_read(hog->cgroup, "memory.swap.high", text, sizeof(text)) &&
	       !strncmp(text, value, strlen(value));
}

static int by_value(const void *a, const void *b)
{
	const u64 *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* How many pages of a job lie side by side in swap, on average. */
static u64 side_by_side(const struct hog *hog, u64 pages)
{
	u64 slots[SLOTS], i, runs = 0, n = 0;

	check(pages <= SLOTS, "%lu pages", pages);
	hog_slots(hog, 0, pages, slots);
	for (i = 0; i < pages; i++)
		if (slots[i])
			slots[n++] = slots[i];
	check(n > pages / 2, "%lu pages of %s are in swap: %s", n, hog->name, describe());
	qsort(slots, n, sizeof(*slots), by_value);
	for (i = 0; i < n; i++)
		runs += !i || slots[i] != slots[i - 1] + 1;
	return n / runs;
}

/*
 * What lies in swap page by page between the pages of others is not written there again page by
 * page, if the disk is slow at that: once it has been back it goes out to places side by side. From
 * Linux 7.0 on it takes memory.swap.high of the jobs for that (module/memory/swap_slots.h). The
 * requests do not tell: what is used in a part of the slice only goes out in two parts, both with
 * gaps.
 */
static void what_lay_scattered_goes_out_in_one(void)
{
	static const unsigned int two_small[] = { 2, 2, 4 };
	const u64 pages = 2 * MIB / PAGE;
	u64 beside, before, after;

	swap_use(&(struct swap_disk){ .mib = 256, .request_us = 4700 });
	start_hogs(HOG_RANDOM, 3, two_small);
	expect(cg_write(hogs[0].cgroup, "memory.swap.high", "1073741824"), 0);
	rotate(5, 5000, MTS_EVICT_OFF);
	expect_within(20000, both_wait(), "%s", describe());
	beside = page_out_in_turns(&hogs[0], &hogs[1], pages);
	check(beside > pages / 2, "only %lu pages lie beside one of the other job", beside);
	before = side_by_side(&hogs[0], pages);
	check(before <= 2 * FEW, "%lu pages lie side by side already", before);
	set_config(&(struct mts_config){
		.mask = MTS_CONFIG_EVICT | MTS_CONFIG_SLICE,
		.evict = MTS_EVICT_FULL,
		.slice_ns = 2000 * NS_PER_MS,
	});
	wait_rounds(2);
	expect_soon(both_wait(), "%s", describe());
	after = side_by_side(&hogs[0], pages);
	note("%lu pages side by side, %lu afterwards", before, after);
	check(after >= 16, "%lu pages lie side by side, %lu afterwards", before, after);
	expect_within(10000, swap_high_is(&hogs[0], "1073741824"), "memory.swap.high was left");
	expect_within(10000, swap_high_is(&hogs[1], "max"), "memory.swap.high was left");
}

static void readahead_is_as_it_was(void)
{
	check(readahead_is("true"), "readahead is off to begin with");
	start_hogs(HOG_RANDOM, 3, three_equal);
	rotate(32, 300, MTS_EVICT_FULL);
	wait_rounds(3);
	set_mode(MTS_MODE_OFF);
	expect_within(20000, get_status().state == MTS_STATE_OFF, "%s", describe());
	check(readahead_is("true"), "readahead was left off");

	set_readahead("false");
	set_mode(MTS_MODE_ALWAYS);
	wait_rounds(2);
	set_mode(MTS_MODE_OFF);
	expect_within(20000, get_status().state == MTS_STATE_OFF, "%s", describe());
	check(readahead_is("false"), "the administrator's setting is lost");
	set_readahead("true");
}

static void unload_in_the_middle(void)
{
	unsigned int i;

	for (i = 0; i < 3; i++) {
		start_hogs(HOG_RANDOM, 3, three_equal);
		rotate(32, 100, MTS_EVICT_FULL);
		in_the_middle_of_it();
		mts_close();
		expect(module_unload(), 0);
		check(readahead_is("true"), "readahead was left off");
		for (nhogs = 3; nhogs; nhogs--) {
			check(!cg_freeze_asked(hogs[nhogs - 1].cgroup), "left frozen");
			hog_expect_progress(&hogs[nhogs - 1], 5000);
			kill_and_join(hogs[nhogs - 1].pid);
		}
		expect(module_load(""), 0);
		mts_open();
	}
}

static void thaw_in_the_middle(void)
{
	unsigned int i;

	start_hogs(HOG_RANDOM, 3, three_equal);
	for (i = 0; i < 5; i++) {
		rotate(32, 100, MTS_EVICT_FULL);
		in_the_middle_of_it();
		expect(mts_ioctl(MTS_IOC_THAW, NULL), 0);
		expect_all_thawed(1000);
		expect_within(5000, readahead_is("true"), "readahead was left off");
	}
}

static void killed_in_the_middle(void)
{
	unsigned int i;

	for (i = 0; i < 3; i++) {
		start_hogs(HOG_RANDOM, 3, three_equal);
		rotate(32, 100, MTS_EVICT_FULL);
		in_the_middle_of_it();
		for (nhogs = 3; nhogs; nhogs--)
			kill(hogs[nhogs - 1].pid, SIGKILL);
		for (nhogs = 3; nhogs; nhogs--)
			join(hogs[nhogs - 1].pid, 3000);
		expect_within(3000, !count_jobs(), "%s", describe());
	}
	check(readahead_is("true"), "readahead was left off");
}

/* Its owner's limit is kept, and nobody is killed for it. */
static void a_job_with_a_limit_of_its_own(void)
{
	struct hog other;

	start_hogs(HOG_RANDOM, 2, three_equal);
	cg_make("t-limit");
	expect(cg_write("t-limit", "memory.max", "16777216"), 0);
	hog_start(&other,
		  &(struct hog_spec){ .cgroup = "t-limit", .mib = 24, .kind = HOG_SEQUENTIAL });
	add_job("t-limit", 0);
	rotate(32, 500, MTS_EVICT_FULL);
	wait_rounds(3);
	check(cg_key("t-limit", "memory.events", "oom_kill") == 0, "killed for its limit");
	hog_expect_progress(&other, 10000);
}

/* A container of the job's: our faults do not stop at its limit, so they must not be tried. */
static void a_limit_within_a_job(void)
{
	const long long limit = 16 * (long long)MIB;
	struct hog other;

	start_hogs(HOG_RANDOM, 2, three_equal);
	cg_make("t-outer");
	expect(cg_write("t-outer", "cgroup.subtree_control", "+memory"), 0);
	cg_make("t-outer/limit");
	expect(cg_write("t-outer/limit", "memory.max", "16777216"), 0);
	hog_start(&other, &(struct hog_spec){
				  .cgroup = "t-outer/limit", .mib = 24, .kind = HOG_SEQUENTIAL });
	add_job("t-outer", 0);
	rotate(32, 500, MTS_EVICT_FULL);
	wait_rounds(3);
	check(cg_number("t-outer/limit", "memory.peak") <= limit + (long long)MIB,
	      "%lld bytes of %lld: %s", cg_number("t-outer/limit", "memory.peak"), limit,
	      describe());
	check(job_named("t-outer").slices >= 2, "%s", describe());
	hog_expect_progress(&other, 10000);
}

GUEST_TESTS(TEST(comes_back_before_it_runs), TEST(comes_back_by_several_lists),
	    TEST(comes_back_to_the_last), TEST(what_was_not_written_is_not_written_again),
	    TEST(what_lay_scattered_goes_out_in_one), TEST(readahead_is_as_it_was),
	    TEST(unload_in_the_middle), TEST(thaw_in_the_middle), TEST(killed_in_the_middle),
	    TEST(a_job_with_a_limit_of_its_own), TEST(a_limit_within_a_job));

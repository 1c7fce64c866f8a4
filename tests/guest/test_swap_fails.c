// SPDX-License-Identifier: GPL-2.0
/* Swap is full, slow or bad; processes and memory go while a bin is being brought back. */
#include "guest.h"

#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/uio.h>

/* 24 MiB in long requests: a fraction of a second; in single pages: 12 s. */
static const struct swap_disk slow = { .mib = 128, .request_us = 2000 };

/* A bin is being brought back, and what is left of it takes long. */
static void in_the_middle_of_one_for(u64 max_pause_ns, const unsigned int *mib)
{
	swap_use(&slow);
	start_hogs(HOG_RANDOM, 3, mib);
	rotate(32, 300, MTS_EVICT_FULL);
	set_max_pause(max_pause_ns);
	in_the_middle_of_it();
	swap_request_kib(4);
}

static void in_the_middle_of_a_slow_one(const unsigned int *mib)
{
	in_the_middle_of_one_for(30000 * NS_PER_MS, mib);
}

/* It is the bin of that job. Another one that is caught first comes back in long requests. */
static void in_the_middle_of_a_slow_one_of(const char *job, const unsigned int *mib)
{
	unsigned int tries;

	in_the_middle_of_a_slow_one(mib);
	for (tries = 1; get_status().current_bin != job_named(job).bin; tries++) {
		check(tries < 20, "%s never comes back: %s", job, describe());
		swap_request_kib(SWAP_REQUEST_MAX_KIB);
		expect_within(20000, !is_bringing_back(), "%s", describe());
		in_the_middle_of_it();
		swap_request_kib(4);
	}
}

/* It was not over by itself, and leaves nothing behind. */
static void expect_ended(u64 began, unsigned int ms)
{
	u64 took;

	wait_until(!is_bringing_back(), 20000);
	took = now_ms() - began;
	check(readahead_is("true"), "readahead was left off");
	check(took < ms, "bringing back took %llu ms more", (unsigned long long)took);
	note("bringing back ended after %llu ms", (unsigned long long)took);
}

/* The first @n hogs still run, with nothing left over from before. */
static void expect_sound(unsigned int n)
{
	set_mode(MTS_MODE_OFF);
	expect_within(10000, get_status().state == MTS_STATE_OFF, "%s", describe());
	nhogs = n;
	expect_all_thawed(1000);
	check(readahead_is("true"), "readahead was left off");
}

/* They still take turns. */
static void expect_rotation_with(unsigned int n)
{
	unsigned int i;

	swap_request_kib(SWAP_REQUEST_MAX_KIB);
	wait_rounds(1);
	for (i = 0; i < n; i++)
		hog_expect_progress(&hogs[i], 20000);
	expect_sound(n);
}

/* ---- swap is full ------------------------------------------------------------------- */

/* The outgoing bin does not fit in swap: turns are taken, but it stays in memory in part. */
static void swap_is_full(void)
{
	u64 asked, got, oom = vmstat("oom_kill");
	struct mts_stats before, after;
	long mark = log_mark();
	unsigned int i;

	swap_use(&(struct swap_disk){ .mib = 20 });
	start_hogs(HOG_RANDOM, 3, three_equal);
	rotate(32, 300, MTS_EVICT_FULL);
	wait_rounds(1);
	before = get_stats();
	wait_rounds(3);
	after = get_stats();
	asked = after.evict_asked - before.evict_asked;
	got = after.evict_got - before.evict_got;
	note("asked for %llu KiB, got %llu KiB", (unsigned long long)asked >> 10,
	     (unsigned long long)got >> 10);
	/* Once it is full nobody is searched for more to evict. */
	check(got > 0 && asked < got * 3 / 2, "asked for in vain");
	check(after.failsafe_thaws == before.failsafe_thaws, "%s", describe());
	check(vmstat("oom_kill") == oom, "the kernel killed for lack of memory");
	expect_within(5000, strstr(get_status().detail, "swap is full"), "%s", describe());
	check(log_says(mark, "swap is full"), "the log does not say so");
	for (i = 0; i < 3; i++)
		check(job_named(hogs[i].name).frozen_longest_ns < 10000 * NS_PER_MS, "%s",
		      describe());
	expect_rotation_with(3);
}

/* ---- what is in swap cannot be read ------------------------------------------------- */

static int compare_u64(const void *a, const void *b)
{
	const u64 *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

#define REQUEST_PAGES (SWAP_REQUEST_MAX_KIB * 1024ull / PAGE)

/* The places in swap of a hog's pages, in order. Return: how many. */
static u64 get_slots(const struct hog *hog, u64 mib, u64 *slots)
{
	u64 i, n = 0;

	hog_slots(hog, 0, mib * MIB / PAGE, slots);
	for (i = 0; i < mib * MIB / PAGE; i++)
		if (slots[i])
			slots[n++] = slots[i];
	qsort(slots, n, sizeof(slots[0]), compare_u64);
	return n;
}

#define SPOILT_AT_ONCE 64

/* Is nobody else's page in a request with this one? null_blk fails whole requests. */
static bool is_lonely(const u64 *slots, u64 n, u64 i)
{
	return i >= REQUEST_PAGES && i + REQUEST_PAGES < n &&
	       slots[i + REQUEST_PAGES] - slots[i - REQUEST_PAGES] == 2 * REQUEST_PAGES;
}

/* Places side by side, the first in *first. Of 24 MiB. Return: how many; 0: there is none now. */
static u64 lonely_slots(const struct hog *hog, u64 *first)
{
	static u64 slots[24 * MIB / PAGE];
	u64 i, n = get_slots(hog, 24, slots), found = 0;

	for (i = 0; i < n && !is_lonely(slots, n, i); i++)
		;
	while (found < SPOILT_AT_ONCE && is_lonely(slots, n, i + found))
		found++;
	if (found)
		*first = slots[i];
	return found;
}

/*
 * Spoils some places until they strike: between a look and the spoiling a page may have come back,
 * or it may still be in the swap cache, so that nobody reads it. Whoever else gets a place that
 * was missed must find it sound.
 */
static void spoil_some_of(const struct hog *hog)
{
	struct mts_job_info job;
	unsigned int tries;
	u64 first = 0, n = 0, slices;

	for (tries = 1; tries <= 10; tries++) {
		/* What is still being written would be found out by the write. */
		expect_within(30000,
			      get_status().state == MTS_STATE_RUNNING &&
				      (n = lonely_slots(hog, &first)),
			      "%s", describe());
		slices = job_named(hog->name).slices;
		swap_spoil(first, n);
		wait_until(!is_alive(hog->pid) || !find_job(hog->name, &job) ||
				   (job.slices >= slices + 2 && job.state == MTS_JOB_FROZEN),
			   30000);
		if (!is_alive(hog->pid)) {
			note("at try %u", tries);
			return;
		}
		swap_mend();
	}
	fail("nothing is read from where %s was: %s", hog->name, describe());
}

/*
 * The block layer says it once for each request. What the swap code says of each page is limited to
 * ten in 5 s, so that nothing may be left for the second test.
 */
static bool read_failed(long mark)
{
	return log_says(mark, "I/O error") && log_says(mark, "(READ)");
}

/* Found while it is brought back: nobody but who touches it is killed, the others come back. */
static void read_error_in_bring_back(void)
{
	struct mts_stats before;
	long mark = log_mark();

	swap_use(&(struct swap_disk){ .mib = 256 });
	start_hogs(HOG_RANDOM, 3, three_equal);
	rotate(32, 300, MTS_EVICT_FULL);
	spoil_some_of(&hogs[2]);
	check(join(hogs[2].pid, 30000) == 128 + SIGBUS, "it ended otherwise");
	check(read_failed(mark), "there was no error");
	expect_within(10000, !find_job("c", NULL), "%s", describe());
	before = get_stats();
	wait_rounds(2);
	check(get_stats().brought_back - before.brought_back > 2 * 20 * MIB / PAGE,
	      "the others do not come back any more");
	check(get_stats().failsafe_thaws == before.failsafe_thaws, "%s", describe());
	expect_rotation_with(2);
}

/* Found by the job itself: one that a limit of its own makes swap in its slice. */
static void read_error_in_a_slice(void)
{
	static u64 slots[24 * MIB / PAGE];
	u64 i, n, end;

	swap_use(&(struct swap_disk){ .mib = 256 });
	start_hogs(HOG_RANDOM, 2, three_equal);
	cg_make("t-limit");
	expect(cg_write("t-limit", "memory.max", "16777216"), 0);
	hog_start(&hogs[2],
		  &(struct hog_spec){ .cgroup = "t-limit", .mib = 24, .kind = HOG_RANDOM });
	add_job("t-limit", 0);
	rotate(32, 1000, MTS_EVICT_OFF);
	expect_rotation(3);
	/* By the time they are spoiled, some have been read. */
	for (end = now_ms() + 20000; is_alive(hogs[2].pid); sleep_ms(100)) {
		check(now_ms() < end, "it is not killed: %s", describe());
		n = get_slots(&hogs[2], 24, slots);
		for (i = 0; i < n; i += 64)
			swap_spoil(slots[i], 1);
	}
	/* A page that cannot be read; the kernel has said so too often of late to say it again. */
	check(join(hogs[2].pid, 1000) == 128 + SIGBUS, "it ended otherwise");
	expect_rotation_with(2);
}

/*
 * Nearly all of a process is unreadable, and it never asks for it: the others are brought back,
 * and it is found out at each switch that something cannot be read, but not all that cannot.
 */
static void unreadable_and_unused(void)
{
	static u64 slots[40 * MIB / PAGE];
	struct mts_stats before, after;
	u64 i, n = 0, read;
	struct hog sleeper;

	swap_use(&(struct swap_disk){ .mib = 256 });
	start_hogs(HOG_RANDOM, 2, three_equal);
	hog_start(&sleeper, &(struct hog_spec){ .name = "s", .mib = 40, .kind = HOG_SLEEP });
	rotate(68, 300, MTS_EVICT_FULL);
	expect_rotation(2);
	expect_within(30000, (n = get_slots(&sleeper, 40, slots)) > 36 * MIB / PAGE,
		      "%llu pages: %s", (unsigned long long)n, describe());
	for (i = 0; i < n; i++)
		if (is_lonely(slots, n, i))
			swap_spoil(slots[i], 1);
	wait_rounds(2);
	before = get_stats();
	read = swap_stat(SWAP_SECTORS_READ);
	wait_rounds(2);
	after = get_stats();
	read = (swap_stat(SWAP_SECTORS_READ) - read) * 512;
	note("%llu pages brought back in %llu switches, %llu MiB read",
	     after.brought_back - before.brought_back, after.switches - before.switches,
	     (unsigned long long)(read / MIB));
	check(after.brought_back - before.brought_back > 2 * 2 * 20 * MIB / PAGE,
	      "the others do not come back any more");
	/* A good 48 MiB a round, what is read ahead, 16 MiB, and between what is passed over. */
	check(read < 2 * (48 + 28) * MIB, "read %llu MiB", (unsigned long long)(read / MIB));
	check(is_alive(sleeper.pid), "it was killed for what it did not touch");
	expect_sound(2);
}

/*
 * Up to 64 pages of a process that sleeps are unreadable: the rest of the process comes back. The
 * process never uses its memory, so it is not killed.
 */
static void a_bad_page_ends_no_bring_back(void)
{
	long mark = log_mark();
	struct hog sleeper;
	u64 first = 0, n = 0, most;

	swap_use(&(struct swap_disk){ .mib = 256 });
	start_hogs(HOG_RANDOM, 2, three_equal);
	hog_start(&sleeper, &(struct hog_spec){ .name = "s", .mib = 40, .kind = HOG_SLEEP });
	rotate(44, 300, MTS_EVICT_FULL);
	expect_rotation(3);
	expect_within(30000,
		      get_status().state == MTS_STATE_RUNNING &&
			      (n = lonely_slots(&sleeper, &first)),
		      "%s", describe());
	swap_spoil(first, n);
	expect_within(60000, read_failed(mark), "nothing is read from there: %s", describe());
	/*
	 * All but the bad pages, the rest of their requests, and the pages passed over. The reads
	 * of two batches, 16 MiB, have been started before the first error is seen.
	 */
	expect_within(30000, (most = (u64)cg_number(sleeper.cgroup, "memory.current")) > 32 * MIB,
		      "%llu KiB come back: %s", (unsigned long long)most >> 10, describe());
	check(is_alive(sleeper.pid), "it was killed for what it did not touch");
	expect_sound(2);
}

/* ---- processes and memory go ------------------------------------------------------------ */

static long long held_by(const char *cgroup)
{
	return cg_number(cgroup, "memory.current") + cg_number(cgroup, "memory.swap.current");
}

/* Two share the bin: the one whose pages come first is killed, the other comes back. */
static void one_killed_in_the_middle(void)
{
	static const unsigned int mib[] = { 24, 14, 14 };
	struct hog victim;
	u64 began, before;

	in_the_middle_of_a_slow_one_of("b", mib);
	victim = hogs[1];
	hogs[1] = hogs[2];
	before = get_stats().brought_back;
	began = now_ms();
	kill(victim.pid, SIGKILL);
	check(join(victim.pid, 5000) == 128 + SIGKILL, "it ended otherwise");
	check(now_ms() - began < 1000, "it took %llu ms to die",
	      (unsigned long long)(now_ms() - began));
	expect_within(1000, held_by(victim.cgroup) < (long long)MIB, "its memory is kept: %lld KiB",
		      held_by(victim.cgroup) >> 10);
	expect_within(1000, !cg_remove(victim.cgroup) || !cg_exists(victim.cgroup),
		      "its cgroup cannot be removed: %m");
	check(is_bringing_back(), "nothing is brought back any more");
	swap_request_kib(SWAP_REQUEST_MAX_KIB);
	expect_ended(began, 10000);
	expect_within(2000, get_stats().brought_back > before + 10 * MIB / PAGE,
		      "the other one has not come back: %s", describe());
	expect_rotation_with(2);
}

static void thawed_in_the_middle(void)
{
	u64 began;

	in_the_middle_of_a_slow_one(three_equal);
	began = now_ms();
	expect(mts_ioctl(MTS_IOC_THAW, NULL), 0);
	expect_all_thawed(1000);
	expect_ended(began, 1000);
	expect_sound(3);
}

/* The watchdog has thawed the bin: it runs already, and the rotor is wanted elsewhere. */
static void overdue_in_the_middle(void)
{
	u64 began, before = get_stats().overdue_thaws;

	/* Longer than a round of whole requests, shorter than one with 24 MiB in single pages. */
	in_the_middle_of_one_for(12000 * NS_PER_MS, three_equal);
	began = now_ms();
	expect_ended(began, 13000);
	check(get_stats().overdue_thaws > before, "it ended otherwise: %s", describe());
	swap_request_kib(SWAP_REQUEST_MAX_KIB);
	set_mode(MTS_MODE_OFF);
	/* It may be evicting, from a job that has been thawed meanwhile. */
	expect_within(30000, get_status().state == MTS_STATE_OFF, "%s", describe());
	expect_sound(3);
}

static void switched_off_in_the_middle(void)
{
	u64 began;

	in_the_middle_of_a_slow_one(three_equal);
	began = now_ms();
	set_mode(MTS_MODE_OFF);
	expect_ended(began, 1000);
	expect_sound(3);
}

/* To bins of two: what was under way is not waited for, and they take turns as they should. */
static void reconfigured_in_the_middle(void)
{
	struct mts_config config = { .mask = MTS_CONFIG_BIN, .bin_bytes = 60 * MIB };

	in_the_middle_of_a_slow_one(three_equal);
	expect(get_status().bins, 3);
	set_config(&config);
	expect_within(3000, get_status().bins == 2, "%s", describe());
	expect_rotation_with(3);
}

/* The host sleeps, and wakes up: all run meanwhile, and take turns again. */
static void suspended_in_the_middle(void)
{
	u64 before;
	pid_t pid;

	in_the_middle_of_a_slow_one(three_equal);
	before = get_stats().failsafe_thaws;
	pid = start_suspend();
	/* The host wakes up soon, and the next one begins. */
	expect_within(2000,
		      get_status().state == MTS_STATE_PAUSED && !get_status().frozen &&
			      !is_bringing_back(),
		      "%s", describe());
	expect(end_suspend(pid), 0);
	expect(get_stats().failsafe_thaws, before + 1);
	expect_rotation_with(3);
}

static void unloaded_in_the_middle(void)
{
	unsigned int i;
	u64 began;

	in_the_middle_of_a_slow_one(three_equal);
	mts_close();
	began = now_ms();
	expect(module_unload(), 0);
	check(now_ms() - began < 2000, "it took %llu ms", (unsigned long long)(now_ms() - began));
	expect_ended(began, 2000);
	swap_request_kib(SWAP_REQUEST_MAX_KIB);
	for (i = 0; i < 3; i++) {
		check(!cg_freeze_asked(hogs[i].cgroup), "left frozen");
		hog_expect_progress(&hogs[i], 5000);
	}
	expect(module_load(""), 0);
	mts_open();
}

/* Shared with the eater. */
static _Atomic u64 *left;

/* Takes memory until no more than *left bytes are available, and whatever is freed. */
static pid_t start_eater(u64 at_first)
{
	pid_t pid;

	left = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	check(left != MAP_FAILED, "mmap: %m");
	*left = at_first;
	pid = spawn();
	if (pid) {
		expect_within(30000, memory_available() < at_first + 2 * MIB,
			      "%llu MiB are available",
			      (unsigned long long)(memory_available() / MIB));
		return pid;
	}
	mts_close();
	write_file("/proc/self/oom_score_adj", "1000");
	for (;;)
		if (memory_available() > *left)
			mmap(NULL, 2 * MIB, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
		else
			sleep_ms(1);
}

#define WATERMARK_BOOST "/proc/sys/vm/watermark_boost_factor"

/*
 * Somebody else takes what there is: what has come must do. The rotor must not look for memory by
 * writing out others', page by page on this disk; nor must this process, which looks at the clock.
 */
static void memory_gone_in_the_middle(void)
{
	u64 began, before, oom = vmstat("oom_kill");
	struct hog *incoming;
	pid_t eater;

	/* Else the kernel may keep more than a 64th to itself. */
	expect(write_file(WATERMARK_BOOST, "0"), 0);
	eater = start_eater(150 * MIB);
	in_the_middle_of_a_slow_one(three_equal);
	incoming = hog_of_bin(get_status().current_bin);
	before = get_stats().brought_back;
	expect(prctl(PR_SET_IO_FLUSHER, 1, 0, 0, 0), 0);
	/* Of 1024 MiB a 64th, 16, are too little to go on. */
	*left = 12 * MIB;
	/* How long the eater takes on a busy host is not what is asked. */
	wait_until(!is_bringing_back() || memory_available() < 14 * MIB, 20000);
	began = now_ms();
	expect_ended(began, 2000);
	/* It is counted then, and the next one has not begun. */
	sleep_ms(100);
	check(get_stats().brought_back < before + 20 * MIB / PAGE, "it was over by itself");
	swap_request_kib(SWAP_REQUEST_MAX_KIB);
	hog_expect_progress(incoming, 5000);
	kill_and_join(eater);
	expect(prctl(PR_SET_IO_FLUSHER, 0, 0, 0, 0), 0);
	expect(write_file(WATERMARK_BOOST, "15000"), 0);
	check(vmstat("oom_kill") == oom, "the kernel killed for lack of memory");
	expect_rotation_with(3);
}

static void expect_all_used(void)
{
	unsigned int i;

	for (i = 0; i < nhogs; i++)
		check(job_named(hogs[i].name).unused < 4 * MIB, "unused memory of %s: %s",
		      hogs[i].name, describe());
}

/* Jobs that waited for pages all their slices have not shown what they can do without. */
static void starved_in_their_slices(void)
{
	u64 before;
	pid_t eater;

	expect(write_file(WATERMARK_BOOST, "0"), 0);
	eater = start_eater(150 * MIB);
	in_the_middle_of_a_slow_one(three_equal);
	/* With 12 the kernel itself is out of memory now and then, on 7.2. */
	*left = 14 * MIB;
	before = get_stats().rounds;
	while (get_stats().rounds < before + 4) {
		wait_rounds(1);
		expect_all_used();
	}
	kill_and_join(eater);
	expect(write_file(WATERMARK_BOOST, "15000"), 0);
	expect_rotation_with(3);
}

/* What somebody else pushes out again while it is brought back is not fetched for ever. */
static void paged_out_in_the_middle(void)
{
	struct iovec all;
	int i, fd;

	in_the_middle_of_a_slow_one(three_equal);
	swap_request_kib(SWAP_REQUEST_MAX_KIB);
	for (i = 0; i < 3; i++) {
		all = (struct iovec){ (void *)(uintptr_t)hog_memory(&hogs[i]), 24 * MIB };
		fd = (int)syscall(SYS_pidfd_open, hogs[i].pid, 0);
		check(fd >= 0, "pidfd_open: %m");
		check(syscall(SYS_process_madvise, fd, &all, 1, MADV_PAGEOUT, 0) > 0,
		      "process_madvise: %m");
		close(fd);
	}
	expect_ended(now_ms(), 10000);
	expect_sound(3);
}

/* Whoever wants to change the address space does not wait until its pages are there. */
static void address_space_wanted_in_the_middle(void)
{
	u64 began, before;
	char path[64];
	int i;

	in_the_middle_of_a_slow_one(three_equal);
	before = get_stats().brought_back;
	began = now_ms();
	for (i = 0; i < 3; i++) {
		snprintf(path, sizeof(path), "/proc/%d/clear_refs", hogs[i].pid);
		expect(write_file(path, "1"), 0);
	}
	check(now_ms() - began < 1000, "it took %llu ms", (unsigned long long)(now_ms() - began));
	check(is_bringing_back(), "nothing is brought back any more");
	swap_request_kib(SWAP_REQUEST_MAX_KIB);
	expect_ended(now_ms(), 10000);
	expect_within(2000, get_stats().brought_back > before + 20 * MIB / PAGE,
		      "it was given up: %s", describe());
	expect_sound(3);
}

GUEST_TESTS(TEST(swap_is_full), TEST_WITHIN(read_error_in_bring_back, 240),
	    TEST(read_error_in_a_slice), TEST(unreadable_and_unused),
	    TEST(a_bad_page_ends_no_bring_back), TEST(one_killed_in_the_middle),
	    TEST(thawed_in_the_middle), TEST_WITHIN(overdue_in_the_middle, 120),
	    TEST(switched_off_in_the_middle), TEST(reconfigured_in_the_middle),
	    TEST(suspended_in_the_middle), TEST(unloaded_in_the_middle),
	    TEST(memory_gone_in_the_middle), TEST_WITHIN(starved_in_their_slices, 150),
	    TEST(paged_out_in_the_middle), TEST(address_space_wanted_in_the_middle));

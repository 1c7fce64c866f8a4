// SPDX-License-Identifier: GPL-2.0
/* Swap is on a slow disk: switches take long, and turns begin before each job reclaims. */
#include <stdio.h>
#include <stdlib.h>

#include "guest.h"

/* 12 MiB in long requests take half a second; in single pages, 14. */
static const struct swap_disk slow = { .mib = 128, .request_us = 4700 };
/* Two bins of two. */
static const unsigned int four_equal[] = { 6, 6, 6, 6 };

/* Each of them is a group: two run at a time, and one leaves as another one comes. */
static void exchange_slowly(void)
{
	swap_use(&slow);
	start_hogs(HOG_RANDOM, 4, four_equal);
	rotate(14, 700, MTS_EVICT_FULL);
	set_config(&(struct mts_config){ .mask = MTS_CONFIG_STEP, .step = 1 });
}

static bool is_exchanging(void)
{
	struct mts_status status = get_status();

	return status.state == MTS_STATE_SWITCHING && status.frozen && status.frozen < nhogs;
}

static void in_the_middle_of_a_switch(void)
{
	exchange_slowly();
	wait_rounds(1);
	expect_within(60000, is_exchanging(), "%s", describe());
}

/* Most jobs that are frozen in one switch. */
static unsigned int most_frozen_in(char *text)
{
	unsigned int n = 0, most = 0;
	bool switching = false;
	char *line;

	while ((line = strsep(&text, "\n"))) {
		if (strstr(line, ": mts_switch_begin:")) {
			switching = true;
			n = 0;
		} else if (strstr(line, ": mts_switch_end:")) {
			switching = false;
		} else if (switching && strstr(line, ": mts_freeze:")) {
			most = ++n > most ? n : most;
		}
	}
	return most;
}

static void who_stays_runs_on(void)
{
	static char text[1 << 20];
	struct mts_stats before, after;
	unsigned int i;

	exchange_slowly();
	wait_rounds(1);
	before = get_stats();
	trace_begin();
	wait_rounds(2);
	trace_end(text, sizeof(text));
	after = get_stats();
	check(after.passes - before.passes == after.switches - before.switches &&
		      after.passes > before.passes,
	      "%s", describe());
	expect(most_frozen_in(text), 1);
	check(after.overdue_thaws == before.overdue_thaws, "%s", describe());
	for (i = 0; i < nhogs; i++)
		hog_expect_progress(&hogs[i], 20000);
}

/* Who runs in every bin has it all: each of the others has its turn all the same. */
static void residents_have_all_of_it(void)
{
	static const unsigned int mib[] = { 8, 8, 24 };
	unsigned int i;

	swap_use(&slow);
	start_hogs(HOG_RANDOM, 3, mib);
	set_job(hogs[2].id, MTS_JOB_PIN, MTS_JOB_PIN);
	rotate(16, 700, MTS_EVICT_FULL);
	wait_rounds(1);
	expect(get_status().capacity, 0);
	expect(get_status().bins, 2);
	wait_rounds(2);
	for (i = 0; i < nhogs; i++)
		hog_expect_progress(&hogs[i], 20000);
}

/* ---- in the middle of it ------------------------------------------------------------- */

/* ms; what is under way comes first: thousands of pages, at 4.7 ms each if they lie apart. */
#define GOES_ON 20000

static void thaw_in_a_switch(void)
{
	in_the_middle_of_a_switch();
	expect(mts_ioctl(MTS_IOC_THAW, NULL), 0);
	expect_within(2000, !get_status().frozen, "%s", describe());
	expect_all_go_on(GOES_ON);
}

static void unload_in_a_switch(void)
{
	in_the_middle_of_a_switch();
	mts_close();
	expect(module_unload(), 0);
	expect_all_go_on(GOES_ON);
}

static void killed_in_a_switch(void)
{
	unsigned int n = 4;

	in_the_middle_of_a_switch();
	for (nhogs = 0; n; n--)
		kill_and_join(hogs[n - 1].pid);
	expect_within(5000, !count_jobs(), "%s", describe());
}

/* Jobs that are pinned, or removed, in the middle run. */
static void changed_in_a_switch(void)
{
	unsigned int i;

	in_the_middle_of_a_switch();
	set_job(hogs[0].id, MTS_JOB_PIN, MTS_JOB_PIN);
	remove_job(hogs[1].id);
	for (i = 0; i < nhogs; i++)
		hog_expect_progress(&hogs[i], 20000);
	wait_rounds(1);
	check(!cg_freeze_asked(hogs[0].cgroup) && !cg_freeze_asked(hogs[1].cgroup), "%s",
	      describe());
}

/* ---- the end of turns ------------------------------------------------------------------ */

/* Long enough that a look at it finds each part; in requests of one page it takes a minute. */
static const unsigned int two_large[] = { 48, 48 };

static void everything_fits(void)
{
	struct mts_config config = { .mask = MTS_CONFIG_BIN, .bin_bytes = 256 * MIB };

	set_config(&config);
}

/* It takes longer than a fast disk is given for all of them. */
static void who_is_left_alone_gets_all_of_it(void)
{
	swap_use(&slow);
	start_hogs(HOG_RANDOM, 2, two_large);
	rotate(56, 1000, MTS_EVICT_FULL);
	wait_rounds(1);
	expect_comes_back_to_the_last(44, 30000);
}

static void turns_of_three(void)
{
	static const unsigned int mib[] = { 24, 24, 24 };

	swap_use(&slow);
	start_hogs(HOG_RANDOM, 3, mib);
	rotate(28, 700, MTS_EVICT_FULL);
	wait_rounds(1);
	expect_soon(get_status().state == MTS_STATE_RUNNING, "%s", describe());
	expect(get_status().frozen, 2);
}

static void they_run_one_after_the_other(void)
{
	u64 before, pages;

	turns_of_three();
	before = get_stats().brought_back;
	everything_fits();
	expect_soon(get_status().frozen == 1, "%s", describe());
	expect_within(30000, get_status().state == MTS_STATE_IDLE, "%s", describe());
	expect_all_thawed(1000);
	expect(get_status().reason, MTS_REASON_FITS);
	pages = get_stats().brought_back - before;
	check(pages > 2 * 22 * MIB / PAGE, "%lu pages brought back", pages);
}

/* Both that wait do so for half a minute if nothing happens: single pages. */
static void at_the_end(void)
{
	turns_of_three();
	swap_request_kib(4);
	everything_fits();
	sleep_ms(500);
	expect(get_status().frozen, 2);
	expect(get_status().state, MTS_STATE_SWITCHING);
	expect(get_status().bins, 0);
	check(get_status().current_bin == MTS_BIN_NONE, "%s", describe());
}

static void thaw_at_the_end(void)
{
	at_the_end();
	expect(mts_ioctl(MTS_IOC_THAW, NULL), 0);
	expect_within(2000, !get_status().frozen, "%s", describe());
	expect_all_go_on(GOES_ON);
}

static void unload_at_the_end(void)
{
	at_the_end();
	mts_close();
	expect(module_unload(), 0);
	expect_all_go_on(GOES_ON);
}

/* Who waits behind another one does not any more. */
static void pinned_at_the_end(void)
{
	struct hog *last = NULL;
	u64 since = 0;
	u32 i;

	at_the_end();
	for (i = 0; i < nhogs; i++) {
		struct mts_job_info job = job_named(hogs[i].name);

		if (job.state == MTS_JOB_FROZEN && job.frozen_since_ns > since) {
			since = job.frozen_since_ns;
			last = &hogs[i];
		}
	}
	check(last, "%s", describe());
	set_job(last->id, MTS_JOB_PIN, MTS_JOB_PIN);
	expect_within(2000, !cg_freeze_asked(last->cgroup), "%s", describe());
	expect(get_status().frozen, 1);
}

/* Nobody waits for longer than he may, however much is left. */
static void the_pause_ends_at_the_end(void)
{
	at_the_end();
	set_max_pause(6000 * NS_PER_MS);
	expect_within(8000, !get_status().frozen, "%s", describe());
	expect_all_go_on(GOES_ON);
}

/* ---- limits that go by the disk -------------------------------------------------------- */

/* 10 MiB each way take 5 s: in four bins 20 of the 30 s that pauses may last if that will do. */
static const struct swap_disk very_slow = { .mib = 128, .request_us = 30000 };

static bool was_frozen_for_more_than(u64 ns)
{
	unsigned int i;

	for (i = 0; i < nhogs; i++)
		if (job_named(hogs[i].name).frozen_longest_ns > ns)
			return true;
	return false;
}

/*
 * Nobody knows what a switch will take when turns begin. When the first ones are through it is
 * known that slices cannot be as long as they should, nor half of the time theirs in 30 s.
 */
static void pauses_grow_as_switches_need(void)
{
	static const unsigned int each[] = { 10, 10, 10, 10 };
	struct mts_stats before;

	/* Nor what they took in the tests before. */
	mts_close();
	expect(module_unload(), 0);
	expect(module_load(""), 0);
	mts_open();
	before = get_stats();
	swap_use(&very_slow);
	start_hogs(HOG_RANDOM, ARRAY_SIZE(each), each);
	rotate_auto(12, 10000);
	expect_rotation(4);
	check(get_status().max_pause_ns == MTS_PAUSE_AUTO_NS, "%s", describe());
	expect_within(60000, get_status().max_pause_ns > MTS_PAUSE_AUTO_NS, "%s", describe());
	check(get_status().max_pause_ns <= MTS_PAUSE_STRETCHED_NS, "%s", describe());
	note("pauses of up to %llu ms", get_status().max_pause_ns / NS_PER_MS);

	/* And they are that long; the watchdog knows. To evict by need is not for such disks. */
	expect_within(120000, was_frozen_for_more_than(MTS_PAUSE_AUTO_NS), "%s", describe());
	check(!was_frozen_for_more_than(MTS_PAUSE_STRETCHED_NS), "%s", describe());
	/* One: a switch may take longer than all before it. */
	check(get_stats().overdue_thaws <= before.overdue_thaws + 1, "%s", describe());
	expect(get_status().evict, MTS_EVICT_FULL);
}

/* Those above have the terminal of this program. Of these the last but one has. */
static void pauses_are_longer_where_no_job_is_attended(void)
{
	struct hog_spec spec = { .kind = HOG_RANDOM, .mib = 10, .alone = true };
	char name[2] = "a";
	struct mts_stats before = get_stats();

	swap_use(&very_slow);
	set_mode(MTS_MODE_OFF);
	for (nhogs = 0; nhogs < 4; name[0]++) {
		spec.name = name;
		hog_start(&hogs[nhogs++], &spec);
	}
	spec = (struct hog_spec){ .kind = HOG_RANDOM, .mib = 1, .name = "e" };
	hog_start(&hogs[nhogs++], &spec);
	/* As `ssh host command` starts it. */
	spec = (struct hog_spec){ .kind = HOG_RANDOM, .mib = 1, .name = "f", .piped = true };
	hog_start(&hogs[nhogs++], &spec);
	/* A quarter is for jobs with limits, so that the last two have room beside any bin. */
	rotate_auto(16, 10000);
	/* Slices grow with pauses. */
	set_config(&(struct mts_config){ .mask = MTS_CONFIG_OVERHEAD,
					 .overhead = MTS_DEFAULT_OVERHEAD });
	expect_within(200000, get_status().max_pause_ns > MTS_PAUSE_STRETCHED_NS, "%s", describe());
	expect_within(300000, was_frozen_for_more_than(MTS_PAUSE_STRETCHED_NS), "%s", describe());
	check(job_named("e").frozen_longest_ns <= MTS_PAUSE_STRETCHED_NS, "%s", describe());
	check(job_named("f").frozen_longest_ns <= MTS_PAUSE_STRETCHED_NS, "%s", describe());
	check(!was_frozen_for_more_than(MTS_PAUSE_UNATTENDED_NS), "%s", describe());
	check(get_stats().overdue_thaws <= before.overdue_thaws + 1, "%s", describe());
	note("pauses of up to %llu ms", get_status().max_pause_ns / NS_PER_MS);
}

/* ---- the first shortage ----------------------------------------------------------------- */

static const struct swap_disk slow_and_taken = { .mib = 96, .request_us = 4700, .taken = true };

/* So many jobs, all at once. */
static void start_each(unsigned int mib, unsigned int n, bool in_turns)
{
	char name[2] = "a";

	for (nhogs = 0; nhogs < n; name[0]++) {
		struct hog_spec spec = {
			.name = name, .mib = mib, .kind = HOG_RANDOM, .in_turns = in_turns
		};

		hog_start_nowait(&hogs[nhogs++], &spec);
	}
}

/* Where there are 60 MiB. */
static void fill_each(unsigned int mib, unsigned int n, bool in_turns)
{
	leave_mib(60);
	start_each(mib, n, in_turns);
}

static u32 count_ready(void)
{
	u32 i, n = 0;

	for (i = 0; i < nhogs; i++)
		n += hog_ready(&hogs[i]);
	return n;
}

static void fill_in_turns(unsigned int n)
{
	swap_use(&slow_and_taken);
	set_mode(MTS_MODE_AUTO);
	fill_each(12, n, true);
}

/* Left to themselves they would write 36 MiB page by page: 43 s at best. */
static void turns_begin_at_the_first_shortage(void)
{
	u64 begins = get_stats().early_begins, began;

	fill_in_turns(8);
	began = now_ms();
	expect_soon(is_rotating(), "%s", describe());
	note("turns began after %lu ms", now_ms() - began);
	check(get_stats().early_begins == begins + 1, "not for the shortage to come: %s",
	      describe());
	/* Who runs first grows to all that it needs, and then no more: still not all fit. */
	wait_rounds(1);
	expect(get_stats().early_begins, begins + 1);
	check(is_rotating(), "%s", describe());
}

/*
 * They need less than they have when turns begin, which may be more than fits if kswapd was first:
 * that is seen before the next bin's turn.
 */
static void they_end_where_all_fit_after_all(void)
{
	struct mts_stats before = get_stats();
	u64 written;
	u32 i;

	fill_in_turns(8);
	expect_within(30000, get_stats().early_begins > before.early_begins, "%s", describe());
	written = vmstat("pswpout");
	for (i = 0; i < nhogs; i++)
		hog_enough(&hogs[i]);
	expect_within(30000, get_stats().rounds > before.rounds && !is_rotating(), "%s",
		      describe());
	expect_within(10000, count_ready() == nhogs, "%s", describe());
	sleep_ms(3000);
	expect(get_status().bins, 0);
	expect(get_status().frozen, 0);
	expect(get_stats().rounds, before.rounds + 1);
	note("%llu pages written", (unsigned long long)(vmstat("pswpout") - written));
	expect(get_stats().switches, before.switches + 1);
	/* Half of the memory is asked for, and the kernel may write more. */
	check(vmstat("pswpout") - written < 45 * MIB / PAGE, "%llu pages written",
	      (unsigned long long)(vmstat("pswpout") - written));
}

/*
 * Four that have 48 of 60 MiB, and a fifth that fills the rest, and more. Without turns 28 MiB go
 * out page by page, as kswapd and the fifth take places in swap by turns: 34 s. The kernel may
 * write 2.4 pages for each that the fifth gains: 81 s.
 */
static void fill_beside(enum hog_kind four, enum hog_kind kind)
{
	static const unsigned int each[] = { 12, 12, 12, 12 };
	const struct hog_spec spec = { .name = "fifth", .mib = 40, .kind = kind, .in_turns = true };
	struct hog *fifth;
	u64 written;

	swap_use(&slow_and_taken);
	leave_mib(60);
	start_hogs(four, ARRAY_SIZE(each), each);
	sleep_ms(2000); /* that they have filled it so fast is over */
	set_mode(MTS_MODE_AUTO);
	sleep_ms(500);
	written = vmstat("pswpout");
	fifth = &hogs[nhogs++];
	hog_start_nowait(fifth, &spec);
	expect_within(120000, hog_ready(fifth), "%s", describe());
	check(vmstat("pswpout") > written, "memory sufficed: %s", describe());
}

/* They fill three quarters of a bin or more in one go, which looks like the beginning of more. */
static void but_not_where_all_fit(void)
{
	struct mts_stats before = get_stats();
	u64 written = vmstat("pswpout");

	swap_use(&slow_and_taken);
	set_mode(MTS_MODE_AUTO);
	fill_each(8, 4, false);
	expect_within(30000, count_ready() == nhogs, "%s", describe());
	sleep_ms(1000);
	note("stopped %llu times", (unsigned long long)(get_stats().freezes - before.freezes) / 4);
	check(get_stats().early_begins == before.early_begins, "%s", describe());
	expect(get_status().bins, 0);
	/* What was evicted to see how fast the disk is, and hardly more. */
	check(vmstat("pswpout") - written < 3 * MIB / PAGE, "%llu pages written",
	      (unsigned long long)(vmstat("pswpout") - written));
}

static void expect_thaw(void)
{
	expect(mts_ioctl(MTS_IOC_THAW, NULL), 0);
	check(!get_status().frozen, "%s", describe());
	sleep_ms(1000);
	check(!get_status().frozen, "%s", describe());
	expect(get_status().reason, MTS_REASON_USER);
}

/* All stand still while it is seen how fast the disk is, and what is evicted first. */
static void thaw_as_they_are_stopped(void)
{
	u64 freezes = get_stats().freezes;

	/* Not many more than fit: they are killed in their storm. */
	fill_in_turns(4);
	/* The status would wait for the rotor. */
	expect_within(10000, get_stats().freezes > freezes, "%s", describe());
	expect_thaw();
}

static void but_not_where_most_sleep(void)
{
	u64 begins = get_stats().early_begins;

	fill_beside(HOG_SLEEP, HOG_RANDOM);
	check(get_stats().early_begins == begins, "for who sleeps: %s", describe());
}

/* In their storm nobody is seen asleep. */
static void nor_when_their_storm_has_come(void)
{
	u64 freezes = get_stats().freezes, read = vmstat("pswpin");

	fill_beside(HOG_DOZE, HOG_DOZE);
	sleep_ms(20000);
	check(vmstat("pswpin") > read + 500, "no storm: %s", describe());
	check(get_stats().freezes == freezes, "%s", describe());
}

static void nobody_is_stopped_in_shadow_mode(void)
{
	u64 freezes = get_stats().freezes;

	set_mode(MTS_MODE_SHADOW);
	fill_each(12, 8, false);
	expect_within(60000, count_ready() == nhogs, "%s", describe());
	check(get_stats().freezes == freezes, "%s", describe());
}

/*
 * On a disk that is not slow they stand still for a moment and go on: nobody sleeps, as it was we
 * who stopped them. Taken for sleepers they would thrash for long, as if turns could give nothing.
 * The last of all: for a minute nobody is stopped any more, whatever the disk is.
 */
static void who_was_stopped_does_not_sleep(void)
{
	static char text[1 << 20];
	char *rest = text, *line;
	bool stopped = false;
	u32 n = 0;

	/* Nothing is known of the disk, and the kernel reclaims before memory is full. */
	mts_close();
	expect(module_unload(), 0);
	expect(module_load(""), 0);
	mts_open();
	leave_mib(60);
	check(!system("dd if=/dev/nullb0 of=/dev/null bs=1M count=48 2>/dev/null"), "dd");
	set_mode(MTS_MODE_AUTO);
	trace_begin();
	start_each(12, 8, false);
	expect_within(60000, get_status().bins >= 2, "%s", describe());
	trace_end(text, sizeof(text));
	expect(get_stats().early_begins, 0);
	while ((line = strsep(&rest, "\n"))) {
		char *expected = strstr(line, " expected_permille=");

		stopped |= !!strstr(line, " mts_thaw: ");
		if (!stopped || !expected || !strstr(line, " short_of_memory=1"))
			continue;
		/*
		 * The processor, less what switches take: half of it, for which slices grow
		 * (policy/plan.h). Of sleepers it is nearly nothing.
		 */
		check(strtol(strchr(expected, '=') + 1, NULL, 10) >= 500, "%s", line);
		n++;
	}
	check(stopped && n, "nobody was stopped, or looked at later: %s", describe());
}

GUEST_TESTS(TEST(who_stays_runs_on), TEST(residents_have_all_of_it), TEST(thaw_in_a_switch),
	    TEST(unload_in_a_switch), TEST(killed_in_a_switch), TEST(changed_in_a_switch),
	    TEST(who_is_left_alone_gets_all_of_it), TEST(they_run_one_after_the_other),
	    TEST(thaw_at_the_end), TEST(unload_at_the_end), TEST(pinned_at_the_end),
	    TEST(the_pause_ends_at_the_end), TEST_WITHIN(pauses_grow_as_switches_need, 240),
	    TEST_WITHIN(pauses_are_longer_where_no_job_is_attended, 600),
	    TEST_WITHIN(turns_begin_at_the_first_shortage, 120), TEST(but_not_where_all_fit),
	    TEST(thaw_as_they_are_stopped), TEST_WITHIN(they_end_where_all_fit_after_all, 120),
	    TEST_WITHIN(but_not_where_most_sleep, 180),
	    TEST_WITHIN(nor_when_their_storm_has_come, 180), TEST(nobody_is_stopped_in_shadow_mode),
	    TEST_WITHIN(who_was_stopped_does_not_sleep, 120));

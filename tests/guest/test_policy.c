// SPDX-License-Identifier: GPL-2.0
/* Policies without turns: none and fair. */
#include "guest.h"

/* A page takes a tenth of a millisecond: a job that swaps all the time makes 10000 a second. */
static const struct swap_disk disk = { .mib = 256, .request_us = 100 };

/*
 * Three processes of job a swap all the time, and one of job b and of c each; or these have what
 * they need, and compute.
 */
static void start_swapper(enum hog_kind others)
{
	struct hog_spec spec = { .mib = 24, .kind = HOG_RANDOM };

	swap_use(&disk);
	leave_mib(48);
	for (nhogs = 0; nhogs < 5; nhogs++) {
		spec.name = (const char *[]){ "a", NULL, NULL, "b", "c" }[nhogs];
		spec.cgroup = spec.name ? NULL : cg_job("a");
		if (nhogs == 3) {
			spec.mib = 16;
			spec.kind = others;
		}
		hog_start_nowait(&hogs[nhogs], &spec);
	}
	for (u32 i = 0; i < nhogs; i++)
		expect_within(120000, hog_ready(&hogs[i]), "%s", describe());
}

static void none_leaves_it_to_the_kernel(void)
{
	struct mts_stats before;
	u64 end;

	choose_policy(MTS_POLICY_NONE);
	start_swapper(HOG_RANDOM);
	expect_soon(get_status().reason == MTS_REASON_POLICY, "%s", describe());
	before = get_stats();
	for (end = now_ms() + 5000; now_ms() < end; sleep_ms(20))
		check(!get_status().frozen && get_status().state == MTS_STATE_IDLE, "%s",
		      describe());
	check(get_stats().freezes == before.freezes && get_stats().evict_got == before.evict_got,
	      "%s", describe());
	/* Turns begin when they are asked for. */
	choose_policy(MTS_POLICY_TURNS);
	expect_soon(get_status().reason != MTS_REASON_POLICY, "%s", describe());
}

static unsigned long delays_of_others(void)
{
	return job_named("b").delays + job_named("c").delays;
}

static unsigned long wait_ms_of(const char *job)
{
	return job_named(job).swap_wait_ns / NS_PER_MS;
}

/* Of @n hogs from @first on, in 10 s; what was before fades meanwhile. */
static u64 progress_of(u32 first, u32 n)
{
	u64 before = 0, after = 0;
	u32 i;

	sleep_ms(10000);
	for (i = first; i < first + n; i++)
		before += hog_progress(&hogs[i]);
	sleep_ms(10000);
	for (i = first; i < first + n; i++)
		after += hog_progress(&hogs[i]);
	return after - before;
}

static void fair_delays_who_swaps_without_end(void)
{
	unsigned long none, fair, delays;
	u32 i;

	choose_policy(MTS_POLICY_NONE);
	start_swapper(HOG_RANDOM);
	none = progress_of(3, 2);
	choose_policy(MTS_POLICY_FAIR);
	check(get_status().sees & MTS_SEES_SWAPINS, "waits for swap are not seen");
	fair = progress_of(3, 2);
	check(get_status().state == MTS_STATE_SHARING && get_status().reason == MTS_REASON_FAIR &&
		      !get_status().bins,
	      "%s", describe());
	delays = job_named("a").delays;
	note("b and c: %lu pages touched in 10 s, with policy=none %lu; a was delayed %lu times, "
	     "b and c %lu; they waited for swap for %lu, %lu and %lu ms",
	     fair, none, delays, delays_of_others(), wait_ms_of("a"), wait_ms_of("b"),
	     wait_ms_of("c"));
	check(fair > 2 * none, "b and c: %lu, with policy=none %lu", fair, none);
	check(delays >= 10 && delays > 4 * delays_of_others(),
	      "a was delayed %lu times, others %lu", delays, delays_of_others());
	check(wait_ms_of("a") > wait_ms_of("b") && wait_ms_of("a") > wait_ms_of("c"),
	      "a waited for swap for %lu ms, b %lu ms, c %lu ms", wait_ms_of("a"), wait_ms_of("b"),
	      wait_ms_of("c"));
	/* For moments, and no more than half of the time. */
	check(job_named("a").frozen_longest_ns < 200 * NS_PER_MS, "%s", describe());
	for (i = 0; i < nhogs; i++)
		hog_expect_progress(&hogs[i], 10000);
	check(get_stats().delays >= delays && get_stats().delay_ns, "stats: %llu delays",
	      get_stats().delays);
}

/* Three jobs of Bob's and one of Ada's swap alike: as jobs each has its share. */
static void fair_between_users(void)
{
	struct hog_spec spec = { .mib = 20, .kind = HOG_RANDOM, .user = 1001 };
	u64 by_job, by_user, before[4], delays[4] = { 0 };
	u32 i;

	choose_policy(MTS_POLICY_FAIR);
	swap_use(&disk);
	leave_mib(48);
	for (nhogs = 0; nhogs < 4; nhogs++) {
		spec.name = (const char *[]){ "b", "c", "d", "a" }[nhogs];
		if (nhogs == 3)
			spec.user = 1000;
		hog_start_nowait(&hogs[nhogs], &spec);
	}
	for (i = 0; i < nhogs; i++)
		expect_within(120000, hog_ready(&hogs[i]), "%s", describe());
	by_job = progress_of(3, 1);
	choose_share(MTS_SHARE_USER);
	for (i = 0; i < nhogs; i++)
		before[i] = job_named(hogs[i].name).delays;
	by_user = progress_of(3, 1);
	for (i = 0; i < nhogs; i++)
		delays[i] = job_named(hogs[i].name).delays - before[i];
	note("Ada: %lu pages touched in 10 s, with share=job %lu; Bob's jobs were delayed "
	     "%lu, %lu and %lu times, Ada's %lu",
	     by_user, by_job, delays[0], delays[1], delays[2], delays[3]);
	for (i = 0; i < 3; i++)
		check(delays[i] >= 10 && delays[i] > 4 * delays[3],
		      "Bob's job %s was delayed %lu times, Ada's %lu", hogs[i].name, delays[i],
		      delays[3]);
	check(by_user > by_job + by_job / 4, "Ada: %lu, with share=job %lu", by_user, by_job);
	for (i = 0; i < nhogs; i++)
		hog_expect_progress(&hogs[i], 10000);
}

/* Nobody else waits for the disk, whoever else runs. */
static void a_swapper_alone_is_not_delayed(void)
{
	u64 before, end;

	choose_policy(MTS_POLICY_FAIR);
	start_swapper(HOG_SPIN);
	expect_soon(get_status().state == MTS_STATE_SHARING, "%s", describe());
	/* What was touched at the beginning has gone out, and may have come back once. */
	sleep_ms(5000);
	before = job_named("a").delays;
	for (end = now_ms() + 10000; now_ms() < end; sleep_ms(50))
		check(job_named("b").state != MTS_JOB_DELAYED, "%s", describe());
	check(job_named("a").delays - before <= 4, "it was delayed %llu times",
	      job_named("a").delays - before);
}

static void expect_no_freeze(void)
{
	u32 i;

	check(!get_status().frozen, "%s", describe());
	for (i = 0; i < nhogs; i++)
		check(!cg_freeze_asked(hogs[i].cgroup), "%s is to be frozen", hogs[i].name);
}

static void whatever_ends_it_thaws(void)
{
	choose_policy(MTS_POLICY_FAIR);
	start_swapper(HOG_RANDOM);
	expect_within(60000, get_status().frozen, "%s", describe());
	set_mode(MTS_MODE_OFF);
	expect_no_freeze();
	expect_within(1000, job_named("a").state == MTS_JOB_RUNNING, "%s", describe());
	set_mode(MTS_MODE_AUTO);
	expect_within(60000, get_status().frozen, "%s", describe());
	expect(mts_ioctl(MTS_IOC_THAW, NULL), 0);
	expect_within(1000, !get_status().frozen, "%s", describe());
	expect_no_freeze();
	set_mode(MTS_MODE_AUTO);
	expect_within(60000, get_status().frozen, "%s", describe());
	choose_policy(MTS_POLICY_NONE);
	expect_within(1000, !get_status().frozen, "%s", describe());
	expect_within(1000, job_named("a").state == MTS_JOB_RUNNING, "%s", describe());
	choose_policy(MTS_POLICY_FAIR);
	expect_within(60000, get_status().frozen, "%s", describe());
	mts_close();
	expect(module_unload(), 0);
	check(!cg_freeze_asked(hogs[0].cgroup), "%s is to be frozen", hogs[0].name);
	expect(module_load("policy=fair"), 0);
	mts_open();
	check(get_config().policy == MTS_POLICY_FAIR, "policy %u", get_config().policy);
	mts_close();
	expect(module_unload(), 0);
	check(module_load("policy=tpf") == -EINVAL, "policy=tpf was taken");
	check(module_load("share=all") == -EINVAL, "share=all was taken");
	expect(module_load("share=user"), 0);
	mts_open();
	check(get_config().share == MTS_SHARE_USER, "share %u", get_config().share);
	mts_close();
	expect(module_unload(), 0);
	expect(module_load(""), 0);
	mts_open();
}

static void shadow_only_reports(void)
{
	u64 freezes;
	long mark = log_mark();

	choose_policy(MTS_POLICY_FAIR);
	set_mode(MTS_MODE_SHADOW);
	start_swapper(HOG_RANDOM);
	expect_soon(get_status().reason == MTS_REASON_SHADOW, "%s", describe());
	freezes = get_stats().freezes;
	sleep_ms(3000);
	check(get_stats().freezes == freezes && !job_named("a").delays, "%s", describe());
	check(log_says(mark, "shadow: would act now: demand exceeds the capacity: jobs that swap"),
	      "the log does not say so");
}

GUEST_TESTS(TEST_WITHIN(none_leaves_it_to_the_kernel, 200),
	    TEST_WITHIN(fair_delays_who_swaps_without_end, 300), TEST_SLOW(fair_between_users, 300),
	    TEST_WITHIN(a_swapper_alone_is_not_delayed, 300),
	    TEST_WITHIN(whatever_ends_it_thaws, 400), TEST_WITHIN(shadow_only_reports, 200));

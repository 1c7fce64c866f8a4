// SPDX-License-Identifier: GPL-2.0
/* policy=token: one job at a time keeps its memory, and the others make room. */
#include "guest.h"

/* One request at a time, of 0.5 ms: jobs that thrash wait for it. */
static const struct swap_disk disk = { .mib = 256, .request_us = 500 };

/* Two jobs in 48 MiB; of 36 MiB one at a time has room for all of it. */
static void thrash(unsigned int mib)
{
	struct hog_spec spec = { .mib = mib, .kind = HOG_RANDOM };

	swap_use(&disk);
	leave_mib(48);
	choose_policy(MTS_POLICY_NONE);
	for (nhogs = 0; nhogs < 2; nhogs++) {
		spec.name = nhogs ? "b" : "a";
		hog_start_nowait(&hogs[nhogs], &spec);
	}
	for (u32 i = 0; i < nhogs; i++)
		expect_within(120000, hog_ready(&hogs[i]), "%s", describe());
	choose_policy(MTS_POLICY_TOKEN);
}

static long long low_of(const struct hog *hog)
{
	return cg_number(hog->cgroup, "memory.low");
}

static bool holds(const struct hog *hog)
{
	return job_named(hog->name).state == MTS_JOB_HOLDER;
}

static struct hog *holder(void)
{
	for (u32 i = 0; i < nhogs; i++)
		if (holds(&hogs[i]))
			return &hogs[i];
	return NULL;
}

static bool nothing_is_protected(void)
{
	for (u32 i = 0; i < nhogs; i++)
		if (low_of(&hogs[i]))
			return false;
	return !cg_number(BASE, "memory.low");
}

static bool is_protected(const struct hog *hog)
{
	return holds(hog) && low_of(hog) > (long long)(24 * MIB) &&
	       low_of(hog) < (long long)(48 * MIB);
}

static void one_job_holds(void)
{
	struct hog *first;

	thrash(36);
	expect_within(60000, holder(), "none holds: %s", describe());
	check(get_status().state == MTS_STATE_SHARING && get_status().reason == MTS_REASON_TOKEN &&
		      !get_status().bins && !get_status().frozen,
	      "%s", describe());
	first = holder();
	/* The status and the cgroup are not read at the same time, and it may be passed on. */
	expect_soon(is_protected(&hogs[0]) || is_protected(&hogs[1]), "low %lld and %lld: %s",
		    low_of(&hogs[0]), low_of(&hogs[1]), describe());
	check(cg_number(BASE, "memory.low") > (long long)(24 * MIB), "the base does not have it");
	note("%s holds first; memory.low is %lld and %lld", first ? first->name : "none",
	     low_of(&hogs[0]), low_of(&hogs[1]));
	check(get_stats().holdings, "no holdings");
}

static void it_is_passed_on(void)
{
	u64 began = now_ms();

	/* More than there is: the holder faults as long as it holds. */
	thrash(60);
	expect_within(120000, job_named("a").holdings && job_named("b").holdings,
		      "%llu and %llu holdings: %s", job_named("a").holdings,
		      job_named("b").holdings, describe());
	note("both have held after %llu ms, %llu holdings, %llu pages brought back",
	     (unsigned long long)(now_ms() - began), get_stats().holdings,
	     get_stats().brought_back);
	check(!get_stats().freezes && !job_named("a").frozen_total_ns &&
		      !job_named("b").frozen_total_ns,
	      "frozen: %s", describe());
	for (u32 i = 0; i < nhogs; i++)
		hog_expect_progress(&hogs[i], 10000);
}

static char trace[4 * MIB];

/* Events of that name in the trace. */
static unsigned int told(const char *name)
{
	const char *at = trace;
	unsigned int n = 0;

	while ((at = strstr(at, name))) {
		at += strlen(name);
		n += *at == ':';
	}
	return n;
}

static void other_policies_restore_all(void)
{
	/* Its buffers take some MiB. */
	trace_begin();
	thrash(36);
	expect_within(60000, holder() && !nothing_is_protected(), "none holds: %s", describe());
	choose_policy(MTS_POLICY_TURNS);
	expect_soon(!holder(), "%s", describe());
	trace_end(trace, sizeof(trace));
	check(told("mts_hold") && told("mts_hold") == told("mts_release"), "%u hold, %u release",
	      told("mts_hold"), told("mts_release"));
	set_mode(MTS_MODE_OFF);
	expect_within(5000, nothing_is_protected(), "low %lld and %lld: %s", low_of(&hogs[0]),
		      low_of(&hogs[1]), describe());
	choose_policy(MTS_POLICY_TOKEN);
	expect_within(60000, holder() && !nothing_is_protected(), "none holds: %s", describe());
	expect(mts_ioctl(MTS_IOC_THAW, NULL), 0);
	expect_within(5000, nothing_is_protected() && !holder(), "low %lld and %lld: %s",
		      low_of(&hogs[0]), low_of(&hogs[1]), describe());
}

/* A cgroup of an administrator's, with a memory.low of his own, outlives the module. */
static void unload_restores_all(void)
{
	static const char *const cgroup = "t-own";
	struct hog_spec spec = { .cgroup = cgroup, .mib = 36, .kind = HOG_RANDOM };

	swap_use(&disk);
	leave_mib(48);
	choose_policy(MTS_POLICY_NONE);
	cg_make(cgroup);
	expect(cg_write(cgroup, "memory.low", "4194304"), 0);
	hog_start_nowait(&hogs[0], &spec);
	add_job(cgroup, 0);
	spec.cgroup = NULL;
	spec.name = "b";
	hog_start_nowait(&hogs[1], &spec);
	nhogs = 2;
	choose_policy(MTS_POLICY_TOKEN);
	expect_within(120000, cg_number(cgroup, "memory.low") > (long long)(16 * MIB),
		      "memory.low is %lld, %llu and %llu holdings for %llu ms: %s",
		      cg_number(cgroup, "memory.low"), job_named(cgroup).holdings,
		      job_named("b").holdings, get_stats().holding_ns / 1000000, describe());
	kill_and_join(hogs[1].pid);
	nhogs = 1;
	mts_close();
	expect_soon(!module_unload(), "it stays loaded");
	check(cg_number(cgroup, "memory.low") == (long long)(4 * MIB), "memory.low is %lld",
	      cg_number(cgroup, "memory.low"));
}

GUEST_TESTS(TEST_WITHIN(one_job_holds, 300), TEST_SLOW(it_is_passed_on, 400),
	    TEST_WITHIN(other_policies_restore_all, 400), TEST_WITHIN(unload_restores_all, 300));

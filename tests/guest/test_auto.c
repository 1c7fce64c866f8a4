// SPDX-License-Identifier: GPL-2.0
/* policy=auto: another policy is chosen in another situation, and nothing of it is left. */
#include "guest.h"

#define JOBS 3u

static const char *const words[MTS_POLICIES] = { "turns", "none", "fair", "token" };

static struct mts_policy_info chosen(void)
{
	struct mts_policy_info info;

	expect(mts_ioctl(MTS_IOC_POLICY, &info), 0);
	check(info.policy < MTS_POLICIES, "policy %u", info.policy);
	return info;
}

/* "token on trial; turns 830 (2), none 310 (2), …": what each gives, and how that is known. */
static const char *describe_choice(void)
{
	static char text[256];
	struct mts_policy_info info = chosen();
	size_t n = snprintf(text, sizeof(text), "%s%s;", words[info.policy],
			    info.on_trial ? " on trial" : "");

	for (u32 i = 0; i < MTS_POLICIES; i++)
		n += snprintf(text + n, sizeof(text) - n, " %s %u (%u)", words[i],
			      info.of[i].permille, info.of[i].how);
	return text;
}

/* All touch their pages at random, and have touched each once, with the kernel's way. */
static void thrash(const struct swap_disk *disk, u32 n, unsigned int mib)
{
	struct hog_spec spec = { .mib = mib, .kind = HOG_RANDOM };

	swap_use(disk);
	leave_mib(48);
	choose_policy(MTS_POLICY_NONE);
	for (nhogs = 0; nhogs < n; nhogs++) {
		spec.name = (const char *[JOBS]){ "a", "b", "c" }[nhogs];
		hog_start_nowait(&hogs[nhogs], &spec);
	}
	for (u32 i = 0; i < nhogs; i++)
		expect_within(120000, hog_ready(&hogs[i]), "%s", describe());
	check(chosen().policy == MTS_POLICY_NONE && !chosen().since_ns, "%s", describe_choice());
}

static bool turns_are_taken(void)
{
	struct mts_status status = get_status();

	return chosen().policy == MTS_POLICY_TURNS && status.bins >= 2 && status.frozen;
}

static void turns_where_all_thrash(void)
{
	static const struct swap_disk fast = { .mib = 256, .request_us = 50 };
	struct mts_policy_info info;

	thrash(&fast, JOBS, 24);
	choose_policy(MTS_POLICY_AUTO);
	check(get_status().sees & MTS_SEES_SWAPINS, "waits for swap are not seen");
	expect_within(60000, turns_are_taken(), "%s: %s", describe_choice(), describe());
	info = chosen();
	note("%s", describe_choice());
	check(info.of[MTS_POLICY_NONE].how == MTS_GIVES_MEASURED && info.since_ns, "%s",
	      describe_choice());
	/* They are measured round by round, and go on. */
	expect_within(60000, chosen().of[MTS_POLICY_TURNS].how == MTS_GIVES_MEASURED, "%s: %s",
		      describe_choice(), describe());
	note("%s", describe_choice());
	expect_soon(turns_are_taken(), "%s: %s", describe_choice(), describe());
	check(chosen().of[MTS_POLICY_TURNS].permille > chosen().of[MTS_POLICY_NONE].permille, "%s",
	      describe_choice());
	set_mode(MTS_MODE_OFF);
	check(!get_status().frozen, "%s", describe());
	expect_soon(chosen().policy == MTS_POLICY_NONE, "%s", describe_choice());
}

static long long low_of(const struct hog *hog)
{
	return cg_number(hog->cgroup, "memory.low");
}

static bool is_held(void)
{
	for (u32 i = 0; i < nhogs; i++)
		if (job_named(hogs[i].name).state == MTS_JOB_HOLDER &&
		    low_of(&hogs[i]) > (long long)(16 * MIB))
			return true;
	return false;
}

static bool nothing_is_protected(void)
{
	for (u32 i = 0; i < nhogs; i++)
		if (low_of(&hogs[i]))
			return false;
	return !cg_number(BASE, "memory.low");
}

/* Each slice is longer than what a job may be frozen for: whatever is known of the disk by then. */
static void forbid_turns(void)
{
	set_config(&(struct mts_config){ .mask = MTS_CONFIG_MIN_SLICE | MTS_CONFIG_MAX_PAUSE,
					 .min_slice_ns = 2000 * NS_PER_MS,
					 .max_pause_ns = 1000 * NS_PER_MS });
}

/*
 * No turns at all may be taken here. After a few, one job has all of its memory, and keeps it
 * against one that faults: it gets half of a processor, and that is no thrashing.
 */
static void token_where_pauses_are_too_long(void)
{
	static const struct swap_disk slow = { .mib = 256, .request_us = 1000 };

	thrash(&slow, 2, 36);
	forbid_turns();
	choose_policy(MTS_POLICY_AUTO);
	expect_within(240000, is_held(), "%s: %s", describe_choice(), describe());
	note("%s", describe_choice());
	check(chosen().policy == MTS_POLICY_TOKEN && get_status().reason == MTS_REASON_TOKEN,
	      "%s: %s", describe_choice(), describe());
	set_mode(MTS_MODE_OFF);
	expect_within(5000, nothing_is_protected(), "low %lld and %lld: %s", low_of(&hogs[0]),
		      low_of(&hogs[1]), describe());
	check(!get_status().frozen && chosen().policy == MTS_POLICY_NONE, "%s: %s",
	      describe_choice(), describe());
	choose_policy(MTS_POLICY_AUTO);
	expect_within(240000, is_held(), "%s: %s", describe_choice(), describe());
	mts_close();
	expect(module_unload(), 0);
	for (u32 i = 0; i < nhogs; i++)
		check(!cg_exists(hogs[i].cgroup) || !low_of(&hogs[i]), "memory.low of %s is %lld",
		      hogs[i].name, low_of(&hogs[i]));
	expect(module_load("policy=auto"), 0);
	mts_open();
	check(get_config().policy == MTS_POLICY_AUTO, "policy %u", get_config().policy);
	mts_close();
	expect(module_unload(), 0);
	expect(module_load(""), 0);
	mts_open();
}

/* What is there suffices: nothing is tried. */
static void none_while_all_fits(void)
{
	static const struct swap_disk fast = { .mib = 256, .request_us = 50 };
	u64 end;

	thrash(&fast, 2, 12);
	choose_policy(MTS_POLICY_AUTO);
	for (end = now_ms() + 10000; now_ms() < end; sleep_ms(100)) {
		check(chosen().policy == MTS_POLICY_NONE && !chosen().on_trial, "%s: %s",
		      describe_choice(), describe());
		check(!get_status().frozen, "%s", describe());
	}
}

GUEST_TESTS(TEST_WITHIN(turns_where_all_thrash, 300),
	    TEST_SLOW(token_where_pauses_are_too_long, 700), TEST_WITHIN(none_while_all_fits, 200));

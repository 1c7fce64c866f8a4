// SPDX-License-Identifier: GPL-2.0
/* The module comes and goes; its parameters. */
#include "guest.h"

static void unload(void)
{
	int error;

	mts_close();
	error = module_unload();
	check(!error, "unload: %s", strerror(-error));
	check(!module_loaded(), "still in /sys/module");
	check(access(MTS_DEVICE, F_OK), "the device is still there");
}

static void load(const char *options)
{
	int error = module_load(options);

	check(!error, "load %s: %s", options, strerror(-error));
	mts_open();
}

static void load_and_unload(void)
{
	u64 began, unloading = 0, loading = 0;
	int i;

	for (i = 0; i < 50; i++) {
		began = now_ms();
		unload();
		unloading += now_ms() - began;
		check(!cg_exists(BASE), "%d: the base was left", i);
		began = now_ms();
		load("");
		loading += now_ms() - began;
		check(cg_exists(BASE), "%d: no base", i);
		check(!count_jobs(), "%d: %s", i, describe());
	}
	note("50 loads took %llu ms, 50 unloads %llu ms", (unsigned long long)loading,
	     (unsigned long long)unloading);
}

static void load_and_unload_with_jobs(void)
{
	struct hog busy;
	int i;

	for (i = 0; i < 20; i++) {
		create_job("empty", 0);
		hog_start(&busy, &(struct hog_spec){ .name = "busy", .mib = 1, .kind = HOG_SPIN });
		unload();
		check(!cg_exists(cg_job("empty")), "an empty job's cgroup was left");
		check(cg_exists(cg_job("busy")), "a job's cgroup is gone");
		hog_expect_progress(&busy, 2000);
		load("");
		check(!count_jobs(), "%d: %s", i, describe());
		hog_kill(&busy);
		expect_within(2000, !cg_remove(cg_job("busy")), "rmdir: %m");
	}
}

static void processes_left_in_the_base_keep_it(void)
{
	struct hog busy;

	hog_start(&busy, &(struct hog_spec){ .name = "left", .mib = 1, .kind = HOG_SPIN });
	unload();
	check(cg_exists(BASE "/left"), "the cgroup is gone");
	load("");
	expect(try_create("left", 0, NULL), -EEXIST);
	check(is_alive(busy.pid), "it was killed");
	add_job(BASE "/left", 0);
	hog_kill(&busy);
	expect_within(3000, !find_job("left", NULL), "%s", describe());
	check(cg_exists(BASE "/left"), "an adopted cgroup was removed");
}

/* ---- parameters ------------------------------------------------------------------- */

/* What it says to a bad one is in the log, and names the parameter. */
static void expect_refusal(const char *options, int should, const char *says)
{
	long mark = log_mark();
	int error = module_load(options);

	if (!error)
		fail("%s was accepted", options);
	check(!should || error == should, "%s: %s, should be %s", options, strerror(-error),
	      strerror(-should));
	check(log_says(mark, says), "%s: the log does not say %s", options, says);
	check(!module_loaded() && access(MTS_DEVICE, F_OK), "%s: something was left", options);
}

static void bad_parameters_are_refused(void)
{
	unload();
	expect_refusal("mode=foo", -EINVAL, "mode=foo");
	expect_refusal("mode=", -EINVAL, "mode=");
	expect_refusal("slice_ms=1", 0, "slice_ms=1");
	expect_refusal("slice_ms=60001", 0, "slice_ms=60001");
	expect_refusal("slice_ms=-5", 0, "slice_ms");
	expect_refusal("bin_bytes=4096", 0, "bin_bytes=4096");
	expect_refusal("bin_bytes=1125899906842625", 0, "bin_bytes=1125899906842625");
	expect_refusal("cgroup_base=/nonexistent/x", -ENOENT, "/nonexistent");
	expect_refusal("cgroup_base=relative", -EINVAL, "cgroup_base=relative");
	expect_refusal("cgroup_base=relative/x", 0, "cgroup_base");
	expect_refusal("cgroup_base=", -EINVAL, "cgroup_base=");
	expect_refusal("cgroup_base=/", -EINVAL, "cgroup_base=/");
	expect_refusal("cgroup_base=/tmp/x", -EINVAL, "is not cgroup v2");
	expect_refusal("cgroup_base=/sys/fs/cgroup", 0, "cgroup_base");
	expect_refusal("cgroup_base=/sys/fs/cgroup/mts/", 0, "cgroup_base");
	check(!cg_exists(BASE), "the base was left");
	check(access("/tmp/x", F_OK), "/tmp/x was made");
	load("");
}

static void good_parameters_are_used(void)
{
	struct mts_config c;

	unload();
	load("mode=off slice_ms=100 bin_bytes=33554432 cgroup_base=/sys/fs/cgroup/t-base");
	c = get_config();
	check(c.mode == MTS_MODE_OFF && c.slice_ns == 100 * NS_PER_MS && c.bin_bytes == 32 * MIB,
	      "mode %u slice %llu bin %llu", c.mode, c.slice_ns, c.bin_bytes);
	check(c.min_slice_ns <= c.slice_ns, "min_slice %llu", c.min_slice_ns);
	check(c.overhead == MTS_DEFAULT_OVERHEAD, "overhead %u", c.overhead);
	create_job("elsewhere", 0);
	check(cg_exists("t-base/elsewhere") && !cg_exists(BASE), "not below the base");
	expect_within(2000, get_status().state == MTS_STATE_OFF, "%s", describe());
	unload();
	check(!cg_exists("t-base"), "the base was left");
	load("mode=always");
	check(get_config().mode == MTS_MODE_ALWAYS, "mode %u", get_config().mode);
	unload();
	load("");
}

/* A base that was there before is used, and goes when it is empty. */
static void base_that_exists(void)
{
	unload();
	cg_make("t-mine");
	load("cgroup_base=/sys/fs/cgroup/t-mine");
	create_job("here", 0);
	check(cg_exists("t-mine/here"), "not below the base");
	unload();
	check(!cg_exists("t-mine/here"), "the job's cgroup was left");
	load("");
}

static void base_removed_behind_our_back(void)
{
	expect(cg_remove(BASE), 0);
	expect(try_create("nowhere", 0, NULL), -ENODEV);
	expect(try_create("", MTS_JOB_ENTER, NULL), -ENODEV);
	check(!count_jobs(), "%s", describe());
	unload();
	load("");
	create_job("again", 0);
}

GUEST_TESTS(TEST_SLOW(load_and_unload, 120), TEST_SLOW(load_and_unload_with_jobs, 120),
	    TEST(processes_left_in_the_base_keep_it), TEST(bad_parameters_are_refused),
	    TEST(good_parameters_are_used), TEST(base_that_exists),
	    TEST(base_removed_behind_our_back));

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

static void load_times(int times)
{
	u64 began, unloading = 0, loading = 0;
	int i;

	for (i = 0; i < times; i++) {
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
	note("%d loads took %llu ms, as many unloads %llu ms", times, (unsigned long long)loading,
	     (unsigned long long)unloading);
}

static void load_and_unload(void)
{
	load_times(5);
}

static void load_and_unload_often(void)
{
	load_times(50);
}

static void load_times_with_jobs(int times)
{
	struct hog busy;
	int i;

	for (i = 0; i < times; i++) {
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

static void load_and_unload_with_jobs(void)
{
	load_times_with_jobs(3);
}

static void load_and_unload_with_jobs_often(void)
{
	load_times_with_jobs(20);
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
	expect_refusal("step=some", -EINVAL, "step=some: not bin, auto, or a size");
	expect_refusal("step=", -EINVAL, "step=: not");
	expect_refusal("step=0", -EINVAL, "step=0: not");
	expect_refusal("step=-1M", -EINVAL, "step=-1M: not");
	expect_refusal("step=1000K", -EINVAL, "step=1000K: not");
	expect_refusal("step=1025T", -ERANGE, "step=1025T: not");
	/* Fault: it was a step of 1T. */
	expect_refusal("step=16777217T", -ERANGE, "step=16777217T: not");
	expect_refusal("step=16Mx", -EINVAL, "step=16Mx: not");
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
	load("mode=off slice_ms=100 bin_bytes=33554432 step=16M cgroup_base=/sys/fs/cgroup/t-base");
	c = get_config();
	check(c.mode == MTS_MODE_OFF && c.slice_ns == 100 * NS_PER_MS && c.bin_bytes == 32 * MIB,
	      "mode %u slice %llu bin %llu", c.mode, c.slice_ns, c.bin_bytes);
	check(c.min_slice_ns <= c.slice_ns, "min_slice %llu", c.min_slice_ns);
	check(c.step == 16, "step %u", c.step);
	check(c.overhead == MTS_DEFAULT_OVERHEAD, "overhead %u", c.overhead);
	create_job("elsewhere", 0);
	check(cg_exists("t-base/elsewhere") && !cg_exists(BASE), "not below the base");
	expect_within(2000, get_status().state == MTS_STATE_OFF, "%s", describe());
	unload();
	check(!cg_exists("t-base"), "the base was left");
	load("mode=always step=auto");
	check(get_config().mode == MTS_MODE_ALWAYS, "mode %u", get_config().mode);
	check(get_config().step == MTS_STEP_AUTO, "step %u", get_config().step);
	unload();
	load("step=bin");
	check(get_config().step == MTS_STEP_BIN, "step %u", get_config().step);
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

/* ---- hooks ------------------------------------------------------------------------ */

#define KPROBES "/sys/kernel/debug/kprobes/list"

/* In the order in which they are installed. */
static const struct {
	const char *where;
	bool required;
	bool is_silent; /* what it is in may be loaded later */
	bool is_growth; /* no MTS_JOB_EACH_LEAF without it */
	u32 sees; /* nothing of this without it */
} hooks[] = {
	{ "sched_process_fork", .required = true },
	{ "cgroup_notify_populated", .required = true },
	{ "cgroup_rmdir", .required = true },
	{ "cgroup_notify_frozen", .required = true },
	{ "cgroup_attach_task", .required = true },
	{ "task_newtask", .required = true },
	{ "signal_generate", .required = true },
	{ "mm_vmscan_kswapd_wake", .required = true },
	{ "mm_vmscan_direct_reclaim_begin", .required = true },
	{ "rss_stat", .sees = 0, .is_growth = true },
	{ "n_tty_receive_buf2", .sees = MTS_SEES_TTY },
	{ "n_tty_write", .sees = MTS_SEES_TTY_OUTPUT },
	{ "rt_mutex_adjust_pi", .sees = MTS_SEES_REALTIME },
	{ "cgroup_attach_task", .sees = 0 }, /* its kprobe */
	{ "input_event", .sees = MTS_SEES_EVDEV },
	{ "evdev_read", .is_silent = true, .sees = MTS_SEES_EVDEV },
	{ "unix_stream_sendmsg", .sees = MTS_SEES_UNIX },
	{ "pipe_write", .sees = MTS_SEES_PIPES },
};

/* Nobody else has any in this guest. */
static bool there_are_kprobes(void)
{
	char list[64];

	expect(read_file(KPROBES, list, sizeof(list)), 0);
	return *list;
}

static void without_a_required_hook(const char *options, const char *says)
{
	expect_refusal(options, -EINVAL, says);
	check(!there_are_kprobes(), "%s: kprobes were left", options);
	check(!cg_exists(BASE), "%s: the base was left", options);
}

static void without_an_optional_hook(const char *options, const char *says, u32 sees,
				     bool sees_growth)
{
	long mark = log_mark();

	load(options);
	check(!says || log_says(mark, says), "%s: the log does not say %s", options, says);
	/* Those that come and go have been looked for once more. */
	sleep_ms(100);
	expect(get_status().sees, sees);
	create_job("all-the-same", 0);
	expect(try_create("leaves", MTS_JOB_EACH_LEAF, NULL), sees_growth ? 0 : -EOPNOTSUPP);
	unload();
	check(!there_are_kprobes(), "%s: kprobes were left", options);
}

static void without_hook(unsigned int n, u32 all)
{
	char options[64], says[128];

	snprintf(options, sizeof(options), "debug_fail_hook=%u", n + 1);
	/* In newer kernels there is more before it. */
	snprintf(says, sizeof(says), "%s: error %d%s", hooks[n].where, -EINVAL,
		 hooks[n].required ? "" : ": not used");
	if (hooks[n].required)
		without_a_required_hook(options, says);
	else
		without_an_optional_hook(options, hooks[n].is_silent ? NULL : says,
					 all & ~hooks[n].sees, !hooks[n].is_growth);
}

static void without_any_one_hook(void)
{
	u32 all = get_status().sees;
	char options[64];
	unsigned int i;
	long mark;

	check(there_are_kprobes(), "kprobes are not listed");
	unload();
	check(!there_are_kprobes(), "kprobes were left");
	for (i = 0; i < ARRAY_SIZE(hooks); i++) {
		check((all & hooks[i].sees) == hooks[i].sees, "sees %#x", all);
		without_hook(i, all);
	}
	/* There are no more. */
	mark = log_mark();
	snprintf(options, sizeof(options), "debug_fail_hook=%u", i + 1);
	load(options);
	check(!log_says(mark, "cannot hook"), "there is one more hook");
	unload();
	load("");
	expect(get_status().sees, all);
	check(there_are_kprobes(), "plainly it has none");
}

static void preempt_rt_is_refused(void)
{
	long mark;

	if (!is_preempt_rt())
		guest_skip("no PREEMPT_RT kernel");
	unload();
	mark = log_mark();
	expect(module_load("rt=0"), -EOPNOTSUPP);
	check(log_says(mark, "PREEMPT_RT"), "it does not say why");
	load("");
}

GUEST_TESTS(TEST(preempt_rt_is_refused), TEST(load_and_unload), TEST(load_and_unload_with_jobs),
	    TEST_SLOW(load_and_unload_often, 240), TEST_SLOW(load_and_unload_with_jobs_often, 240),
	    TEST(processes_left_in_the_base_keep_it), TEST(bad_parameters_are_refused),
	    TEST(good_parameters_are_used), TEST(base_that_exists),
	    TEST(base_removed_behind_our_back), TEST_WITHIN(without_any_one_hook, 120));

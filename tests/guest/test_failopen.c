// SPDX-License-Identifier: GPL-2.0
/* Whatever goes wrong: everything runs, and the reason is said. With all that a switch does. */
#include "guest.h"

#include <sys/mman.h>
#include <sys/utsname.h>

#define STALL_PARAMETER "/sys/module/mts/parameters/debug_stall_ms"

/* Three jobs in three bins, two of them frozen for long. */
static void start_rotation(void)
{
	start_hogs(HOG_RANDOM, 3, three_small);
	rotate_by_use(SMALL_BIN_MIB, 20000, MTS_EVICT_FULL);
	expect_rotation(3);
	expect_soon(get_status().frozen == 2, "%s", describe());
}

static void expect_stop(u32 reason, unsigned int ms)
{
	struct mts_status s;

	wait_until((s = get_status()).state == MTS_STATE_STOPPED, ms);
	check(s.state == MTS_STATE_STOPPED, "not stopped within %u ms: %s", ms, describe());
	check(s.reason == reason, "reason %u, should be %u: %s", s.reason, reason, s.detail);
	check(s.detail[0], "no sentence says why");
}

static void expect_rotation_again(void)
{
	struct mts_stats before;

	set_mode(MTS_MODE_ALWAYS);
	expect_soon(get_status().frozen >= 2, "it does not rotate again: %s", describe());
	before = get_stats();
	rotate_by_use(SMALL_BIN_MIB, 200, MTS_EVICT_FULL);
	wait_rounds(2);
	check(get_stats().switches > before.switches, "%s", describe());
}

static void thaw_thaws_and_stops(void)
{
	struct mts_stats before;
	u64 began;

	start_rotation();
	began = now_ms();
	expect(mts_ioctl(MTS_IOC_THAW, NULL), 0);
	check(now_ms() - began < 1000, "THAW took %llu ms", (unsigned long long)(now_ms() - began));
	check(!get_status().frozen, "THAW has returned: %s", describe());
	expect_all_thawed(1000);
	expect_stop(MTS_REASON_USER, 0);
	before = get_stats();
	sleep_ms(3000);
	check(get_stats().freezes == before.freezes, "it froze something while stopped");
	expect_stop(MTS_REASON_USER, 0);
	check(before.failsafe_thaws == get_stats().failsafe_thaws, "a user is no fail-safe");
	expect_rotation_again();
}

/* Whatever the rotor was about to do: nobody is frozen any more, and nobody will be. */
static void off_is_off_when_it_returns(void)
{
	unsigned int i, j, frozen = 0;

	start_hogs(HOG_RANDOM, 3, three_small);
	for (i = 0; i < 200; i++) {
		rotate_by_use(SMALL_BIN_MIB, 250, MTS_EVICT_FULL);
		usleep(i % 40 * 250);
		frozen += get_status().frozen;
		set_mode(i % 2 ? MTS_MODE_OFF : MTS_MODE_SHADOW);
		for (j = 0; j < 2 * nhogs; j++)
			check(!cg_freeze_asked(hogs[j % nhogs].cgroup),
			      "attempt %u, look %u: %s is frozen: %s", i, j, hogs[j % nhogs].name,
			      describe());
	}
	note("%u jobs were frozen", frozen);
	check(frozen, "no attempt came late enough to say anything");
	expect_rotation_again();
}

/* Jobs that come while it is stopped are not frozen either. */
static void newcomer_while_stopped(void)
{
	struct hog late;

	start_rotation();
	expect(mts_ioctl(MTS_IOC_THAW, NULL), 0);
	hog_start(&late, &(struct hog_spec){ .name = "late", .mib = 8, .kind = HOG_RANDOM });
	hog_expect_progress(&late, 1000);
	check(!get_status().frozen, "%s", describe());
	expect_rotation_again();
	expect_soon(job_named("late").slices >= 1, "%s", describe());
}

static void thaw_twenty_times(void)
{
	int i, j;

	start_rotation();
	for (i = 0; i < 20; i++) {
		rotate_by_use(SMALL_BIN_MIB, 200, MTS_EVICT_FULL);
		expect_soon(get_status().frozen, "%s", describe());
		expect(mts_ioctl(MTS_IOC_THAW, NULL), 0);
		for (j = 0; j < 3; j++)
			check(!cg_freeze_asked(hogs[j].cgroup), "%d: THAW has returned: %s", i,
			      describe());
		check(!get_status().frozen, "%d: %s", i, describe());
	}
	expect_all_thawed(1000);
}

/* ---- unload ----------------------------------------------------------------------- */

static void check_hogs_run(u64 began)
{
	unsigned int i;

	for (i = 0; i < nhogs; i++) {
		check(!cg_freeze_asked(hogs[i].cgroup), "%s: cgroup.freeze is 1 after rmmod",
		      hogs[i].name);
		hog_expect_progress(&hogs[i], 1000);
	}
	check(now_ms() - began < 3000, "it took %llu ms", (unsigned long long)(now_ms() - began));
}

static void unload_while_frozen(void)
{
	u64 began;

	start_rotation();
	mts_close();
	began = now_ms();
	expect(module_unload(), 0);
	note("delete_module took %llu ms", (unsigned long long)(now_ms() - began));
	check_hogs_run(began);
	expect(module_load(""), 0);
	mts_open();
	check(!count_jobs(), "%s", describe());
	/* What is left of the old jobs can be adopted. */
	add_job(hogs[0].cgroup, 0);
	add_job(hogs[1].cgroup, 0);
	add_job(hogs[2].cgroup, 0);
	rotate_by_use(SMALL_BIN_MIB, 200, MTS_EVICT_FULL);
	expect_rotation(3);
	wait_rounds(2);
}

static void unload_in_the_middle_of_evictions(void)
{
	int i;

	for (i = 0; i < 5; i++) {
		u64 began;

		start_hogs(HOG_RANDOM, 3, three_small);
		rotate(SMALL_BIN_MIB, 200, MTS_EVICT_FULL);
		expect_soon(get_status().frozen, "%s", describe());
		/* Somewhere else in a switch each time. */
		sleep_ms(50 * i);
		mts_close();
		began = now_ms();
		expect(module_unload(), 0);
		check_hogs_run(began);
		check(!reset(), "not clean");
	}
}

static void unload_is_refused_while_the_device_is_open(void)
{
	int error = module_unload();

	check(error == -EWOULDBLOCK, "%s", strerror(-error));
	check(get_status().abi == MTS_ABI_VERSION, "it does not answer any more");
}

static int fork_for_ever(void)
{
	for (;;) {
		pid_t pid = fork();

		if (!pid)
			_exit(0);
		if (pid > 0)
			waitpid(pid, NULL, 0);
	}
}

/* Children are on their way into jobs of their own when the module goes. */
static void unload_during_forks_under_each(void)
{
	pid_t pids[3];
	int round, i;

	for (round = 0; round < 4; round++) {
		u64 before = get_stats().jobs_each;

		for (i = 0; i < 3; i++) {
			pids[i] = spawn();
			if (!pids[i]) {
				create_job("", MTS_JOB_ENTER | MTS_JOB_EACH);
				mts_close();
				fork_for_ever();
			}
		}
		expect_within(10000, get_stats().jobs_each > before + 20, "%llu children",
			      get_stats().jobs_each - before);
		mts_close();
		expect(module_unload(), 0);
		for (i = 0; i < 3; i++) {
			check(is_alive(pids[i]), "a parent has died");
			kill_and_join(pids[i]);
		}
		check(!reset(), "not clean");
	}
}

/* ---- the watchdog ----------------------------------------------------------------- */

static void watchdog_ends_a_stall(void)
{
	struct mts_stats before;
	u64 began;

	start_rotation();
	before = get_stats();
	began = now_ms();
	expect(write_file(STALL_PARAMETER, "8000"), 0);
	/* Promised 3 s, a quarter of tolerance, at most a look later; not longer than 1 s after. */
	expect_stop(MTS_REASON_STALL, 4250);
	note("stopped after %llu ms: %s", (unsigned long long)(now_ms() - began),
	     get_status().detail);
	expect_all_thawed(1000);
	check(get_stats().failsafe_thaws == before.failsafe_thaws + 1, "failsafe_thaws %llu",
	      get_stats().failsafe_thaws - before.failsafe_thaws);
	expect_within(10000, now_ms() - began > 8500, "?");
	expect_stop(MTS_REASON_STALL, 0);
	expect_rotation_again();
}

/* The mode is set again while the rotor still hangs. */
static void resumed_in_the_middle_of_a_stall(void)
{
	u64 began;

	start_rotation();
	began = now_ms();
	expect(write_file(STALL_PARAMETER, "7000"), 0);
	expect_stop(MTS_REASON_STALL, 4250);
	set_mode(MTS_MODE_ALWAYS);
	expect_within(10000, now_ms() - began > 7000, "?");
	rotate_by_use(SMALL_BIN_MIB, 200, MTS_EVICT_FULL);
	wait_rounds(3);
	check(get_status().state != MTS_STATE_STOPPED, "%s", describe());
}

/* Remove, list and thaw do not wait for a rotor that hangs. */
static void commands_work_during_a_stall(void)
{
	struct hog *hog;
	u64 began;

	start_rotation();
	expect(write_file(STALL_PARAMETER, "3000"), 0);
	expect_within(2000, !get_status().frozen || get_status().frozen == 2, "%s", describe());
	hog = frozen_hog();
	began = now_ms();
	remove_job(hog->id);
	check(now_ms() - began < 1000, "JOB_REMOVE took %llu ms",
	      (unsigned long long)(now_ms() - began));
	hog_expect_progress(hog, 1000);
	began = now_ms();
	expect(mts_ioctl(MTS_IOC_THAW, NULL), 0);
	check(now_ms() - began < 1000, "THAW took %llu ms", (unsigned long long)(now_ms() - began));
	expect_all_thawed(1000);
}

/* ---- out of memory ---------------------------------------------------------------- */

/* To fill the guest's own swap would take most of the test's time. */
static const struct swap_disk soon_full = { .mib = 64 };

/* Takes whatever there is, and is the first to be killed. */
static pid_t start_glutton(void)
{
	pid_t pid = spawn();
	char *memory;

	if (pid)
		return pid;
	mts_close();
	write_file("/proc/self/oom_score_adj", "1000");
	for (;;) {
		memory = mmap(NULL, 4 * MIB, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
		if (memory == MAP_FAILED)
			sleep_ms(10);
	}
}

static void out_of_memory_thaws(void)
{
	struct mts_stats before;
	pid_t glutton;
	u64 seen;

	swap_use(&soon_full);
	start_rotation();
	before = get_stats();
	log_expect_oom();
	/* No early end of the freeze while the glutton eats. */
	set_max_pause(MTS_PAUSE_STRETCHED_NS);
	glutton = start_glutton();
	check(wait_until(!is_alive(glutton) || get_status().state == MTS_STATE_STOPPED, 80000),
	      "neither killed nor stopped: %s", describe());
	seen = now_ms();
	expect_within(5000, get_status().state == MTS_STATE_STOPPED,
		      "the glutton was killed, and the rotor not stopped: %s", describe());
	check(now_ms() - seen < 2000, "stopped %llu ms after the kill",
	      (unsigned long long)(now_ms() - seen));
	kill(glutton, SIGKILL);
	join(glutton, 20000);
	expect_stop(MTS_REASON_OOM, 0);
	check(get_stats().failsafe_thaws == before.failsafe_thaws + 1, "failsafe_thaws %llu",
	      get_stats().failsafe_thaws - before.failsafe_thaws);
	expect_all_thawed(2000);
	log_expect_oom_no_more();
	expect_rotation_again();
}

/* With nothing frozen it is none of our doing. */
static void out_of_memory_while_idle(void)
{
	pid_t glutton;

	swap_use(&soon_full);
	expect_within(3000, get_status().state == MTS_STATE_IDLE, "%s", describe());
	log_expect_oom();
	glutton = start_glutton();
	check(wait_until(!is_alive(glutton), 80000), "not killed: %s", describe());
	join(glutton, 20000);
	log_expect_oom_no_more();
	check(get_status().state == MTS_STATE_IDLE, "%s", describe());
}

/* ---- suspend ---------------------------------------------------------------------- */

/* With pm_test all processes are stopped for 5 s and then go on. */
static void suspend_pauses_and_resume_goes_on(void)
{
	struct mts_stats before;
	pid_t pid;
	int status;

	start_rotation();
	before = get_stats();
	pid = start_suspend();
	status = end_suspend(pid);
	check(!status, "the host does not suspend: %s", strerror(status));
	check(get_stats().failsafe_thaws == before.failsafe_thaws + 1, "it was not thawed");
	check(get_stats().thaws >= before.thaws + 2, "thaws %llu",
	      get_stats().thaws - before.thaws);
	expect_soon(get_status().frozen == 2, "no rotation afterwards: %s", describe());
	expect_soon(get_status().state == MTS_STATE_RUNNING, "%s", describe());
	rotate_by_use(SMALL_BIN_MIB, 200, MTS_EVICT_FULL);
	wait_rounds(2);
}

/* A stop is still a stop after the host has slept. */
static void suspend_does_not_end_a_stop(void)
{
	pid_t pid;
	int status;

	start_rotation();
	expect(mts_ioctl(MTS_IOC_THAW, NULL), 0);
	pid = start_suspend();
	status = end_suspend(pid);
	check(!status, "the host does not suspend: %s", strerror(status));
	expect_stop(MTS_REASON_USER, 0);
	check(!get_status().frozen, "%s", describe());
}

/* It is told of no end of a suspend that it has refused itself. */
static void rotation_goes_on_after_a_refused_suspend(void)
{
	pid_t pid;
	int status;

	start_rotation();
	/* Longer than a suspend waits; it begins before the watchdog would see it. */
	expect(write_file(STALL_PARAMETER, "13000"), 0);
	sleep_ms(1500);
	pid = start_suspend();
	expect_within(2000, get_status().state == MTS_STATE_PAUSED && !get_status().frozen, "%s",
		      describe());
	status = end_suspend(pid);
	expect(status, EBUSY);
	/* Not what it was in the middle of: all ran meanwhile. */
	expect_soon(is_rotating() && get_status().frozen == 2, "%s", describe());
	rotate_by_use(SMALL_BIN_MIB, 200, MTS_EVICT_FULL);
	wait_rounds(2);
}

GUEST_TESTS(TEST(thaw_thaws_and_stops), TEST(off_is_off_when_it_returns),
	    TEST(newcomer_while_stopped), TEST(thaw_twenty_times), TEST(unload_while_frozen),
	    TEST(unload_in_the_middle_of_evictions),
	    TEST(unload_is_refused_while_the_device_is_open), TEST(unload_during_forks_under_each),
	    TEST(watchdog_ends_a_stall), TEST(resumed_in_the_middle_of_a_stall),
	    TEST(commands_work_during_a_stall), TEST_WITHIN(out_of_memory_thaws, 160),
	    TEST_WITHIN(out_of_memory_while_idle, 130), TEST(suspend_pauses_and_resume_goes_on),
	    TEST(suspend_does_not_end_a_stop), TEST(rotation_goes_on_after_a_refused_suspend));

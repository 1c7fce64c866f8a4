// SPDX-License-Identifier: GPL-2.0
/* A freeze that another process asks for is kept, also while mts holds the job frozen. */
#include <sys/mount.h>

#include "guest.h"

#define SLICE_MS 400
/* Long enough for each of the bins to have its turn. */
#define TURNS_MS (8 * SLICE_MS)

static void freeze(const char *cgroup, bool frozen)
{
	expect(cg_write(cgroup, "cgroup.freeze", frozen ? "1" : "0"), 0);
}

static void start_turns(void)
{
	start_hogs(HOG_RANDOM, 3, three_equal);
	rotate(32, SLICE_MS, MTS_EVICT_OFF);
	wait_rounds(1);
}

static struct hog *start_added(struct hog *hog, const char *cgroup)
{
	cg_make(cgroup);
	hog_start(hog, &(struct hog_spec){ .cgroup = cgroup, .mib = 24, .kind = HOG_RANDOM });
	return hog;
}

static u32 state_of(u32 id)
{
	struct mts_job_info job;

	check(find_id(id, &job), "no job %u: %s", id, describe());
	return job.state;
}

static bool waits(u32 id)
{
	struct mts_job_info job;

	check(find_id(id, &job), "no job %u: %s", id, describe());
	return waits_for_its_turn(&job);
}

static void expect_stays_frozen(const char *cgroup, unsigned int ms)
{
	u64 end;

	for (end = now_ms() + ms; now_ms() < end; sleep_ms(5))
		check(cg_freeze_asked(cgroup), "it was thawed: %s", describe());
	check(cg_frozen(cgroup), "a task of it runs: %s", describe());
}

/* A job that mts holds frozen, until another process freezes it too. */
static struct hog *frozen_twice(void)
{
	struct hog *hog;

	start_turns();
	hog = frozen_hog();
	freeze(hog->cgroup, true);
	return hog;
}

static void expect_takes_turns(struct hog *hog, u32 id)
{
	hog_expect_progress(hog, 10000);
	expect_soon(waits(id), "%s", describe());
	hog_expect_progress(hog, 10000);
}

static void frozen_while_mts_holds_it(void)
{
	struct hog *hog = frozen_twice();
	unsigned int i;
	u64 end;

	expect_within(100, state_of(hog->id) == MTS_JOB_FOREIGN, "%s", describe());
	for (end = now_ms() + TURNS_MS; now_ms() < end; sleep_ms(5)) {
		check(cg_freeze_asked(hog->cgroup), "it was thawed: %s", describe());
		check(state_of(hog->id) == MTS_JOB_FOREIGN, "%s", describe());
	}
	for (i = 0; i < 3; i++)
		if (&hogs[i] != hog)
			hog_expect_progress(&hogs[i], 5000);
	check(cg_frozen(hog->cgroup), "a task of it runs: %s", describe());
	freeze(hog->cgroup, false);
	expect_takes_turns(hog, hog->id);
}

static void frozen_and_thawed_while_mts_holds_it(void)
{
	struct hog *hog = frozen_twice();

	freeze(hog->cgroup, false);
	expect_takes_turns(hog, hog->id);
}

static void thawed_and_frozen_while_mts_holds_it(void)
{
	struct hog *hog;

	start_turns();
	hog = frozen_hog();
	freeze(hog->cgroup, false);
	freeze(hog->cgroup, true);
	expect_stays_frozen(hog->cgroup, TURNS_MS);
	check(state_of(hog->id) == MTS_JOB_FOREIGN, "%s", describe());
	freeze(hog->cgroup, false);
	expect_takes_turns(hog, hog->id);
}

static void an_added_job_frozen_while_mts_holds_it(void)
{
	struct hog added;
	u32 id;

	start_hogs(HOG_RANDOM, 2, three_equal);
	start_added(&added, "t-added");
	id = add_job("t-added", 0);
	rotate(32, SLICE_MS, MTS_EVICT_FULL);
	expect_soon(waits(id), "%s", describe());
	freeze("t-added", true);
	expect_within(100, state_of(id) == MTS_JOB_FOREIGN, "%s", describe());
	expect_stays_frozen("t-added", TURNS_MS);
	remove_job(id);
	expect_stays_frozen("t-added", 500);
	freeze("t-added", false);
	hog_expect_progress(&added, 3000);
}

/* What crun, runc and systemd in a container see is another mount of the same files. */
static void frozen_through_another_cgroup_namespace(void)
{
	char path[300];
	struct hog *hog;
	pid_t pid;

	start_turns();
	hog = frozen_hog();
	pid = spawn();
	if (!pid) {
		mts_close();
		if (unshare(CLONE_NEWNS | CLONE_NEWCGROUP) || mkdir("/tmp/t-cg", 0700) ||
		    mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
		    mount("none", "/tmp/t-cg", "cgroup2", 0, NULL))
			_exit(1);
		snprintf(path, sizeof(path), "/tmp/t-cg/%s/cgroup.freeze", hog->cgroup);
		_exit(write_file(path, "1") ? 2 : 0);
	}
	expect(join(pid, 5000), 0);
	rmdir("/tmp/t-cg");
	expect_within(100, state_of(hog->id) == MTS_JOB_FOREIGN, "%s", describe());
	expect_stays_frozen(hog->cgroup, TURNS_MS);
	freeze(hog->cgroup, false);
	expect_takes_turns(hog, hog->id);
}

static void kept_at_unload(void)
{
	struct hog *hog = frozen_twice();
	unsigned int i;

	mts_close();
	expect(module_unload(), 0);
	expect_stays_frozen(hog->cgroup, 1000);
	for (i = 0; i < 3; i++)
		if (&hogs[i] != hog)
			hog_expect_progress(&hogs[i], 3000);
	freeze(hog->cgroup, false);
	hog_expect_progress(hog, 3000);
	expect(module_load(""), 0);
	mts_open();
}

static void kept_by_mode_off(void)
{
	struct hog *hog = frozen_twice();

	set_mode(MTS_MODE_OFF);
	expect_stays_frozen(hog->cgroup, 1000);
	expect(get_status().frozen, 0);
	set_mode(MTS_MODE_ALWAYS);
	expect_stays_frozen(hog->cgroup, 1000);
	freeze(hog->cgroup, false);
	expect_takes_turns(hog, hog->id);
}

static void kept_by_a_thaw_of_everything(void)
{
	struct hog *hog = frozen_twice();

	expect(mts_ioctl(MTS_IOC_THAW, NULL), 0);
	expect_stays_frozen(hog->cgroup, 1000);
	check(state_of(hog->id) == MTS_JOB_FOREIGN, "%s", describe());
	set_mode(MTS_MODE_ALWAYS);
	expect_stays_frozen(hog->cgroup, 1000);
	freeze(hog->cgroup, false);
	expect_takes_turns(hog, hog->id);
}

static void kept_when_the_job_is_removed(void)
{
	struct hog *hog = frozen_twice();

	remove_job(hog->id);
	expect_stays_frozen(hog->cgroup, 1000);
	freeze(hog->cgroup, false);
	hog_expect_progress(hog, 3000);
}

/* Slices cannot get short enough, so that the watchdog thaws jobs out of turn; but not this one. */
static void kept_by_the_watchdog(void)
{
	static const unsigned int eight[] = { 10, 10, 10, 10, 10, 10, 10, 10 };
	struct mts_stats before = get_stats();
	struct hog *hog;

	start_hogs(HOG_RANDOM, 8, eight);
	set_config(&(struct mts_config){
		.mask = MTS_CONFIG_ALL,
		.mode = MTS_MODE_ALWAYS,
		.evict = MTS_EVICT_OFF,
		.slice_ns = 1000 * NS_PER_MS,
		.bin_bytes = 12 * MIB,
		.min_slice_ns = 1000 * NS_PER_MS,
		.max_pause_ns = 1000 * NS_PER_MS,
		.overhead = 0,
		.step = MTS_STEP_BIN,
	});
	expect_rotation(8);
	hog = frozen_hog();
	freeze(hog->cgroup, true);
	expect_stays_frozen(hog->cgroup, 4000);
	check(get_stats().overdue_thaws > before.overdue_thaws, "no job was thawed out of turn: %s",
	      describe());
	freeze(hog->cgroup, false);
	expect_takes_turns(hog, hog->id);
}

/* cgroup.freeze of the job says 0 in the end, and it is frozen all the same. */
static void frozen_from_above(bool before)
{
	struct hog other;
	u32 id;

	start_hogs(HOG_RANDOM, 2, three_equal);
	cg_make("t-above");
	expect(cg_write("t-above", "cgroup.subtree_control", "+memory"), 0);
	start_added(&other, "t-above/job");
	id = add_job("t-above/job", 0);
	if (before)
		freeze("t-above", true);
	rotate(32, SLICE_MS, MTS_EVICT_OFF);
	expect_soon(is_rotating(), "%s", describe());
	if (!before) {
		expect_soon(waits(id), "%s", describe());
		freeze("t-above", true);
	}
	expect_within(100, state_of(id) == MTS_JOB_FOREIGN, "%s", describe());
	expect_stays_frozen("t-above", TURNS_MS);
	check(cg_frozen("t-above/job"), "it was thawed: %s", describe());
	check(state_of(id) == MTS_JOB_FOREIGN, "%s", describe());
	check(!cg_freeze_asked("t-above/job"), "mts still holds it: %s", describe());
	expect(mts_ioctl(MTS_IOC_THAW, NULL), 0);
	check(cg_frozen("t-above/job"), "THAW has thawed it: %s", describe());
	check(state_of(id) == MTS_JOB_FOREIGN, "%s", describe());
	set_mode(MTS_MODE_ALWAYS);
	freeze("t-above", false);
	expect_takes_turns(&other, id);
}

static void frozen_from_above_before(void)
{
	frozen_from_above(true);
}

static void frozen_from_above_while_mts_holds_it(void)
{
	frozen_from_above(false);
}

static int open_freeze(const struct hog *hog, int flags)
{
	char path[300];
	int fd;

	snprintf(path, sizeof(path), CGROUPS "%s/cgroup.freeze", hog->cgroup);
	fd = open(path, flags | O_CLOEXEC);
	check(fd >= 0, "%s: %s", path, strerror(errno));
	return fd;
}

/* A shell's redirection truncates; that is no request for a freeze. */
static void truncated_is_not_frozen(void)
{
	struct hog *hog;

	start_turns();
	hog = frozen_hog();
	close(open_freeze(hog, O_WRONLY | O_TRUNC));
	expect_takes_turns(hog, hog->id);
	set_mode(MTS_MODE_OFF);
	expect_all_thawed(1000);
}

/* A process that keeps the file open for writing keeps nobody frozen, and stops no turns. */
static void file_held_open(void)
{
	struct hog *hog;
	unsigned int i;
	u64 end;
	int fd;

	start_turns();
	hog = frozen_hog();
	fd = open_freeze(hog, O_RDWR);
	for (i = 0; i < 3; i++)
		hog_expect_progress(&hogs[i], 10000);
	wait_rounds(2);
	/* A write may be on its way at any moment: mts does not freeze the job meanwhile. */
	for (end = now_ms() + TURNS_MS; now_ms() < end; sleep_ms(5))
		check(!cg_freeze_asked(hog->cgroup), "it was frozen: %s", describe());
	expect_soon(state_of(hog->id) == MTS_JOB_LEFT_OUT, "%s", describe());
	check(write(fd, "1", 1) == 1, "%s", strerror(errno));
	expect_stays_frozen(hog->cgroup, 1000);
	check(write(fd, "0", 1) == 1, "%s", strerror(errno));
	hog_expect_progress(hog, 3000);
	set_mode(MTS_MODE_OFF);
	expect_all_thawed(1000);
	set_mode(MTS_MODE_ALWAYS);
	close(fd);
	expect_takes_turns(hog, hog->id);
}

/* What the writer has asked for last is what holds, and for as long as it says. */
static void written_all_the_time(void)
{
	unsigned int seed = 1, i, frozen = 0;
	struct hog *hog;
	u64 end, until;

	start_hogs(HOG_RANDOM, 3, three_equal);
	rotate(32, 100, MTS_EVICT_OFF);
	wait_rounds(1);
	hog = &hogs[0];
	for (end = now_ms() + 10000; now_ms() < end;) {
		freeze(hog->cgroup, true);
		frozen++;
		until = now_ms() + rand_r(&seed) % 120;
		do
			check(cg_freeze_asked(hog->cgroup), "thawed, write %u: %s", frozen,
			      describe());
		while (now_ms() < until);
		freeze(hog->cgroup, false);
		until = now_ns() + rand_r(&seed) % (250 * NS_PER_MS);
		while (now_ns() < until)
			sched_yield();
	}
	freeze(hog->cgroup, true);
	expect_stays_frozen(hog->cgroup, 2000);
	check(state_of(hog->id) == MTS_JOB_FOREIGN, "%s", describe());
	freeze(hog->cgroup, false);
	for (i = 0; i < 3; i++)
		hog_expect_progress(&hogs[i], 10000);
	set_mode(MTS_MODE_OFF);
	expect_all_thawed(1000);
	note("%u freezes", frozen);
}

/* Nor does a job stay frozen that others thaw all the time, while mts freezes it or not. */
static void thawed_all_the_time(void)
{
	struct hog *hog;
	pid_t pid;
	u64 end;

	start_hogs(HOG_RANDOM, 3, three_equal);
	hog = &hogs[0];
	pid = spawn();
	if (!pid) {
		mts_close();
		for (;;)
			if (cg_write(hog->cgroup, "cgroup.freeze", "0"))
				_exit(1);
	}
	rotate(32, 100, MTS_EVICT_OFF);
	for (end = now_ms() + 8000; now_ms() < end; sleep_ms(20))
		check(state_of(hog->id) != MTS_JOB_FOREIGN || !cg_freeze_asked(hog->cgroup),
		      "nobody has frozen it: %s", describe());
	kill_and_join(pid);
	expect_takes_turns(hog, hog->id);
	set_mode(MTS_MODE_OFF);
	expect_all_thawed(1000);
}

GUEST_TESTS(TEST(frozen_while_mts_holds_it), TEST(frozen_and_thawed_while_mts_holds_it),
	    TEST(thawed_and_frozen_while_mts_holds_it),
	    TEST(an_added_job_frozen_while_mts_holds_it),
	    TEST(frozen_through_another_cgroup_namespace), TEST(kept_at_unload),
	    TEST(kept_by_mode_off), TEST(kept_by_a_thaw_of_everything),
	    TEST(kept_when_the_job_is_removed), TEST(kept_by_the_watchdog),
	    TEST(frozen_from_above_before), TEST(frozen_from_above_while_mts_holds_it),
	    TEST(truncated_is_not_frozen), TEST(file_held_open),
	    TEST_WITHIN(written_all_the_time, 120), TEST(thawed_all_the_time));

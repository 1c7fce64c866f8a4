// SPDX-License-Identifier: GPL-2.0
/* What is not rotated, not frozen, not thawed. */
#include <pthread.h>

#include "guest.h"

/* ---- when not to rotate ----------------------------------------------------------- */

static void fits_then_nothing_is_frozen(void)
{
	struct mts_stats before;
	u64 end;
	u32 i;

	start_hogs(HOG_RANDOM, 3, three_equal);
	before = get_stats();
	rotate(128, 300, MTS_EVICT_FULL);
	expect_within(5000, get_status().state == MTS_STATE_IDLE, "%s", describe());
	check(get_status().reason == MTS_REASON_FITS, "%s", describe());
	for (end = now_ms() + 3000; now_ms() < end; sleep_ms(50)) {
		struct mts_status s = get_status();

		check(s.state == MTS_STATE_IDLE && !s.frozen && !s.bins, "%s", describe());
	}
	check(get_stats().freezes == before.freezes, "it froze something");
	check(get_stats().evict_asked == before.evict_asked, "it evicted something");
	for (i = 0; i < 3; i++)
		hog_expect_progress(&hogs[i], 1000);
}

static void one_job_is_never_frozen(void)
{
	static const unsigned int mib[] = { 24 };
	struct mts_stats before = get_stats();

	start_hogs(HOG_RANDOM, 1, mib);
	rotate(8, 200, MTS_EVICT_FULL);
	expect_within(5000, get_status().reason == MTS_REASON_NO_JOBS, "%s", describe());
	hog_expect_progress(&hogs[0], 1000);
	check(get_stats().freezes == before.freezes, "it was frozen");
}

static void mode_auto_rotates_in_a_set_bin(void)
{
	start_hogs(HOG_RANDOM, 3, three_equal);
	rotate(32, 300, MTS_EVICT_OFF);
	set_mode(MTS_MODE_AUTO);
	expect_rotation(3);
}

static long switches_of(const char *thread)
{
	char path[64], text[4096], *line;
	pid_t pid;

	for (pid = 2; pid < 32768; pid++) {
		snprintf(path, sizeof(path), "/proc/%d/comm", pid);
		if (read_file(path, text, sizeof(text)) || strncmp(text, thread, strlen(thread)))
			continue;
		snprintf(path, sizeof(path), "/proc/%d/status", pid);
		read_file(path, text, sizeof(text));
		line = strstr(text, "\nvoluntary_ctxt_switches:");
		check(line, "no voluntary_ctxt_switches of %s", thread);
		return atol(line + strlen("\nvoluntary_ctxt_switches:"));
	}
	fail("no thread %s", thread);
}

/* The rotor looks while the host reclaims, and for 5 s after that. */
static u64 wait_until_nothing_is_reclaimed(void)
{
	u64 end = now_ms() + 60000, reclaims;

	do {
		check(now_ms() < end, "the host reclaims all the time");
		reclaims = get_stats().reclaim_wakeups;
		sleep_ms(6000);
	} while (get_stats().reclaim_wakeups != reclaims);
	return reclaims;
}

static void expect_no_wakeup(unsigned int s)
{
	long rotor, watchdog;
	u64 reclaims;

	do {
		reclaims = wait_until_nothing_is_reclaimed();
		rotor = switches_of("mts_rotor");
		watchdog = switches_of("mts_watchdog");
		sleep_ms(s * 1000);
		rotor = switches_of("mts_rotor") - rotor;
		watchdog = switches_of("mts_watchdog") - watchdog;
	} while (get_stats().reclaim_wakeups != reclaims);
	check(!rotor, "the rotor woke %ld times in %u s", rotor, s);
	check(!watchdog, "the watchdog woke %ld times in %u s", watchdog, s);
}

/* Invariant 4: no timer ticks. */
static void while_all_fits_no_thread_of_ours_wakes(void)
{
	start_hogs(HOG_RANDOM, 3, three_equal);
	set_mode(MTS_MODE_AUTO);
	expect_within(3000, get_status().reason == MTS_REASON_FITS, "%s", describe());
	expect_no_wakeup(5);
}

/* The host has plenty: what it holds for itself does not make it rotate. */
static void mode_auto_is_idle_while_memory_suffices(void)
{
	u64 end;

	start_hogs(HOG_RANDOM, 3, three_equal);
	set_mode(MTS_MODE_AUTO);
	for (end = now_ms() + 3000; now_ms() < end; sleep_ms(50))
		check(!get_status().frozen, "%s", describe());
	expect_within(2000, get_status().state == MTS_STATE_IDLE, "%s", describe());
	check(get_status().reason == MTS_REASON_FITS, "%s", describe());
}

static void mode_shadow_decides_and_freezes_nothing(void)
{
	u64 freezes, end;
	long mark;
	u32 i;

	start_hogs(HOG_RANDOM, 3, three_equal);
	rotate(32, 300, MTS_EVICT_FULL);
	expect_rotation(3);
	mark = log_mark();
	set_mode(MTS_MODE_SHADOW);
	expect_all_thawed(1000);
	expect_within(3000, get_status().reason == MTS_REASON_SHADOW, "%s", describe());
	check(log_says(mark, "shadow: would rotate now: 3 bins"), "the log does not say so");
	freezes = get_stats().freezes;
	for (end = now_ms() + 1000; now_ms() < end; sleep_ms(50))
		check(!get_status().frozen && get_status().state == MTS_STATE_IDLE, "%s",
		      describe());
	check(get_stats().freezes == freezes, "something was frozen");
	for (i = 0; i < 3; i++)
		hog_expect_progress(&hogs[i], 2000);
	set_mode(MTS_MODE_AUTO);
	expect_rotation(3);
}

static void without_swap_nothing_rotates(void)
{
	bool idle, frozen;

	if (system("swapoff /dev/nullb0"))
		guest_skip("the swap disk cannot be taken away");
	start_hogs(HOG_RANDOM, 3, three_equal);
	rotate(32, 300, MTS_EVICT_FULL);
	idle = wait_until(get_status().reason == MTS_REASON_NO_SWAP, 3000);
	frozen = get_status().frozen;
	check(!system("swapon /dev/nullb0"), "swapon");
	check(idle && !frozen, "reason NO_SWAP: %d, frozen: %d", idle, frozen);
	expect_rotation(3);
}

/* ---- never frozen ----------------------------------------------------------------- */

static void pinned_job_is_never_frozen(void)
{
	struct mts_job_info job;
	struct hog pinned;
	u64 end;

	start_hogs(HOG_RANDOM, 3, three_equal);
	hog_start(&pinned,
		  &(struct hog_spec){
			  .name = "pinned", .flags = MTS_JOB_PIN, .mib = 4, .kind = HOG_RANDOM });
	rotate(36, 300, MTS_EVICT_FULL);
	expect_rotation(3);
	for (end = now_ms() + 4000; now_ms() < end; sleep_ms(10))
		check(!cg_freeze_asked(pinned.cgroup), "it was frozen: %s", describe());
	job = job_named("pinned");
	check(job.state == MTS_JOB_RESIDENT && job.bin == MTS_BIN_EVERY, "%s", describe());
	check(!job.frozen_since_ns && !job.frozen_longest_ns && !job.evicted, "%s", describe());
	hog_expect_progress(&pinned, 1000);
	check(get_status().resident_demand >= 4 * MIB, "resident demand %llu",
	      get_status().resident_demand);
	check(get_status().capacity <= 32 * MIB, "its memory was not taken off the capacity: %s",
	      describe());
}

static void pinned_while_frozen(void)
{
	struct hog *hog;

	start_hogs(HOG_RANDOM, 3, three_equal);
	rotate(32, 20000, MTS_EVICT_OFF);
	hog = frozen_hog();
	set_job(hog->id, MTS_JOB_PIN, MTS_JOB_PIN);
	/* At once, not after 15 s at the slice's end. */
	expect_within(3000, job_named(hog->name).state == MTS_JOB_RESIDENT, "%s", describe());
	check(!cg_freeze_asked(hog->cgroup), "cgroup.freeze is 1");
	hog_expect_progress(hog, 1000);
	set_job(hog->id, MTS_JOB_PIN, 0);
	expect_within(3000, job_named(hog->name).state != MTS_JOB_RESIDENT, "%s", describe());
}

static void set_policy(pid_t pid, int policy)
{
	struct sched_param parameter = { .sched_priority = policy == SCHED_OTHER ? 0 : 1 };

	check(!sched_setscheduler(pid, policy, &parameter), "sched_setscheduler: %m");
}

static void realtime_job_is_never_frozen(void)
{
	struct mts_job_info job;
	struct hog realtime;
	u64 frozen, end;

	start_hogs(HOG_RANDOM, 3, three_equal);
	hog_start(&realtime, &(struct hog_spec){ .name = "realtime", .mib = 4, .kind = HOG_SLEEP });
	cg_hide_sleep(realtime.cgroup);
	rotate(26, 300, MTS_EVICT_OFF);
	expect_within(10000, job_named("realtime").frozen_total_ns, "never frozen before: %s",
		      describe());
	set_policy(realtime.pid, SCHED_FIFO);
	expect_within(5000, job_named("realtime").state == MTS_JOB_REALTIME, "%s", describe());
	frozen = job_named("realtime").frozen_total_ns;
	for (end = now_ms() + 3000; now_ms() < end; sleep_ms(10))
		check(!cg_freeze_asked(realtime.cgroup), "frozen though real-time: %s", describe());
	job = job_named("realtime");
	check(job.frozen_total_ns == frozen && job.bin == MTS_BIN_EVERY, "%s", describe());
	set_policy(realtime.pid, SCHED_OTHER);
	expect_within(10000, job_named("realtime").frozen_total_ns > frozen, "not frozen again: %s",
		      describe());
}

static void born_realtime(void)
{
	struct hog realtime;
	u64 end;

	start_hogs(HOG_RANDOM, 3, three_equal);
	hog_start(&realtime, &(struct hog_spec){ .name = "realtime", .mib = 4, .kind = HOG_SLEEP });
	cg_hide_sleep(realtime.cgroup);
	set_policy(realtime.pid, SCHED_RR);
	rotate(32, 200, MTS_EVICT_OFF);
	expect_rotation(3);
	for (end = now_ms() + 3000; now_ms() < end; sleep_ms(10))
		check(!cg_freeze_asked(realtime.cgroup), "frozen though real-time: %s", describe());
	check(!job_named("realtime").frozen_longest_ns, "%s", describe());
}

/* Not at the next switch, which is a minute away: now. */
static void thawed_for_whom_is_moved_in(pid_t pid)
{
	struct hog *frozen;

	start_hogs(HOG_RANDOM, 3, three_equal);
	rotate(32, 60000, MTS_EVICT_OFF);
	expect_soon(get_status().frozen == 2, "%s", describe());
	frozen = frozen_hog();
	cg_move(frozen->cgroup, pid);
	expect_within(1000, !cg_freeze_asked(frozen->cgroup), "it stands still: %s", describe());
	hog_expect_progress(frozen, 2000);
	cg_move("", pid);
}

static void realtime_task_moved_into_a_frozen_job(void)
{
	pid_t pid = spawn();

	if (!pid) {
		pause();
		_exit(0);
	}
	set_policy(pid, SCHED_FIFO);
	thawed_for_whom_is_moved_in(pid);
}

static void *be_realtime(void *ready)
{
	set_policy(0, SCHED_FIFO);
	if (write(*(int *)ready, "r", 1) != 1)
		_exit(1);
	pause();
	return NULL;
}

/* One event says it of the whole process, and names its first thread, which is an ordinary one. */
static void process_of_a_realtime_thread_moved_into_a_frozen_job(void)
{
	int ends[2];
	char ready;
	pid_t pid;

	check(!pipe(ends), "pipe: %m");
	pid = spawn();
	if (!pid) {
		pthread_t thread;

		if (pthread_create(&thread, NULL, be_realtime, &ends[1]))
			_exit(1);
		pthread_join(thread, NULL);
		_exit(0);
	}
	close(ends[1]);
	check(read(ends[0], &ready, 1) == 1, "no thread");
	close(ends[0]);
	thawed_for_whom_is_moved_in(pid);
}

static void pid_1_moved_into_a_frozen_job(void)
{
	thawed_for_whom_is_moved_in(1);
}

static void frozen_by_somebody_else_stays_so(void)
{
	struct mts_job_info job;
	struct hog other;
	u32 id;
	u64 end;

	start_hogs(HOG_RANDOM, 3, three_equal);
	cg_make("t-foreign");
	hog_start(&other,
		  &(struct hog_spec){ .cgroup = "t-foreign", .mib = 24, .kind = HOG_RANDOM });
	expect(cg_write("t-foreign", "cgroup.freeze", "1"), 0);
	expect_within(2000, cg_frozen("t-foreign"), "the kernel did not freeze it");
	id = add_job("t-foreign", 0);
	rotate(32, 200, MTS_EVICT_FULL);
	expect_soon(is_rotating(), "%s", describe());
	for (end = now_ms() + 4000; now_ms() < end; sleep_ms(5))
		check(cg_freeze_asked("t-foreign"), "it was thawed: %s", describe());
	check(find_id(id, &job) && job.state == MTS_JOB_FOREIGN, "%s", describe());
	check(!job.evicted && !job.frozen_since_ns, "it was evicted or counted as ours");
	expect(mts_ioctl(MTS_IOC_THAW, NULL), 0);
	check(cg_freeze_asked("t-foreign"), "THAW has thawed it");
	remove_job(id);
	check(cg_freeze_asked("t-foreign"), "JOB_REMOVE has thawed it");
	expect(cg_write("t-foreign", "cgroup.freeze", "0"), 0);
	hog_expect_progress(&other, 3000);
}

static bool runs_early_in_slice(u32 bin)
{
	struct mts_status s = get_status();

	return s.state == MTS_STATE_RUNNING && s.current_bin == bin &&
	       s.slice_ends_ns > s.now_ns + 300 * NS_PER_MS;
}

/* A job of ours, during its turn, not the last: whoever froze it is the one to thaw it. */
static void frozen_by_somebody_else_during_its_slice(void)
{
	struct hog *hog;
	unsigned int i;
	u64 end;

	start_hogs(HOG_RANDOM, 3, three_equal);
	rotate(32, 700, MTS_EVICT_OFF);
	wait_rounds(1);
	expect_within(10000, runs_early_in_slice(0), "%s", describe());
	hog = hog_of_bin(0);
	expect(cg_write(hog->cgroup, "cgroup.freeze", "1"), 0);
	for (end = now_ms() + 4000; now_ms() < end; sleep_ms(5))
		check(cg_freeze_asked(hog->cgroup), "it was thawed: %s", describe());
	check(job_named(hog->name).state == MTS_JOB_FOREIGN, "%s", describe());
	for (i = 0; i < 3; i++)
		if (&hogs[i] != hog)
			hog_expect_progress(&hogs[i], 3000);
	expect(mts_ioctl(MTS_IOC_THAW, NULL), 0);
	check(cg_freeze_asked(hog->cgroup), "THAW has thawed it");
	expect(cg_write(hog->cgroup, "cgroup.freeze", "0"), 0);
	set_mode(MTS_MODE_ALWAYS);
	wait_rounds(2);
	hog_expect_progress(hog, 3000);
}

/* The job itself is ours to freeze and thaw, what is above it is not. */
static void frozen_from_above_stays_so(void)
{
	struct hog other;
	u64 end;

	start_hogs(HOG_RANDOM, 2, three_equal);
	cg_make("t-above");
	expect(cg_write("t-above", "cgroup.subtree_control", "+memory"), 0);
	cg_make("t-above/job");
	hog_start(&other,
		  &(struct hog_spec){ .cgroup = "t-above/job", .mib = 24, .kind = HOG_RANDOM });
	expect(cg_write("t-above", "cgroup.freeze", "1"), 0);
	expect_within(2000, cg_frozen("t-above/job"), "the kernel did not freeze it");
	add_job("t-above/job", 0);
	rotate(32, 200, MTS_EVICT_OFF);
	expect_soon(is_rotating(), "%s", describe());
	for (end = now_ms() + 3000; now_ms() < end; sleep_ms(10))
		check(cg_freeze_asked("t-above") && cg_frozen("t-above/job"), "it was thawed: %s",
		      describe());
	expect(mts_ioctl(MTS_IOC_THAW, NULL), 0);
	check(cg_freeze_asked("t-above"), "THAW has thawed what is above");
	expect(cg_write("t-above", "cgroup.freeze", "0"), 0);
	hog_expect_progress(&other, 3000);
}

/* What the owner of an adopted cgroup has set is as before, in the end. */
static void settings_of_an_added_cgroup_are_kept(void)
{
	static const char *const files[] = { "memory.low",  "memory.min",	"memory.high",
					     "memory.max",  "memory.swap.max",	"cpu.weight",
					     "cgroup.type", "cgroup.max.depth", "cgroup.freeze" };
	char before[ARRAY_SIZE(files)][64], after[64];
	struct hog other;
	size_t i;
	u32 id;

	start_hogs(HOG_RANDOM, 2, three_equal);
	cg_make("t-set");
	expect(cg_write("t-set", "memory.low", "8388608"), 0);
	expect(cg_write("t-set", "memory.high", "1073741824"), 0);
	hog_start(&other, &(struct hog_spec){ .cgroup = "t-set", .mib = 24, .kind = HOG_RANDOM });
	for (i = 0; i < ARRAY_SIZE(files); i++)
		cg_read("t-set", files[i], before[i], sizeof(before[i]));
	id = add_job("t-set", 0);
	rotate(32, 300, MTS_EVICT_FULL);
	wait_rounds(3);
	remove_job(id);
	for (i = 0; i < ARRAY_SIZE(files); i++) {
		cg_read("t-set", files[i], after, sizeof(after));
		check(!strcmp(before[i], after), "%s was %s and is %s", files[i], before[i], after);
	}
	hog_expect_progress(&other, 3000);
}

/* systemd's set-property writes all settings of a unit anew: memory.low is 0 then. */
static void a_protection_that_others_reset_is_set_again(void)
{
	const long long protects = 3 * (long long)MIB;
	struct hog pinned;
	u32 id;

	start_hogs(HOG_RANDOM, 3, three_equal);
	cg_make("t-unit");
	hog_start(&pinned, &(struct hog_spec){ .cgroup = "t-unit", .mib = 4, .kind = HOG_RANDOM });
	id = add_job("t-unit", MTS_JOB_PIN);
	rotate(36, 300, MTS_EVICT_FULL);
	expect_rotation(3);
	expect_within(5000, cg_number("t-unit", "memory.low") >= protects, "%lld",
		      cg_number("t-unit", "memory.low"));
	expect(cg_write("t-unit", "memory.low", "0"), 0);
	expect_soon(cg_number("t-unit", "memory.low") >= protects, "%lld",
		    cg_number("t-unit", "memory.low"));
	/* What was set last is its own. */
	expect(cg_write("t-unit", "memory.low", "8192"), 0);
	expect_soon(cg_number("t-unit", "memory.low") >= protects, "%lld",
		    cg_number("t-unit", "memory.low"));
	remove_job(id);
	check(cg_number("t-unit", "memory.low") == 8192, "%lld", cg_number("t-unit", "memory.low"));
}

/*
 * A unit in a slice in a slice, which have no protection of their own: without that the kernel
 * takes no notice of the unit's.
 */
static void an_added_job_is_protected_through_all_cgroups_above(void)
{
	static const char *const slices[] = { "t-user", "t-user/t-slice" };
	const char *unit = "t-user/t-slice/t-unit";
	struct hog pinned;
	long long low;
	size_t i;
	u32 id;

	start_hogs(HOG_RANDOM, 3, three_equal);
	for (i = 0; i < ARRAY_SIZE(slices); i++) {
		cg_make(slices[i]);
		expect(cg_write(slices[i], "cgroup.subtree_control", "+memory"), 0);
	}
	expect(cg_write(slices[0], "memory.low", "65536"), 0);
	cg_make(unit);
	hog_start(&pinned, &(struct hog_spec){ .cgroup = unit, .mib = 4, .kind = HOG_RANDOM });
	id = add_job(unit, MTS_JOB_PIN);
	rotate(36, 300, MTS_EVICT_FULL);
	expect_rotation(3);
	expect_within(5000, (low = cg_number(unit, "memory.low")) >= 3 * (long long)MIB, "%lld",
		      low);
	expect_soon(cg_number(slices[1], "memory.low") == low, "%lld, not %lld",
		    cg_number(slices[1], "memory.low"), low);
	expect_soon(cg_number(slices[0], "memory.low") == low + 65536, "%lld, not %lld",
		    cg_number(slices[0], "memory.low"), low + 65536);
	/* As systemd does it. */
	expect(cg_write(slices[1], "memory.low", "0"), 0);
	expect_soon(cg_number(slices[1], "memory.low") >= low / 8 * 7, "it stays 0");
	remove_job(id);
	check(!cg_number(unit, "memory.low") && !cg_number(slices[1], "memory.low") &&
		      cg_number(slices[0], "memory.low") == 65536,
	      "%lld, %lld, %lld", cg_number(unit, "memory.low"), cg_number(slices[1], "memory.low"),
	      cg_number(slices[0], "memory.low"));
	hog_expect_progress(&pinned, 3000);
	hog_kill(&pinned);
	expect_soon(!cg_remove(unit), "the unit's cgroup cannot be removed");
	check(!cg_remove(slices[1]) && !cg_remove(slices[0]), "the slices cannot be removed");
}

/* Lifting their freeze makes it one of ours. */
static void thawed_by_its_owner_it_takes_turns(void)
{
	struct hog other;
	u32 id;
	struct mts_job_info job;

	start_hogs(HOG_RANDOM, 2, three_equal);
	cg_make("t-owner");
	hog_start(&other, &(struct hog_spec){ .cgroup = "t-owner", .mib = 24, .kind = HOG_RANDOM });
	expect(cg_write("t-owner", "cgroup.freeze", "1"), 0);
	id = add_job("t-owner", 0);
	rotate(32, 200, MTS_EVICT_OFF);
	wait_rounds(2);
	expect(cg_write("t-owner", "cgroup.freeze", "0"), 0);
	expect_within(5000, find_id(id, &job) && job.slices >= 2 && job.frozen_longest_ns, "%s",
		      describe());
	hog_expect_progress(&other, 3000);
}

static void thawed_by_somebody_else(void)
{
	struct mts_job_info job;
	struct mts_stats before = get_stats();
	struct hog *frozen;
	u32 i;

	start_hogs(HOG_RANDOM, 3, three_equal);
	rotate(32, 1000, MTS_EVICT_OFF);
	expect_soon(get_status().frozen == 2, "%s", describe());
	expect_soon((job = job_named("a")).state == MTS_JOB_FROZEN, "%s", describe());
	frozen = &hogs[0];
	expect(cg_write(frozen->cgroup, "cgroup.freeze", "0"), 0);
	hog_expect_progress(frozen, 1000);
	expect_within(5000, get_stats().foreign_thaws > before.foreign_thaws, "%s", describe());
	wait_rounds(3);
	for (i = 0; i < 3; i++)
		hog_expect_progress(&hogs[i], 5000);
	expect_soon(job_named("a").state == MTS_JOB_FROZEN, "never frozen again: %s", describe());
	set_mode(MTS_MODE_OFF);
	expect_all_thawed(1000);
}

GUEST_TESTS(TEST(fits_then_nothing_is_frozen), TEST(one_job_is_never_frozen),
	    TEST(mode_auto_rotates_in_a_set_bin), TEST(while_all_fits_no_thread_of_ours_wakes),
	    TEST(mode_auto_is_idle_while_memory_suffices),
	    TEST(mode_shadow_decides_and_freezes_nothing), TEST(without_swap_nothing_rotates),
	    TEST(pinned_job_is_never_frozen), TEST(pinned_while_frozen),
	    TEST(realtime_job_is_never_frozen), TEST(born_realtime),
	    TEST(realtime_task_moved_into_a_frozen_job),
	    TEST(process_of_a_realtime_thread_moved_into_a_frozen_job),
	    TEST(pid_1_moved_into_a_frozen_job), TEST(frozen_by_somebody_else_stays_so),
	    TEST(frozen_by_somebody_else_during_its_slice), TEST(frozen_from_above_stays_so),
	    TEST(settings_of_an_added_cgroup_are_kept),
	    TEST(a_protection_that_others_reset_is_set_again),
	    TEST(an_added_job_is_protected_through_all_cgroups_above),
	    TEST(thawed_by_its_owner_it_takes_turns), TEST(thawed_by_somebody_else));

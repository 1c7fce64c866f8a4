// SPDX-License-Identifier: GPL-2.0
/* Cgroups with memory limits of their own: what a job lacks by them is no shortage of the host. */
#include "guest.h"

/*
 * Two jobs need 2 * WANTS_MIB and may have 2 * MAY_MIB; a third one has 30 MiB. So they hold 118
 * MiB. Beside them LEFT_MIB are left: enough for that, and not for what they need.
 */
#define WANTS_MIB 56
#define MAY_MIB 44
#define LEFT_MIB 40
/* Without a cure turns begin within 10 s. */
#define SECONDS 20

/* Reads the disk again and again: page cache fills memory, and the host reclaims. */
static void start_reader(void)
{
	static char buffer[256 * 1024];

	if (spawn())
		return;
	mts_close();
	for (;;) {
		int fd = open("/dev/nullb0", O_RDONLY);

		while (read(fd, buffer, sizeof(buffer)) > 0)
			;
		close(fd);
	}
}

static u64 capacity_of_all(void)
{
	struct mts_status s = get_status();

	return s.capacity + s.resident_demand;
}

static void limit(const char *cgroup, const char *file, unsigned int mib)
{
	char text[32];

	snprintf(text, sizeof(text), "%llu", mib * MIB);
	expect(cg_write(cgroup, file, text), 0);
}

static void signal_hogs(int sig)
{
	u32 i;

	for (i = 0; i < nhogs; i++)
		kill(hogs[i].pid, sig);
}

/*
 * The kernel reclaims when it is written. Where all pages are used all the time it gives up, and
 * does not try again before the cgroup grows: so the jobs stand still.
 */
static void limit_high(const char *cgroup, unsigned int mib)
{
	const long long bytes = (long long)(mib * MIB);
	u64 end = now_ms() + 20000;

	signal_hogs(SIGSTOP);
	do
		limit(cgroup, "memory.high", mib);
	while (cg_number(cgroup, "memory.current") > bytes && now_ms() < end);
	signal_hogs(SIGCONT);
	check(now_ms() < end, "%s has %lld bytes", cgroup, cg_number(cgroup, "memory.current"));
}

static void expect_no_turns(void)
{
	u64 rounds, began, least = ~0ull, now, second, faults;

	leave_mib(LEFT_MIB);
	start_reader();
	set_mode(MTS_MODE_AUTO);
	rounds = get_stats().rounds;
	faults = hogs_major_faults();
	/* Page cache counts as available in part only: not before it is there. */
	sleep_ms(5000);
	began = capacity_of_all();
	for (second = 0; second < SECONDS; second++) {
		sleep_ms(1000);
		now = capacity_of_all();
		least = now < least ? now : least;
		if (second % 10 == 0)
			note("%llu rounds, capacity %llu MiB: %s", get_stats().rounds - rounds,
			     now / MIB, describe());
	}
	faults = hogs_major_faults() - faults;
	check(faults > 100, "%llu major faults: the limits did not bind",
	      (unsigned long long)faults);
	check(get_stats().reclaim_wakeups > 0, "the host did not reclaim");
	check(get_stats().rounds == rounds, "%llu rounds: %s", get_stats().rounds - rounds,
	      describe());
	check(least > began - began / 8, "the capacity fell from %llu to %llu MiB",
	      (unsigned long long)(began / MIB), (unsigned long long)(least / MIB));
}

static void limits_of_their_own_are_no_shortage(void)
{
	static const unsigned int sizes[] = { WANTS_MIB, WANTS_MIB, 30 };

	start_hogs(HOG_RANDOM, 3, sizes);
	limit_high(hogs[0].cgroup, MAY_MIB);
	limit(hogs[1].cgroup, "memory.max", MAY_MIB);
	expect_no_turns();
}

/* The limit is of the cgroup in which both of them are. */
static void a_limit_above_is_no_shortage(void)
{
	static const char *const cgroups[] = { "t-above/a", "t-above/b" };
	struct hog_spec spec = { .mib = WANTS_MIB, .kind = HOG_RANDOM };
	unsigned int i;

	set_mode(MTS_MODE_OFF);
	cg_make("t-above");
	expect(cg_write("t-above", "cgroup.subtree_control", "+memory"), 0);
	for (i = 0; i < 2; i++) {
		cg_make(cgroups[i]);
		spec.cgroup = cgroups[i];
		hog_start(&hogs[i], &spec);
		hogs[i].id = add_job(cgroups[i], 0);
		snprintf(hogs[i].name, sizeof(hogs[i].name), "%s", strrchr(cgroups[i], '/') + 1);
	}
	hog_start(&hogs[2], &(struct hog_spec){ .name = "c", .mib = 30, .kind = HOG_RANDOM });
	nhogs = 3;
	limit_high("t-above", 2 * MAY_MIB);
	expect_no_turns();
}

/* All three are in it: 24 MiB less than they need. */
static void a_limit_of_the_base_is_no_shortage(void)
{
	static const unsigned int sizes[] = { WANTS_MIB, WANTS_MIB, 30 };

	start_hogs(HOG_RANDOM, 3, sizes);
	limit_high(BASE, 2 * MAY_MIB + 30);
	expect_no_turns();
}

/* ---- swap ------------------------------------------------------------------------- */

static void expect_never_frozen(const char *name)
{
	struct mts_job_info job = job_named(name);

	check(job.state == MTS_JOB_NO_SWAP && job.bin == MTS_BIN_EVERY, "%s: state %s, bin %d: %s",
	      name, job_state_name(job.state), (int)job.bin, describe());
	check(!job.frozen_longest_ns && !job.frozen_since_ns, "%s was frozen: %s", name,
	      describe());
	check(get_status().resident_demand >= job.demand, "its %llu MiB are not taken off: %s",
	      job.demand / MIB, describe());
}

/* Kubernetes' default. */
static void without_swap_a_job_takes_no_turns(void)
{
	start_hogs(HOG_RANDOM, 3, three_equal);
	expect(cg_write(hogs[0].cgroup, "memory.swap.max", "0"), 0);
	rotate(60, 500, MTS_EVICT_FULL);
	expect_rotation(2);
	wait_rounds(2);
	expect_never_frozen("a");
	/* With swap again, it does. */
	expect(cg_write(hogs[0].cgroup, "memory.swap.max", "max"), 0);
	wait_rounds(2);
	check(job_named("a").slices > 0, "%s", describe());
}

static void without_swap_above_a_job_takes_no_turns(void)
{
	static const unsigned int sizes[] = { 24, 24 };
	struct hog above;

	start_hogs(HOG_RANDOM, 2, sizes);
	cg_make("t-above");
	expect(cg_write("t-above", "cgroup.subtree_control", "+memory"), 0);
	expect(cg_write("t-above", "memory.swap.max", "0"), 0);
	cg_make("t-above/pod");
	hog_start(&above, &(struct hog_spec){ .cgroup = "t-above/pod", .mib = 24 });
	add_job("t-above/pod", 0);
	rotate(60, 500, MTS_EVICT_FULL);
	expect_rotation(2);
	wait_rounds(2);
	expect_never_frozen("pod");
}

/* Half of it goes: the other half is in every bin. */
static void a_limit_of_swap_keeps_the_rest(void)
{
	struct mts_job_info job;
	u64 rest;

	start_hogs(HOG_RANDOM, 3, three_equal);
	limit(hogs[0].cgroup, "memory.swap.max", 12);
	rotate(60, 500, MTS_EVICT_FULL);
	expect_rotation(2);
	wait_rounds(2);
	job = job_named("a");
	check(job.slices && job.frozen_longest_ns, "it takes no turns: %s", describe());
	rest = job.immovable / MIB;
	check(rest >= 11 && rest <= 15, "%llu MiB cannot be moved: %s", (unsigned long long)rest,
	      describe());
	check(get_status().resident_demand / MIB >= rest, "they are not taken off: %s", describe());
}

GUEST_TESTS(TEST_WITHIN(without_swap_a_job_takes_no_turns, 120),
	    TEST_SLOW(without_swap_above_a_job_takes_no_turns, 120),
	    TEST_WITHIN(a_limit_of_swap_keeps_the_rest, 120),
	    TEST_WITHIN(limits_of_their_own_are_no_shortage, 180),
	    TEST_SLOW(a_limit_above_is_no_shortage, 180),
	    TEST_SLOW(a_limit_of_the_base_is_no_shortage, 180));

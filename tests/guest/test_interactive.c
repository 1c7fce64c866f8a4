// SPDX-License-Identifier: GPL-2.0
/* Jobs that a person uses: found by input, thawed at once, in every bin while they are used. */
#include <stdatomic.h>
#include <sys/mman.h>
#include <termios.h>

#include "guest.h"

/*
 * From the key to the thaw. The guest shares its host with others, who can take the time
 * away from it at any moment: of several tries the one in the middle counts.
 */
#define LIMIT_MS 50

enum manners {
	READS, /* reads its terminal, and writes what it has read */
	WRITES, /* writes all the time, reads nothing */
	IGNORES, /* neither */
};

/* In memory that parent and child share. */
struct seen {
	_Atomic int error;
	_Atomic bool ready;
	_Atomic u64 bytes; /* that it has read */
	_Atomic u32 id;
};

/* A job with a process whose terminal it is. */
struct shell {
	pid_t pid;
	u32 id;
	int master;
	char name[MTS_NAME_SIZE];
	struct seen *seen;
};

static struct seen *share(void)
{
	struct seen *seen = mmap(NULL, sizeof(*seen), PROT_READ | PROT_WRITE,
				 MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	check(seen != MAP_FAILED, "mmap: %m");
	return seen;
}

static int open_terminal(char *slave, size_t size)
{
	struct termios raw;
	int master = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC);

	check(master >= 0, "/dev/ptmx: %m");
	check(!grantpt(master) && !unlockpt(master), "unlockpt: %m");
	check(!ptsname_r(master, slave, size), "ptsname: %m");
	check(!tcgetattr(master, &raw), "tcgetattr: %m");
	cfmakeraw(&raw);
	check(!tcsetattr(master, TCSANOW, &raw), "tcsetattr: %m");
	fcntl(master, F_SETFL, O_NONBLOCK);
	return master;
}

static void touch(unsigned int mib)
{
	volatile char *memory =
		mmap(NULL, mib * MIB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	size_t at;

	if (memory == MAP_FAILED)
		_exit(3);
	for (at = 0; at < mib * MIB; at += PAGE)
		memory[at] = 1;
}

static void use_terminal(int terminal, enum manners manners, struct seen *seen)
{
	static const char line[] = "one more line of a long story\r\n";
	char c;

	for (;;) {
		switch (manners) {
		case READS:
			if (read(terminal, &c, 1) != 1)
				_exit(0);
			seen->bytes++;
			if (write(terminal, &c, 1) != 1)
				_exit(0);
			break;
		case WRITES:
			if (write(terminal, line, sizeof(line) - 1) < 0)
				_exit(0);
			usleep(2000);
			break;
		case IGNORES:
			pause();
		}
	}
}

static void enter(struct shell *shell)
{
	struct mts_job_create create;

	shell->seen->error = try_create(shell->name, MTS_JOB_ENTER, &create);
	if (shell->seen->error)
		_exit(1);
	shell->seen->id = create.id;
	mts_close();
}

static void shell_main(struct shell *shell, const char *slave, unsigned int mib,
		       enum manners manners)
{
	int terminal;

	setsid();
	terminal = open(slave, O_RDWR); /* which is its own from now on */
	if (terminal < 0)
		_exit(2);
	enter(shell);
	touch(mib);
	shell->seen->ready = true;
	use_terminal(terminal, manners, shell->seen);
}

static void shell_is_ready(struct shell *shell)
{
	expect_within(20000, shell->seen->ready || shell->seen->error, "%s is not ready: %s",
		      shell->name, describe());
	check(!shell->seen->error, "%s: %s", shell->name, strerror(-shell->seen->error));
	shell->id = shell->seen->id;
}

static void shell_start(struct shell *shell, const char *name, unsigned int mib,
			enum manners manners)
{
	char slave[64];

	snprintf(shell->name, sizeof(shell->name), "%s", name);
	shell->seen = share();
	shell->master = open_terminal(slave, sizeof(slave));
	shell->pid = spawn();
	if (!shell->pid) {
		shell_main(shell, slave, mib, manners);
		_exit(0);
	}
	shell_is_ready(shell);
}

/* What it has written goes nowhere: a person looks at it. */
static void look_at(struct shell *shell)
{
	char text[4096];

	while (read(shell->master, text, sizeof(text)) > 0)
		;
}

static void type(struct shell *shell)
{
	look_at(shell);
	check(write(shell->master, "x", 1) == 1, "typing at %s: %m", shell->name);
}

static bool is_frozen(const struct shell *shell)
{
	return job_named(shell->name).state == MTS_JOB_FROZEN;
}

static bool is_interactive(const struct shell *shell)
{
	return job_named(shell->name).state == MTS_JOB_INTERACTIVE;
}

/* Type, and wait until it runs. Return: ms. */
static double type_until_thawed(struct shell *shell)
{
	u64 began = now_ns(), end = began + 5000 * NS_PER_MS, now;

	type(shell);
	while (cg_freeze_asked(cg_job(shell->name))) {
		now = now_ns();
		check(now < end, "%s is not thawed: %s", shell->name, describe());
		if (now > began + 20 * NS_PER_MS)
			sleep_ms(1);
	}
	return (double)(now_ns() - began) / NS_PER_MS;
}

static void expect_read(struct shell *shell, u64 bytes, unsigned int ms)
{
	if (!wait_until(shell->seen->bytes >= bytes, ms))
		fail("%s has read %llu bytes, not %llu, in %u ms: %s", shell->name,
		     (unsigned long long)shell->seen->bytes, (unsigned long long)bytes, ms,
		     describe());
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void expect_quick(double *ms, unsigned int n)
{
	unsigned int i;

	qsort(ms, n, sizeof(*ms), compare);
	for (i = 0; i < n; i++)
		note("thawed after %.2f ms", ms[i]);
	check(ms[n / 2] < LIMIT_MS, "%.1f ms in the middle of %u", ms[n / 2], n);
}

/* ---- at once -------------------------------------------------------------------------- */

#define SHELLS 5

static struct shell shells[SHELLS];

static void start_shells(unsigned int n, unsigned int mib, enum manners manners)
{
	char name[] = "shell0";
	unsigned int i;

	for (i = 0; i < n; i++, name[5]++)
		shell_start(&shells[i], name, mib, manners);
}

/* The shells have no place beside the first, which runs first. */
static void start_hogs_beside_shells(void)
{
	static const unsigned int mib[] = { 31, 24, 24 };

	start_hogs(HOG_RANDOM, ARRAY_SIZE(mib), mib);
}

static void input_thaws_at_once(void)
{
	struct mts_stats before;
	double ms[SHELLS];
	unsigned int i, n = 0;
	u64 wait;

	start_hogs_beside_shells();
	start_shells(SHELLS, 1, READS);
	/* Of 32 MiB a quarter is for them; the slices are long. */
	rotate(32, 20000, MTS_EVICT_OFF);
	expect_within(5000, get_status().frozen >= 2, "%s", describe());
	before = get_stats();
	for (i = 0; i < SHELLS; i++) {
		if (!wait_until(is_frozen(&shells[i]), 500))
			continue; /* it is in the bin that runs */
		ms[n++] = type_until_thawed(&shells[i]);
		expect_read(&shells[i], 1, 1000);
		check(is_interactive(&shells[i]), "%s", describe());
		expect_within(1000, job_named(shells[i].name).bin == MTS_BIN_EVERY, "%s",
			      describe());
	}
	check(n >= 2, "only %u of them were frozen: %s", n, describe());
	expect_quick(ms, n);
	check(get_stats().interactive_thaws - before.interactive_thaws == n, "%s", describe());
	wait = (get_stats().interactive_wait_ns - before.interactive_wait_ns) / n;
	note("%llu us on average, by the module's own clock", (unsigned long long)wait / 1000);
	check(wait < LIMIT_MS * NS_PER_MS, "%llu ns", (unsigned long long)wait);
	check(get_status().interactive == n, "%u: %s", get_status().interactive, describe());
	for (i = 0; i < 3; i++)
		check(job_named(hogs[i].name).state != MTS_JOB_INTERACTIVE, "%s", describe());
}

static void it_is_in_every_bin_while_it_is_used(void)
{
	struct shell *shell = &shells[0];
	u64 end, frozen, bytes, began;
	double worst = 0, sum = 0;
	unsigned int n = 0;

	start_hogs(HOG_RANDOM, 3, three_equal);
	start_shells(1, 1, READS);
	rotate(32, 300, MTS_EVICT_FULL);
	expect_within(10000, is_frozen(shell), "%s", describe());
	type_until_thawed(shell);
	expect_within(1000, is_interactive(shell), "%s", describe());
	frozen = job_named(shell->name).frozen_total_ns;
	wait_rounds(1, 20000);
	for (end = now_ms() + 6000; now_ms() < end; sleep_ms(200)) {
		bytes = shell->seen->bytes;
		began = now_ns();
		type(shell);
		expect_read(shell, bytes + 1, 3000);
		sum += (double)(now_ns() - began) / NS_PER_MS;
		if ((double)(now_ns() - began) / NS_PER_MS > worst)
			worst = (double)(now_ns() - began) / NS_PER_MS;
		n++;
		check(!cg_freeze_asked(cg_job(shell->name)), "it was frozen: %s", describe());
	}
	note("%u keys, read after %.1f ms on average, %.1f at most", n, sum / n, worst);
	check(sum / n < LIMIT_MS, "%.1f ms", sum / n);
	check(job_named(shell->name).frozen_total_ns == frozen, "%s", describe());
	check(get_status().resident_demand >= MIB, "its memory is not taken off the capacity: %s",
	      describe());
}

static void when_it_is_left_alone_it_takes_turns_again(void)
{
	struct shell *shell = &shells[0];
	u64 began, ms;

	start_hogs(HOG_RANDOM, 3, three_equal);
	start_shells(1, 1, READS);
	rotate(32, 300, MTS_EVICT_OFF);
	expect_within(10000, is_frozen(shell), "%s", describe());
	type_until_thawed(shell);
	began = now_ms();
	expect_within(30000, is_frozen(shell), "%s", describe());
	ms = now_ms() - began;
	note("frozen again after %llu ms", (unsigned long long)ms);
	check(ms >= 9900, "after %llu ms already", (unsigned long long)ms);
	check(ms < 20000, "after %llu ms", (unsigned long long)ms);
	/* And thawed once more. */
	type_until_thawed(shell);
	expect_within(1000, is_interactive(shell), "%s", describe());
}

static void switched_off_it_takes_turns_as_all_do(void)
{
	struct shell *shell = &shells[0];
	struct mts_stats before;
	u64 end;

	start_hogs(HOG_RANDOM, 3, three_equal);
	start_shells(1, 1, READS);
	rotate(32, 1500, MTS_EVICT_OFF);
	set_config(&(struct mts_config){ .mask = MTS_CONFIG_INTERACTIVE, .interactive = 0 });
	wait_rounds(1, 20000);
	expect_within(10000, is_frozen(shell), "%s", describe());
	before = get_stats();
	type(shell);
	for (end = now_ms() + 500; now_ms() < end; sleep_ms(5))
		check(!is_interactive(shell), "%s", describe());
	check(get_stats().interactive_thaws == before.interactive_thaws, "%s", describe());
	check(!get_status().interactive, "%s", describe());
}

/* Whatever the rotor is doing to it, or to others. */
static void typing_in_the_middle_of_a_switch(void)
{
	static const char *const phase[] = { "evicting", "bringing back", "freezing", "later",
					     "evicting" };
	double ms[SHELLS];
	unsigned int i, at;
	u64 end;

	swap_use(&(struct swap_disk){ .mib = 256, .request_us = 3000 });
	start_hogs(HOG_RANDOM, 3, three_equal);
	start_shells(SHELLS, 1, READS);
	rotate(32, 1000, MTS_EVICT_FULL);
	wait_rounds(1, 60000);
	for (i = 0; i < SHELLS; i++) {
		struct shell *shell = &shells[i];

		for (end = now_ms() + 30000;; sleep_ms(1)) {
			check(now_ms() < end, "no switch: %s", describe());
			if (get_status().state != MTS_STATE_SWITCHING ||
			    !cg_freeze_asked(cg_job(shell->name)))
				continue;
			if (i != 1 || is_bringing_back())
				break;
		}
		/* Into the eviction, with luck. */
		for (at = 0; at < i * 20; at += 5)
			sleep_ms(5);
		if (!cg_freeze_asked(cg_job(shell->name))) {
			ms[i] = 0;
			continue;
		}
		ms[i] = type_until_thawed(shell);
		note("%s: %s, %.1f ms", phase[i], state_name(get_status().state), ms[i]);
		for (end = now_ms() + 1500; now_ms() < end; sleep_ms(10))
			check(!cg_freeze_asked(cg_job(shell->name)), "frozen again: %s",
			      describe());
		expect_read(shell, 1, 5000);
	}
	expect_quick(ms, SHELLS);
	/* The others take turns as ever. */
	wait_rounds(1, 60000);
	for (i = 0; i < 3; i++)
		hog_expect_progress(&hogs[i], 60000);
}

/* ---- who is not ----------------------------------------------------------------------- */

static void output_alone_is_no_input(void)
{
	struct shell *shell = &shells[0];
	struct mts_stats before;
	u64 end;

	start_hogs(HOG_RANDOM, 3, three_equal);
	start_shells(1, 1, WRITES);
	before = get_stats();
	rotate(32, 300, MTS_EVICT_OFF);
	for (end = now_ms() + 6000; now_ms() < end; sleep_ms(10)) {
		look_at(shell);
		check(!is_interactive(shell), "%s", describe());
	}
	check(get_stats().inputs == before.inputs, "%llu inputs",
	      (unsigned long long)(get_stats().inputs - before.inputs));
	check(job_named(shell->name).frozen_longest_ns, "never frozen: %s", describe());
	check(job_named(shell->name).input_age_ms == MTS_INPUT_AGE_MAX, "%s", describe());
}

static pid_t background;

/* The terminal is its parent's, which is in no job; it is in a group in the background. */
static void start_in_the_background(struct shell *shell)
{
	char slave[64];
	int terminal;

	snprintf(shell->name, sizeof(shell->name), "background");
	shell->seen = share();
	shell->master = open_terminal(slave, sizeof(slave));
	background = spawn();
	if (!background) {
		setsid();
		terminal = open(slave, O_RDWR);
		if (!fork()) {
			setpgid(0, 0);
			enter(shell);
			touch(1);
			shell->seen->ready = true;
			use_terminal(terminal, IGNORES, shell->seen);
		}
		mts_close();
		use_terminal(terminal, READS, shell->seen);
	}
	shell_is_ready(shell);
}

static void the_background_gets_no_credit(void)
{
	struct shell *shell = &shells[0];
	u64 end;

	start_hogs(HOG_RANDOM, 3, three_equal);
	start_in_the_background(shell);
	rotate(32, 300, MTS_EVICT_OFF);
	for (end = now_ms() + 4000; now_ms() < end; sleep_ms(100)) {
		type(shell);
		check(!is_interactive(shell), "%s", describe());
	}
	check(shell->seen->bytes > 10, "nothing was typed");
	check(job_named(shell->name).frozen_longest_ns, "never frozen: %s", describe());
}

/* ---- the cap -------------------------------------------------------------------------- */

static void beyond_the_cap_who_was_used_last_stays(void)
{
	struct shell *first = &shells[0], *second = &shells[1];

	start_hogs(HOG_RANDOM, 3, three_equal);
	/* 8 MiB of 32 are for them. */
	start_shells(2, 5, READS);
	rotate(32, 300, MTS_EVICT_OFF);
	expect_within(10000, is_frozen(first), "%s", describe());
	type_until_thawed(first);
	wait_rounds(1, 20000);
	check(is_interactive(first), "%s", describe());
	check(!get_status().crowded_out, "%s", describe());
	type(second);
	expect_within(5000, get_status().crowded_out == 1, "%s", describe());
	expect_within(5000, is_frozen(first), "%s", describe());
	check(is_interactive(second), "%s", describe());
	/* Now the other way round. */
	expect_within(5000, is_frozen(first), "%s", describe());
	type_until_thawed(first);
	expect_within(5000, is_frozen(second), "%s", describe());
	check(is_interactive(first), "%s", describe());
}

static void who_is_larger_than_the_cap_takes_turns(void)
{
	struct shell *shell = &shells[0];

	start_hogs(HOG_RANDOM, 3, three_equal);
	start_shells(1, 12, READS);
	rotate(32, 300, MTS_EVICT_OFF);
	expect_within(10000, is_frozen(shell), "%s", describe());
	type_until_thawed(shell);
	expect_read(shell, 1, 3000);
	expect_within(5000, get_status().crowded_out == 1, "%s", describe());
	expect_within(5000, is_frozen(shell), "%s", describe());
	type_until_thawed(shell);
	expect_read(shell, 2, 3000);
}

/* ---- real-time -------------------------------------------------------------------------- */

static void set_policy(pid_t pid, int policy)
{
	struct sched_param parameter = { .sched_priority = policy == SCHED_OTHER ? 0 : 1 };

	check(!sched_setscheduler(pid, policy, &parameter), "sched_setscheduler: %m");
}

/* Not at the next switch, which is 20 s away. */
static void real_time_thaws_at_once(void)
{
	double ms[2];
	unsigned int i, n;

	start_hogs(HOG_SLEEP, 3, three_equal);
	rotate(32, 20000, MTS_EVICT_OFF);
	/* Sleepers give their slices up, for longer and longer. */
	expect_within(5000, get_status().frozen == 2, "%s", describe());
	for (n = 0; n < 2; n++) {
		struct hog *hog = frozen_hog();
		u64 began = now_ns();

		set_policy(hog->pid, n ? SCHED_RR : SCHED_FIFO);
		while (cg_freeze_asked(hog->cgroup))
			check(now_ns() < began + 5000 * NS_PER_MS, "%s", describe());
		ms[n] = (double)(now_ns() - began) / NS_PER_MS;
		expect_within(1000, job_named(hog->name).state == MTS_JOB_REALTIME, "%s",
			      describe());
		set_policy(hog->pid, SCHED_OTHER);
		set_config(&(struct mts_config){ .mask = MTS_CONFIG_SLICE,
						 .slice_ns = 300 * NS_PER_MS });
		expect_within(10000, job_named(hog->name).state == MTS_JOB_FROZEN, "%s",
			      describe());
		set_config(&(struct mts_config){ .mask = MTS_CONFIG_SLICE,
						 .slice_ns = 20000 * NS_PER_MS });
		expect_within(5000, get_status().frozen == 2, "%s", describe());
	}
	for (i = 0; i < n; i++)
		note("thawed after %.2f ms", ms[i]);
	check(ms[0] < LIMIT_MS || ms[1] < LIMIT_MS, "%.1f and %.1f ms", ms[0], ms[1]);
}

/* ---- hooks ------------------------------------------------------------------------------ */

static void hooks_are_there_and_hit(void)
{
	const u32 all = MTS_SEES_TTY | MTS_SEES_TTY_OUTPUT | MTS_SEES_REALTIME;
	struct mts_stats before, after;
	u64 input;

	check((get_status().sees & all) == all, "sees %#x", get_status().sees);
	start_shells(1, 1, READS);
	before = get_stats();
	input = now_ns();
	type(&shells[0]);
	expect_read(&shells[0], 1, 1000);
	after = get_stats();
	check(after.inputs == before.inputs + 1, "%llu inputs",
	      (unsigned long long)(after.inputs - before.inputs));
	check(after.hook_misses == before.hook_misses, "it missed some");
	check(job_named("shell0").input_age_ms <= (now_ns() - input) / NS_PER_MS, "%u",
	      job_named("shell0").input_age_ms);
}

/* The answers prolong: half a unit each, while what was typed is not older than 500 ms. */
static void what_it_answers_prolongs(void)
{
	struct shell *shell = &shells[0];
	u64 began, end;

	start_hogs(HOG_RANDOM, 3, three_equal);
	start_shells(1, 1, WRITES);
	rotate(32, 300, MTS_EVICT_OFF);
	expect_within(10000, is_frozen(shell), "%s", describe());
	type_until_thawed(shell);
	began = now_ms();
	for (end = began + 13000; now_ms() < end; sleep_ms(10)) {
		look_at(shell);
		check(is_interactive(shell), "after %llu ms: %s",
		      (unsigned long long)(now_ms() - began), describe());
	}
	/* Not for ever, though it goes on writing. */
	for (end = began + 30000; is_interactive(shell); sleep_ms(10)) {
		look_at(shell);
		check(now_ms() < end, "%s", describe());
	}
	note("interactive for %llu ms", (unsigned long long)(now_ms() - began));
}

static void unloaded_while_somebody_types(void)
{
	struct shell *shell = &shells[0];
	unsigned int i;
	pid_t typist;
	u64 bytes;

	start_hogs(HOG_RANDOM, 3, three_equal);
	start_shells(1, 1, READS);
	typist = spawn();
	if (!typist) {
		mts_close();
		for (;;) {
			look_at(shell);
			if (write(shell->master, "x", 1) != 1)
				_exit(0);
			usleep(300);
		}
	}
	for (i = 0; i < 3; i++) {
		rotate(32, 200, MTS_EVICT_OFF);
		sleep_ms(700);
		mts_close();
		expect(module_unload(), 0);
		check(!cg_freeze_asked(cg_job(shell->name)), "it stands still");
		bytes = shell->seen->bytes;
		expect_within(2000, shell->seen->bytes > bytes, "it does not go on");
		expect(module_load(""), 0);
		mts_open();
		add_job(BASE "/shell0", 0);
		add_job(BASE "/a", 0);
		add_job(BASE "/b", 0);
		add_job(BASE "/c", 0);
	}
	kill_and_join(typist);
}

GUEST_TESTS(TEST(input_thaws_at_once), TEST(it_is_in_every_bin_while_it_is_used),
	    TEST(when_it_is_left_alone_it_takes_turns_again),
	    TEST(switched_off_it_takes_turns_as_all_do),
	    TEST_SLOW(typing_in_the_middle_of_a_switch, 120), TEST(output_alone_is_no_input),
	    TEST(the_background_gets_no_credit), TEST(beyond_the_cap_who_was_used_last_stays),
	    TEST(who_is_larger_than_the_cap_takes_turns), TEST(real_time_thaws_at_once),
	    TEST(hooks_are_there_and_hit), TEST(what_it_answers_prolongs),
	    TEST(unloaded_while_somebody_types));

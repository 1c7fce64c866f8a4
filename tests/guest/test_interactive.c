// SPDX-License-Identifier: GPL-2.0
/* Jobs that a person uses: found by input, thawed at once, in every bin while they are used. */
#include <linux/input.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <termios.h>

#include "guest.h"
#include "keyboard.h"

enum manners {
	READS, /* reads its terminal, and writes what it has read */
	WRITES, /* writes all the time, reads nothing */
	IGNORES, /* neither */
	ASKS, /* hands what it reads on to the first relay */
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
	const char *cgroup; /* an added one, instead of a job of its own */
	bool outside; /* in no job at all */
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

static struct sockaddr_un address_of(unsigned int relay)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };

	snprintf(address.sun_path + 1, sizeof(address.sun_path) - 1, "relay%u", relay);
	return address;
}

#define RELAYS 4

static bool by_pipes; /* not by sockets */
static int pipes[RELAYS][2]; /* each relay's, from who is before it */

static int connect_to(unsigned int relay)
{
	struct sockaddr_un address = address_of(relay);
	int fd;

	if (by_pipes)
		return pipes[relay][1];
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof(address)))
		_exit(4);
	return fd;
}

static void hand_on(int from, int to, struct seen *seen)
{
	char c;

	while (read(from, &c, 1) == 1) {
		seen->bytes++;
		if (to >= 0 && write(to, &c, 1) != 1)
			break;
	}
	_exit(0);
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
			break;
		case ASKS:
			hand_on(terminal, connect_to(0), seen);
		}
	}
}

static void enter(struct shell *shell)
{
	struct mts_job_create create = { .id = 0 };

	if (shell->outside)
		shell->seen->error = 0;
	else if (shell->cgroup)
		shell->seen->error = cg_write(shell->cgroup, "cgroup.procs", "0");
	else
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

static const char *cgroup_of(const struct shell *shell)
{
	return shell->cgroup ? shell->cgroup : cg_job(shell->name);
}

static void shell_is_ready(struct shell *shell)
{
	expect_within(20000, shell->seen->ready || shell->seen->error, "%s is not ready: %s",
		      shell->name, describe());
	check(!shell->seen->error, "%s: %s", shell->name, strerror(-shell->seen->error));
	/* 0: it is in no job. */
	shell->id = shell->cgroup ? add_job(shell->cgroup, 0) : shell->seen->id;
	if (shell->id)
		cg_hide_sleep(cgroup_of(shell));
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
	const struct mts_job_info job = job_named(shell->name);

	return waits_for_its_turn(&job);
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
	while (cg_freeze_asked(cgroup_of(shell))) {
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

/* ---- at once -------------------------------------------------------------------------- */

#define SHELLS 5

static struct shell shells[SHELLS];

static void start_shells(unsigned int n, unsigned int mib, enum manners manners)
{
	char name[] = "shell0";
	unsigned int i;

	for (i = 0; i < n; i++, name[5]++) {
		shells[i].cgroup = NULL;
		shell_start(&shells[i], name, mib, manners);
	}
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
	expect_soon(get_status().frozen >= 2, "%s", describe());
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
	check(wait < QUICK_MS * NS_PER_MS, "%llu ns", (unsigned long long)wait);
	check(get_status().interactive == n, "%u: %s", get_status().interactive, describe());
	for (i = 0; i < 3; i++)
		check(job_named(hogs[i].name).state != MTS_JOB_INTERACTIVE, "%s", describe());
}

/* That it sleeps can be seen. */
static void an_idle_shell_is_not_frozen(void)
{
	struct shell *shell = &shells[0];
	u64 frozen;

	start_hogs(HOG_RANDOM, 3, three_equal);
	start_shells(1, 1, READS);
	expect(cg_write(cgroup_of(shell), "cgroup.pressure", "1"), 0);
	/* Of which it has less than a 32nd. */
	rotate(64, 300, MTS_EVICT_OFF);
	expect_within(30000, job_named(shell->name).state == MTS_JOB_SLEEPING, "%s", describe());
	frozen = job_named(shell->name).frozen_total_ns;
	wait_rounds(3);
	check(job_named(shell->name).frozen_total_ns == frozen, "%s", describe());
	check(job_named(shell->name).state == MTS_JOB_SLEEPING, "%s", describe());
	type(shell);
	expect_read(shell, 1, 1000);
	expect_within(1000, is_interactive(shell), "%s", describe());
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
	expect_soon(is_frozen(shell), "%s", describe());
	type_until_thawed(shell);
	expect_within(1000, is_interactive(shell), "%s", describe());
	frozen = job_named(shell->name).frozen_total_ns;
	wait_rounds(1);
	for (end = now_ms() + 6000; now_ms() < end; sleep_ms(200)) {
		bytes = shell->seen->bytes;
		began = now_ns();
		type(shell);
		expect_read(shell, bytes + 1, 3000);
		sum += (double)(now_ns() - began) / NS_PER_MS;
		if ((double)(now_ns() - began) / NS_PER_MS > worst)
			worst = (double)(now_ns() - began) / NS_PER_MS;
		n++;
		check(!cg_freeze_asked(cgroup_of(shell)), "it was frozen: %s", describe());
	}
	note("%u keys, read after %.1f ms on average, %.1f at most", n, sum / n, worst);
	check(sum / n < QUICK_MS, "%.1f ms", sum / n);
	check(job_named(shell->name).frozen_total_ns == frozen, "%s", describe());
	check(get_status().resident_demand >= MIB, "its memory is not taken off the capacity: %s",
	      describe());
}

static char trace[4 * MIB];

#define LINE_SIZE 512

static bool next_line(const char **at, char *line)
{
	const char *end = strchr(*at, '\n');

	if (!end)
		return false;
	snprintf(line, LINE_SIZE, "%.*s", (int)(end - *at), *at);
	*at = end + 1;
	return true;
}

static bool is_of(const char *line, const struct shell *shell)
{
	const char *name = strstr(line, " name=");

	return name && !strcmp(name + strlen(" name="), shell->name);
}

/* The shell's events have these parts, in this order. */
static void expect_events(const struct shell *shell, unsigned int n, const char *const parts[])
{
	const char *at = trace;
	char line[LINE_SIZE];
	unsigned int next = 0;

	while (next < n && next_line(&at, line))
		next += is_of(line, shell) && strstr(line, parts[next]);
	check(next == n, "no%sin time for %s", parts[next], shell->name);
}

static void expect_nobody_is_interactive_but(const struct shell *shell)
{
	const char *at = trace;
	char line[LINE_SIZE];

	while (next_line(&at, line))
		check(!strstr(line, ": mts_interactive:") || is_of(line, shell),
		      "somebody else's: %s", line);
}

static long long bytes_of(const struct shell *shell)
{
	return cg_number(cgroup_of(shell), "memory.current");
}

static void when_it_is_left_alone_it_takes_turns_again(void)
{
	static const char *const parts[] = { " why=wanted ", " is=yes ", " is=stays " };
	struct shell *shell = &shells[0];
	u64 began, ms, thaws;

	start_hogs(HOG_RANDOM, 3, three_equal);
	start_shells(1, 5, READS);
	rotate(32, 300, MTS_EVICT_FULL);
	expect_soon(is_frozen(shell) && bytes_of(shell) < (long long)MIB, "%s", describe());
	check(!(job_named(shell->name).flags & MTS_JOB_STAYS), "%s", describe());
	thaws = get_stats().interactive_thaws;
	trace_begin();
	type_until_thawed(shell);
	thaws = get_stats().interactive_thaws - thaws;
	began = now_ms();
	expect_soon(is_frozen(shell), "%s", describe());
	ms = now_ms() - began;
	note("frozen again after %llu ms", (unsigned long long)ms);
	check(ms >= 9900, "after %llu ms already", (unsigned long long)ms);
	/* With the next plan: a round may just have begun, which others wait out. */
	check(ms < 10000 + job_named("a").frozen_longest_ns / NS_PER_MS + 5000, "after %llu ms: %s",
	      (unsigned long long)ms, describe());
	trace_end(trace, sizeof(trace));
	/* Thawed for its input, unless its turn had come that moment. */
	expect_events(shell, thaws ? 3 : 2, thaws ? parts : parts + 1);
	expect_nobody_is_interactive_but(shell);
	/* Its memory does not: people come back. */
	check(job_named(shell->name).flags & MTS_JOB_STAYS, "%s", describe());
	check(get_status().resident_demand >= 5 * MIB, "%s", describe());
	wait_rounds(2);
	expect_soon(is_frozen(shell), "%s", describe());
	check(bytes_of(shell) >= 5 * (long long)MIB, "evicted, but for %lld KiB: %s",
	      bytes_of(shell) >> 10, describe());
	/* And thawed once more. */
	type_until_thawed(shell);
	expect_within(1000, is_interactive(shell), "%s", describe());
}

/* For so long no switch brings anything. */
static bool is_in_a_slice_for(u64 ms)
{
	struct mts_status status = get_status();

	return status.state == MTS_STATE_RUNNING &&
	       status.slice_ends_ns > status.now_ns + ms * NS_PER_MS;
}

/* Pages in the first event of that, since trace_begin(); 0: there is none. */
static u64 brought_for_the_used(void)
{
	static const char back[] = " bin=-2 jobs=1 pages=";
	const char *at = trace;
	char line[LINE_SIZE];

	trace_so_far(trace, sizeof(trace));
	while (next_line(&at, line))
		if (strstr(line, ": mts_bring_back:") && strstr(line, back))
			return strtoull(strstr(line, back) + strlen(back), NULL, 10);
	return 0;
}

/* From a slow disk, not page by page, when it asks for them: this one asks for none. */
static void what_it_lacks_comes_at_once(void)
{
	static const unsigned int mib[] = { 12, 12, 12 };
	struct shell *shell = &shells[0];
	u64 pages;

	/* Slow beside the guest's processor, too: switches are to wait for it. */
	swap_use(&(struct swap_disk){ .mib = 256, .request_us = 12000 });
	start_hogs(HOG_RANDOM, 3, mib);
	start_shells(1, 5, READS);
	/* Until it is known what a switch takes. */
	rotate(18, 1000, MTS_EVICT_FULL);
	wait_rounds(1);
	set_config(&(struct mts_config){ .mask = MTS_CONFIG_SLICE, .slice_ns = 12000 * NS_PER_MS });
	/* A round of three bins, and the switches. */
	expect_within(120000,
		      is_in_a_slice_for(8000) && is_frozen(shell) &&
			      bytes_of(shell) < (long long)MIB,
		      "%s", describe());
	trace_begin();
	type_until_thawed(shell);
	expect_within(3000, bytes_of(shell) >= 5 * (long long)MIB, "%lld KiB: %s",
		      bytes_of(shell) >> 10, describe());
	check(get_status().state == MTS_STATE_RUNNING, "%s", describe());
	/* The event comes when the last page is there, and its process may be first to see that. */
	expect_within(1000, (pages = brought_for_the_used()), "nothing in one go: %s", describe());
	check(pages >= 4 * MIB / 4096, "%llu pages in one go", (unsigned long long)pages);
	trace_end(trace, sizeof(trace));
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
	wait_rounds(1);
	expect_soon(is_frozen(shell), "%s", describe());
	before = get_stats();
	type(shell);
	for (end = now_ms() + 500; now_ms() < end; sleep_ms(5))
		check(!is_interactive(shell), "%s", describe());
	check(get_stats().interactive_thaws == before.interactive_thaws, "%s", describe());
	check(!get_status().interactive, "%s", describe());
}

/* Shells beside jobs that are switched between for seconds. */
static void take_long_switches(unsigned int nshells)
{
	swap_use(&(struct swap_disk){ .mib = 256, .request_us = 3000 });
	start_hogs(HOG_RANDOM, 3, three_equal);
	start_shells(nshells, 1, READS);
	rotate(32, 1000, MTS_EVICT_FULL);
	wait_rounds(1);
}

static void wait_for_a_switch(const struct shell *shell, bool bringing_back)
{
	u64 end = now_ms() + 30000;

	for (;; sleep_ms(1)) {
		check(now_ms() < end, "no switch: %s", describe());
		if (get_status().state == MTS_STATE_SWITCHING &&
		    cg_freeze_asked(cgroup_of(shell)) && (!bringing_back || is_bringing_back()))
			return;
	}
}

/* So far into one; again if its own turn comes in that time. Return: it is frozen. */
static bool get_into_a_switch(const struct shell *shell, bool bringing_back, unsigned int ms)
{
	unsigned int tries;

	for (tries = 0; tries < 5; tries++) {
		wait_for_a_switch(shell, bringing_back);
		sleep_ms(ms);
		if (cg_freeze_asked(cgroup_of(shell)))
			return true;
	}
	return false;
}

static void expect_stays_thawed(const struct shell *shell, unsigned int ms)
{
	u64 end;

	for (end = now_ms() + ms; now_ms() < end; sleep_ms(10))
		check(!cg_freeze_asked(cgroup_of(shell)), "frozen again: %s", describe());
}

/* Whatever the rotor is doing to it, or to others. */
static void typing_in_the_middle_of_a_switch(void)
{
	static const char *const phase[] = { "evicting", "bringing back", "freezing", "later",
					     "evicting" };
	double ms[SHELLS];
	unsigned int i, n = 0;

	take_long_switches(SHELLS);
	for (i = 0; i < SHELLS; i++) {
		struct shell *shell = &shells[i];

		/* Into the eviction, with luck. */
		if (!get_into_a_switch(shell, i == 1, i * 20))
			continue;
		ms[n] = type_until_thawed(shell);
		note("%s: %s, %.1f ms", phase[i], state_name(get_status().state), ms[n++]);
		expect_stays_thawed(shell, 1500);
		expect_read(shell, 1, 5000);
	}
	check(n >= 3, "only %u were frozen when the key came", n);
	expect_quick(ms, n);
	/* The others take turns as ever. */
	wait_rounds(1);
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
	static const char *const is[] = { " is=yes ", " is=crowded-out ", " is=yes " };
	struct shell *first = &shells[0], *second = &shells[1];

	start_hogs(HOG_RANDOM, 3, three_equal);
	/* 8 MiB of 32 are for them. */
	start_shells(2, 5, READS);
	rotate(32, 300, MTS_EVICT_OFF);
	expect_soon(is_frozen(first), "%s", describe());
	trace_begin();
	type_until_thawed(first);
	wait_rounds(1);
	check(is_interactive(first), "%s", describe());
	check(!get_status().crowded_out, "%s", describe());
	type(second);
	expect_soon(get_status().crowded_out == 1, "%s", describe());
	expect_soon(is_frozen(first), "%s", describe());
	check(is_interactive(second), "%s", describe());
	/* Now the other way round. */
	expect_soon(is_frozen(first), "%s", describe());
	type_until_thawed(first);
	expect_soon(is_frozen(second), "%s", describe());
	check(is_interactive(first), "%s", describe());
	trace_end(trace, sizeof(trace));
	expect_events(first, 3, is);
	expect_events(second, 2, is);
}

static void who_is_larger_than_the_cap_takes_turns(void)
{
	struct shell *shell = &shells[0];

	start_hogs(HOG_RANDOM, 3, three_equal);
	start_shells(1, 12, READS);
	rotate(32, 300, MTS_EVICT_OFF);
	expect_soon(is_frozen(shell), "%s", describe());
	type_until_thawed(shell);
	expect_read(shell, 1, 3000);
	expect_soon(get_status().crowded_out == 1, "%s", describe());
	expect_soon(is_frozen(shell), "%s", describe());
	type_until_thawed(shell);
	expect_read(shell, 2, 3000);
}

/* ---- steps ------------------------------------------------------------------------------ */

static struct shell relays[RELAYS];

/* Who listens on a socket is who is asked; or who reads a pipe. */
static void relay_main(struct shell *relay, unsigned int number, bool is_last, bool in_job)
{
	struct sockaddr_un address = address_of(number);
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (in_job)
		enter(relay);
	else
		mts_close();
	if (bind(fd, (struct sockaddr *)&address, sizeof(address)) || listen(fd, 1))
		_exit(5);
	if (by_pipes)
		close(pipes[number][1]);
	relay->seen->ready = true;
	hand_on(by_pipes ? pipes[number][0] : accept(fd, NULL, NULL),
		is_last ? -1 : connect_to(number + 1), relay->seen);
}

/* Each hands on to the next; the last one first, as the others connect to it. */
static void start_relays(bool pipes_between, unsigned int n, u32 in_jobs)
{
	unsigned int i;

	by_pipes = pipes_between;
	for (i = n; i--;) {
		struct shell *relay = &relays[i];

		relay->cgroup = NULL;
		snprintf(relay->name, sizeof(relay->name), "relay%u", i);
		relay->seen = share();
		if (by_pipes)
			check(!pipe(pipes[i]), "pipe: %m");
		relay->pid = spawn();
		if (!relay->pid) {
			relay_main(relay, i, i == n - 1, in_jobs >> i & 1);
			_exit(0);
		}
		shell_is_ready(relay);
		/* Each end is to have one owner. */
		if (by_pipes)
			close(pipes[i][0]);
		if (by_pipes && i < n - 1)
			close(pipes[i + 1][1]);
	}
}

static void type_for(struct shell *shell, unsigned int ms, unsigned int every)
{
	u64 end;

	for (end = now_ms() + ms; now_ms() < end; sleep_ms(every))
		type(shell);
}

/* Who asks by a pipe was the last to need its end for writing. */
static void start_asker(void)
{
	start_shells(1, 1, ASKS);
	if (by_pipes)
		close(pipes[0][1]);
}

static void whom_it_asks_is_used(bool pipes_between)
{
	struct mts_stats before;
	struct shell *shell = &shells[0];
	u64 end;

	start_hogs(HOG_RANDOM, 3, three_equal);
	start_relays(pipes_between, 1, 1);
	start_asker();
	rotate(32, 300, MTS_EVICT_OFF);
	wait_rounds(1);
	before = get_stats();
	check(!is_interactive(&relays[0]), "%s", describe());
	type_for(shell, 2000, 200);
	expect_within(1000, is_interactive(&relays[0]), "%s", describe());
	check(get_stats().inputs > before.inputs + 10, "%s", describe());
	check(relays[0].seen->bytes >= 5, "%llu bytes arrived",
	      (unsigned long long)relays[0].seen->bytes);
	for (end = now_ms() + 3000; now_ms() < end; sleep_ms(10))
		check(!cg_freeze_asked(cgroup_of(&relays[0])), "%s", describe());
	expect_soon(is_frozen(&relays[0]), "%s", describe());
}

static void whom_it_asks_is_used_as_well(void)
{
	whom_it_asks_is_used(false);
}

static void whom_it_asks_by_a_pipe_is_used_as_well(void)
{
	whom_it_asks_is_used(true);
}

/* A job that could read the first relay's pipe as well, and does not. */
static void start_rival(struct shell *rival)
{
	char path[64];

	rival->seen = share();
	rival->pid = spawn();
	if (!rival->pid) {
		enter(rival);
		snprintf(path, sizeof(path), "/proc/%d/fd/%d", relays[0].pid, pipes[0][0]);
		if (open(path, O_RDONLY | O_CLOEXEC) < 0)
			_exit(6);
		rival->seen->ready = true;
		pause();
	}
	shell_is_ready(rival);
}

/* Workers with one queue, make's job server: it is not known who is asked. */
static void of_several_readers_of_a_pipe_none_is_used(void)
{
	struct shell rival = { .name = "rival" };

	start_relays(true, 1, 1);
	start_asker();
	start_rival(&rival);
	type_for(&shells[0], 2000, 110);
	check(relays[0].seen->bytes > 5, "%llu bytes arrived",
	      (unsigned long long)relays[0].seen->bytes);
	check(job_named("relay0").input_age_ms == MTS_INPUT_AGE_MAX &&
		      job_named("rival").input_age_ms == MTS_INPUT_AGE_MAX,
	      "%s", describe());
	/* As soon as there is one only, it is. */
	kill_and_join(rival.pid);
	type_for(&shells[0], 2000, 110);
	check(is_interactive(&relays[0]), "%s", describe());
}

static void credit_goes_three_steps(bool pipes_between)
{
	unsigned int i;

	start_relays(pipes_between, 4, 0xf);
	start_asker();
	type_for(&shells[0], 6000, 110);
	check(relays[3].seen->bytes > 20, "%llu bytes arrived",
	      (unsigned long long)relays[3].seen->bytes);
	for (i = 0; i < 3; i++)
		check(is_interactive(&relays[i]), "step %u: %s", i + 1, describe());
	check(!is_interactive(&relays[3]), "the fourth: %s", describe());
	check(job_named("relay3").input_age_ms == MTS_INPUT_AGE_MAX, "the fourth has got some");
}

static void credit_goes_three_steps_and_no_further(void)
{
	credit_goes_three_steps(false);
}

static void credit_goes_three_pipes_and_no_further(void)
{
	credit_goes_three_steps(true);
}

/* Through an X server, say, which nobody enrols. */
static void through_a_program_that_is_no_job(void)
{
	start_relays(false, 2, 2);
	start_shells(1, 1, ASKS);
	type_for(&shells[0], 4000, 110);
	check(is_interactive(&relays[1]), "%s", describe());
}

/* What is asked for without a person is none of it. */
static void who_asks_without_input_hands_on_nothing(void)
{
	struct shell asker = { .name = "asker", .seen = share() };
	unsigned int i;

	start_relays(false, 1, 1);
	start_shells(1, 1, READS);
	type(&shells[0]); /* so that sockets are looked at */
	expect_read(&shells[0], 1, 2000);
	sleep_ms(700);
	asker.pid = spawn();
	if (!asker.pid) {
		int fd;

		enter(&asker);
		fd = connect_to(0);
		for (i = 0; i < 50 && write(fd, "x", 1) == 1; i++)
			usleep(20000);
		pause();
	}
	for (i = 0; i < 10; i++) {
		type(&shells[0]);
		sleep_ms(150);
	}
	expect_within(5000, relays[0].seen->bytes == 50, "%llu bytes arrived",
		      (unsigned long long)relays[0].seen->bytes);
	check(!is_interactive(&relays[0]), "%s", describe());
	check(job_named("relay0").input_age_ms == MTS_INPUT_AGE_MAX, "it has got some");
}

/* ---- keyboards without a terminal ----------------------------------------------------------- */

static const char keyboard_name[] = "mts test keyboard";

static int open_keyboard(void)
{
	char path[64];

	return keyboard_path(keyboard_name, path, sizeof(path)) ? open(path, O_RDONLY | O_CLOEXEC) :
								  -1;
}

static void start_compositor(struct shell *shell)
{
	struct input_event event;
	int fd;

	shell->cgroup = NULL;
	snprintf(shell->name, sizeof(shell->name), "compositor");
	shell->seen = share();
	shell->pid = spawn();
	if (!shell->pid) {
		enter(shell);
		fd = open_keyboard();
		if (fd < 0)
			_exit(6);
		shell->seen->ready = true;
		while (read(fd, &event, sizeof(event)) == sizeof(event))
			shell->seen->bytes += event.type == EV_KEY;
		_exit(0);
	}
	shell_is_ready(shell);
}

static void expect_thawed_by_key(struct shell *shell, int keyboard)
{
	u64 began;

	expect_soon(is_frozen(shell), "%s", describe());
	began = now_ns();
	keyboard_press(keyboard);
	expect_within(1000, !cg_freeze_asked(cgroup_of(shell)), "%s", describe());
	note("thawed after %.2f ms", (double)(now_ns() - began) / NS_PER_MS);
	expect_within(1000, is_interactive(shell), "%s", describe());
}

static void who_reads_the_keyboard_is_used(void)
{
	struct shell *shell = &shells[0];
	int keyboard = keyboard_make(keyboard_name);
	u64 end;

	expect_within(2000, get_status().sees & MTS_SEES_EVDEV, "sees %#x", get_status().sees);
	start_hogs(HOG_RANDOM, 3, three_equal);
	start_compositor(shell);
	/* It has read, and waits in another read. */
	keyboard_press(keyboard);
	expect_read(shell, 2, 2000);
	keyboard_press(keyboard);
	expect_read(shell, 4, 2000);
	rotate(32, 300, MTS_EVICT_OFF);
	expect_thawed_by_key(shell, keyboard);
	expect_read(shell, 6, 2000);
	for (end = now_ms() + 3000; now_ms() < end; sleep_ms(10))
		check(!cg_freeze_asked(cgroup_of(shell)), "%s", describe());
	close(keyboard);
}

/* So long after the last key sockets are looked at. */
#define LOOKED_AT_MS 16000

/* In no job; tells a program of each key. */
static void start_display_server(struct shell *server)
{
	struct input_event event;
	int keyboard, client;

	snprintf(server->name, sizeof(server->name), "display");
	server->seen = share();
	server->pid = spawn();
	if (!server->pid) {
		enter(server);
		keyboard = open_keyboard();
		client = connect_to(0);
		if (keyboard < 0 || client < 0)
			_exit(6);
		server->seen->ready = true;
		while (read(keyboard, &event, sizeof(event)) == sizeof(event))
			if (event.type == EV_KEY && event.value && write(client, "x", 1) != 1)
				_exit(7);
		_exit(0);
	}
	shell_is_ready(server);
}

/*
 * The first key after a pause is enough, though sockets are only looked at from then on, and
 * the server may have told its client before.
 */
static void whom_a_display_server_tells_is_used(void)
{
	int keyboard = keyboard_make(keyboard_name);
	struct shell *client = &relays[0], server = { .outside = true };
	u64 before;

	expect_within(2000, get_status().sees & MTS_SEES_EVDEV, "sees %#x", get_status().sees);
	start_hogs(HOG_RANDOM, 3, three_equal);
	start_relays(false, 1, 1);
	start_display_server(&server);
	/* It has read, and waits in another read. */
	keyboard_press(keyboard);
	expect_within(2000, client->seen->bytes == 1, "%s", describe());
	rotate(32, 20000, MTS_EVICT_OFF);
	sleep_ms(LOOKED_AT_MS);
	expect_within(60000, is_frozen(client), "%s", describe());
	before = get_stats().interactive_thaws;
	keyboard_press(keyboard);
	expect_within(500, get_stats().interactive_thaws > before, "%s", describe());
	expect_within(1000, client->seen->bytes == 2, "%s", describe());
	check(is_interactive(client), "%s", describe());
	close(keyboard);
}

static int load(const char *name)
{
	char path[64];
	int fd, error;

	snprintf(path, sizeof(path), "/lab/modules/%s.ko", name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	error = syscall(SYS_finit_module, fd, "", 0) ? -errno : 0;
	close(fd);
	return error;
}

/* As a plugged keyboard does it: mts was there first. */
static void evdev_may_come_and_go(void)
{
	unsigned int i;

	for (i = 0; i < 2; i++) {
		if (syscall(SYS_delete_module, "evdev", O_NONBLOCK))
			guest_skip("evdev cannot be unloaded: %s", strerror(errno));
		expect_within(2000, !(get_status().sees & MTS_SEES_EVDEV), "still seen");
		expect(load("evdev"), 0);
		expect_within(2000, get_status().sees & MTS_SEES_EVDEV, "not seen again");
	}
	who_reads_the_keyboard_is_used();
}

/* ---- what its cgroup is given ------------------------------------------------------------ */

#define LOW "4194304"
#define WEIGHT "250"

/* An added cgroup with settings of its own. */
static void start_with_settings(struct shell *shell)
{
	cg_make("t-used");
	expect(cg_write("t-used", "memory.low", LOW), 0);
	expect(cg_write("t-used", "cpu.weight", WEIGHT), 0);
	shell->cgroup = "t-used";
	shell_start(shell, "t-used", 5, READS);
}

static bool has_own_settings(void)
{
	return cg_number("t-used", "memory.low") == atoll(LOW) &&
	       cg_number("t-used", "cpu.weight") == atoll(WEIGHT);
}

static bool is_favoured(long long weight)
{
	return cg_number("t-used", "memory.low") > atoll(LOW) &&
	       cg_number("t-used", "cpu.weight") == weight;
}

static void describe_settings(void)
{
	note("memory.low %lld, cpu.weight %lld, of the base %lld",
	     cg_number("t-used", "memory.low"), cg_number("t-used", "cpu.weight"),
	     cg_number(BASE, "memory.low"));
}

static void use_until_favoured(struct shell *shell)
{
	expect_soon(is_frozen(shell), "%s", describe());
	type_until_thawed(shell);
	/* Its weight is divided by the bins, of which there are three. */
	if (!wait_until(is_favoured(atoll(WEIGHT) / 3), 3000)) {
		describe_settings();
		fail("not as it should be: %s", describe());
	}
}

static void expect_own_settings(void)
{
	if (!wait_until(has_own_settings(), 3000)) {
		describe_settings();
		fail("they have not come back: %s", describe());
	}
}

static void its_settings_come_back(void)
{
	struct shell *shell = &shells[0];

	start_hogs(HOG_RANDOM, 3, three_equal);
	start_with_settings(shell);
	rotate(32, 300, MTS_EVICT_OFF);
	use_until_favoured(shell);
	/* When it is left alone; but its memory stays. */
	expect_soon(is_frozen(shell), "%s", describe());
	expect_within(3000, is_favoured(atoll(WEIGHT)), "%s", describe());
	/* Everything is stopped. */
	use_until_favoured(shell);
	expect(mts_ioctl(MTS_IOC_THAW, NULL), 0);
	expect_own_settings();
	/* It is removed. */
	set_mode(MTS_MODE_ALWAYS);
	if (!is_interactive(shell))
		use_until_favoured(shell);
	expect_within(3000, is_favoured(atoll(WEIGHT) / 3), "%s", describe());
	remove_job(shell->id);
	check(has_own_settings(), "not as soon as it has been removed");
	/* The module is unloaded. */
	shell->id = add_job("t-used", 0);
	use_until_favoured(shell);
	mts_close();
	expect(module_unload(), 0);
	check(has_own_settings(), "not as soon as the module has been unloaded");
}

static void what_somebody_sets_meanwhile_stays(void)
{
	struct shell *shell = &shells[0];

	start_hogs(HOG_RANDOM, 3, three_equal);
	start_with_settings(shell);
	rotate(32, 300, MTS_EVICT_OFF);
	use_until_favoured(shell);
	expect(cg_write("t-used", "cpu.weight", "77"), 0);
	expect(cg_write("t-used", "memory.low", "8192"), 0);
	set_mode(MTS_MODE_OFF);
	expect_all_thawed(1000);
	sleep_ms(200);
	check(cg_number("t-used", "cpu.weight") == 77 && cg_number("t-used", "memory.low") == 8192,
	      "%lld, %lld", cg_number("t-used", "cpu.weight"), cg_number("t-used", "memory.low"));
}

/* Protection counts only as far as the cgroups above have it too. */
static void the_base_is_protected_as_well(void)
{
	struct shell *shell = &shells[0];
	long long low;

	start_hogs(HOG_RANDOM, 3, three_equal);
	start_shells(1, 5, READS);
	rotate(32, 300, MTS_EVICT_OFF);
	expect_soon(is_frozen(shell), "%s", describe());
	check(!cg_number(BASE, "memory.low"), "%lld", cg_number(BASE, "memory.low"));
	type_until_thawed(shell);
	expect_within(3000, (low = cg_number(cgroup_of(shell), "memory.low")) >= 5 * (long long)MIB,
		      "%s", describe());
	/* One file after the other. */
	expect_within(1000, cg_number(BASE, "memory.low") == low, "%lld, not %lld",
		      cg_number(BASE, "memory.low"), low);
	set_mode(MTS_MODE_OFF);
	expect_within(1000, !cg_number(BASE, "memory.low"), "%s", describe());
	check(!cg_number(cgroup_of(shell), "memory.low"), "its own is left");
	/* The cpu controller is not enabled there: nothing was tried in vain. */
	check(cg_number(cgroup_of(shell), "cpu.weight") == -1, "it has a weight");
}

/* No turns are taken, but memory is short: without swap, here. */
static void who_is_kept_is_protected_without_turns(void)
{
	struct shell *shell = &shells[0];
	bool idle, kept;

	if (system("swapoff /dev/nullb0"))
		guest_skip("the swap disk cannot be taken away");
	start_hogs(HOG_RANDOM, 3, three_equal);
	start_shells(1, 5, READS);
	rotate(32, 300, MTS_EVICT_OFF);
	idle = wait_until(get_status().reason == MTS_REASON_NO_SWAP, 3000);
	type(shell);
	set_job(hogs[0].id, MTS_JOB_PIN, MTS_JOB_PIN);
	kept = wait_until(cg_number(cgroup_of(shell), "memory.low") >= 5 * (long long)MIB, 5000) &&
	       wait_until(cg_number(hogs[0].cgroup, "memory.low") >= 20 * (long long)MIB, 5000);
	check(!system("swapon /dev/nullb0"), "swapon");
	check(idle && kept, "reason NO_SWAP: %d, memory kept: %d", idle, kept);
	check(!cg_number(hogs[1].cgroup, "memory.low"), "another one's as well");
	set_mode(MTS_MODE_OFF);
	expect_within(1000, !cg_number(BASE, "memory.low"), "%s", describe());
	check(!cg_number(cgroup_of(shell), "memory.low") &&
		      !cg_number(hogs[0].cgroup, "memory.low"),
	      "its own is left");
}

/* What has been taken already when memory becomes short is protected too late. */
static void who_is_kept_is_protected_while_all_fits(void)
{
	static const unsigned int small[] = { 8, 8, 8 };
	struct shell *shell = &shells[0];

	start_hogs(HOG_RANDOM, ARRAY_SIZE(small), small);
	start_shells(1, 5, READS);
	set_mode(MTS_MODE_AUTO);
	set_job(hogs[0].id, MTS_JOB_PIN, MTS_JOB_PIN);
	type(shell);
	expect_within(3000, cg_number(cgroup_of(shell), "memory.low") >= 5 * (long long)MIB, "%s",
		      describe());
	expect_within(3000, cg_number(hogs[0].cgroup, "memory.low") >= 7 * (long long)MIB, "%s",
		      describe());
	check(get_status().reason == MTS_REASON_FITS, "%s", describe());
	check(!cg_number(hogs[1].cgroup, "memory.low"), "another one's as well");
	/* Whose hands are off protects nobody. */
	set_mode(MTS_MODE_SHADOW);
	expect_within(3000, !cg_number(BASE, "memory.low"), "%s", describe());
	check(!cg_number(cgroup_of(shell), "memory.low"), "its own is left");
}

/* ---- real-time -------------------------------------------------------------------------- */

/* Of sched_setattr(2), which not every C library has. */
struct attributes {
	u32 size;
	u32 policy;
	u64 flags;
	u32 nice;
	u32 priority;
	u64 runtime_ns;
	u64 deadline_ns;
	u64 period_ns;
};

static void set_deadline(pid_t pid)
{
	const struct attributes attributes = {
		.size = sizeof(attributes),
		.policy = SCHED_DEADLINE,
		.runtime_ns = NS_PER_MS,
		.deadline_ns = 100 * NS_PER_MS,
		.period_ns = 100 * NS_PER_MS,
	};

	check(!syscall(SYS_sched_setattr, pid, &attributes, 0), "sched_setattr: %m");
}

static void set_policy(pid_t pid, int policy)
{
	struct sched_param parameter = { .sched_priority = policy == SCHED_OTHER ? 0 : 1 };

	if (policy == SCHED_DEADLINE)
		set_deadline(pid);
	else
		check(!sched_setscheduler(pid, policy, &parameter), "sched_setscheduler: %m");
}

static const int real_time[] = { SCHED_FIFO, SCHED_RR, SCHED_DEADLINE };

/* Return: ms until it runs. */
static double be_real_time_until_thawed(pid_t pid, int policy, const char *cgroup)
{
	u64 began = now_ns();

	set_policy(pid, policy);
	while (cg_freeze_asked(cgroup))
		check(now_ns() < began + 5000 * NS_PER_MS, "policy %d: %s", policy, describe());
	return (double)(now_ns() - began) / NS_PER_MS;
}

/* Not at the next switch, which is 20 s away. */
static void real_time_thaws_at_once(void)
{
	double ms[ARRAY_SIZE(real_time)];
	unsigned int n;

	start_hogs(HOG_SLEEP, 3, three_equal);
	rotate(32, 20000, MTS_EVICT_OFF);
	/* Sleepers give their slices up, for longer and longer. */
	expect_soon(get_status().frozen == 2, "%s", describe());
	for (n = 0; n < ARRAY_SIZE(real_time); n++) {
		struct hog *hog = frozen_hog();

		ms[n] = be_real_time_until_thawed(hog->pid, real_time[n], hog->cgroup);
		expect_within(1000, job_named(hog->name).state == MTS_JOB_REALTIME, "%s",
			      describe());
		expect_within(3000, cg_number(hog->cgroup, "memory.low") >= 24 * (long long)MIB,
			      "%s", describe());
		set_policy(hog->pid, SCHED_OTHER);
		set_config(&(struct mts_config){ .mask = MTS_CONFIG_SLICE,
						 .slice_ns = 300 * NS_PER_MS });
		expect_within(10000, job_named(hog->name).state == MTS_JOB_FROZEN, "%s",
			      describe());
		set_config(&(struct mts_config){ .mask = MTS_CONFIG_SLICE,
						 .slice_ns = 20000 * NS_PER_MS });
		expect_soon(get_status().frozen == 2, "%s", describe());
	}
	expect_quick(ms, n);
}

/* By the hook while the rotor is busy; and by its own looks when what the hook said is over. */
static void real_time_in_the_middle_of_a_switch(void)
{
	double ms[ARRAY_SIZE(real_time)];
	unsigned int i;

	take_long_switches(ARRAY_SIZE(real_time));
	for (i = 0; i < ARRAY_SIZE(real_time); i++) {
		struct shell *shell = &shells[i];

		check(get_into_a_switch(shell, false, i * 20), "%s", describe());
		ms[i] = be_real_time_until_thawed(shell->pid, real_time[i], cgroup_of(shell));
		expect_stays_thawed(shell, 3000);
		/* Looked for at the switch's end. */
		expect_within(30000, job_named(shell->name).state == MTS_JOB_REALTIME, "%s",
			      describe());
	}
	expect_quick(ms, i);
	wait_rounds(1);
}

/* ---- hooks ------------------------------------------------------------------------------ */

static void hooks_are_there_and_hit(void)
{
	const u32 all = MTS_SEES_TTY | MTS_SEES_TTY_OUTPUT | MTS_SEES_REALTIME | MTS_SEES_UNIX |
			MTS_SEES_PIPES;
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
	/* What was typed, and what was shown. */
	check(after.hook_hits >= before.hook_hits + 2, "%llu hits",
	      (unsigned long long)(after.hook_hits - before.hook_hits));
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
	expect_soon(is_frozen(shell), "%s", describe());
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

#define RPC_PIPES "/tmp/t-rpc"

/* Its mode says FIFO, its operations are rpc_pipefs' own. */
static int open_rpc_pipe(void)
{
	int fd;

	mkdir(RPC_PIPES, 0700);
	check(!mount("sunrpc", RPC_PIPES, "rpc_pipefs", 0, NULL), "rpc_pipefs: %m");
	fd = open(RPC_PIPES "/gssd/clntXX/gssd", O_RDWR | O_NONBLOCK);
	umount2(RPC_PIPES, MNT_DETACH);
	rmdir(RPC_PIPES);
	check(fd >= 0, "gssd: %m");
	return fd;
}

static void a_fifo_that_is_no_pipe(void)
{
	struct shell *shell = &shells[0];
	int rpc_pipe = open_rpc_pipe();

	/* What a task has sent unread is looked for when the first input comes after a load. */
	mts_close();
	expect(module_unload(), 0);
	expect(module_load(""), 0);
	mts_open();
	start_shells(1, 1, READS);
	close(rpc_pipe);
	start_hogs(HOG_RANDOM, 3, three_equal);
	rotate(32, 200, MTS_EVICT_OFF);
	type_for(shell, 500, 100);
	expect_read(shell, 1, 2000);
	mts_close();
	/* The look has ended when the module has. */
	expect(module_unload(), 0);
	expect(module_load(""), 0);
	mts_open();
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
		check(!cg_freeze_asked(cgroup_of(shell)), "it stands still");
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
	    TEST_SLOW(when_it_is_left_alone_it_takes_turns_again, 0),
	    TEST_WITHIN(what_it_lacks_comes_at_once, 120),
	    TEST(switched_off_it_takes_turns_as_all_do),
	    TEST_WITHIN(typing_in_the_middle_of_a_switch, 180), TEST(output_alone_is_no_input),
	    TEST(an_idle_shell_is_not_frozen), TEST(the_background_gets_no_credit),
	    TEST(beyond_the_cap_who_was_used_last_stays),
	    TEST(who_is_larger_than_the_cap_takes_turns), TEST(real_time_thaws_at_once),
	    TEST_WITHIN(real_time_in_the_middle_of_a_switch, 180), TEST(hooks_are_there_and_hit),
	    TEST_SLOW(what_it_answers_prolongs, 0), TEST(whom_it_asks_is_used_as_well),
	    TEST(whom_it_asks_by_a_pipe_is_used_as_well),
	    TEST(of_several_readers_of_a_pipe_none_is_used),
	    TEST(credit_goes_three_steps_and_no_further),
	    TEST(credit_goes_three_pipes_and_no_further), TEST(through_a_program_that_is_no_job),
	    TEST(who_asks_without_input_hands_on_nothing), TEST(who_reads_the_keyboard_is_used),
	    TEST_SLOW(whom_a_display_server_tells_is_used, 120), TEST(evdev_may_come_and_go),
	    TEST(its_settings_come_back), TEST(what_somebody_sets_meanwhile_stays),
	    TEST(the_base_is_protected_as_well), TEST(who_is_kept_is_protected_without_turns),
	    TEST(who_is_kept_is_protected_while_all_fits), TEST(a_fifo_that_is_no_pipe),
	    TEST(unloaded_while_somebody_types));

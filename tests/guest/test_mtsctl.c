// SPDX-License-Identifier: GPL-2.0
/* mtsctl against the real module: what only a kernel and a terminal can show. */
#include "guest.h"

#include <poll.h>
#include <pty.h>

#define OUTPUT_SIZE 65536

static char output[OUTPUT_SIZE]; /* of the last sh() */

/* Read to the end, or until the text is there if there is one. */
static void read_all(int fd, const char *until, unsigned int ms)
{
	struct pollfd poll_fd = { .fd = fd, .events = POLLIN };
	u64 end = now_ms() + ms;
	size_t len = 0;
	ssize_t got;

	output[0] = '\0';
	while (now_ms() < end && len < sizeof(output) - 1) {
		if (poll(&poll_fd, 1, 100) <= 0)
			continue;
		got = read(fd, output + len, sizeof(output) - 1 - len);
		if (got <= 0)
			return;
		len += got;
		output[len] = '\0';
		if (until && strstr(output, until))
			return;
	}
	fail("no end, or no '%s', within %u ms: %s", until ? until : "", ms, output);
}

/* Exit status of a shell command, 128 + signal if it was killed; what it said is in output. */
static int sh(const char *command)
{
	int fds[2];
	pid_t pid;

	check(!pipe2(fds, O_CLOEXEC), "pipe: %m");
	pid = spawn();
	if (!pid) {
		dup2(fds[1], 1);
		dup2(fds[1], 2);
		execl("/bin/sh", "sh", "-c", command, NULL);
		_exit(125);
	}
	close(fds[1]);
	read_all(fds[0], NULL, 30000);
	close(fds[0]);
	return join(pid, 10000);
}

#define expect_sh(status, command)                                                            \
	do {                                                                                  \
		int _is = sh(command);                                                        \
		check(_is == (status), "%s: exit %d, should be %d: %s", command, _is, status, \
		      output);                                                                \
	} while (0)

#define expect_said(text) check(strstr(output, text), "no '%s' in: %s", text, output)

static void run_passes_the_exit_status_on(void)
{
	expect_sh(0, "mtsctl run -- true");
	expect_sh(7, "mtsctl run -- sh -c 'exit 7'");
	expect_sh(127, "mtsctl run -- /no/such/program");
	expect_said("/no/such/program");
	expect_sh(126, "mtsctl run -- /proc/self/maps");
	expect_sh(125, "mtsctl run --name 'no good' -- true");
	expect_within(2000, !count_jobs(), "%s", describe());
}

/* The shell that waits for it sees a death by signal as such. */
static void run_passes_signals_on(void)
{
	expect_sh(128 + SIGTERM, "mtsctl run -- sh -c 'kill -TERM $$'; exit $?");
	expect_sh(128 + SIGKILL, "exec mtsctl run -- sh -c 'kill -KILL $$'");
	expect_sh(5, "exec mtsctl run -- sh -c 'trap \"exit 5\" USR1; kill -USR1 $$; sleep 10'");
}

static void run_works_in_a_pipe(void)
{
	expect_sh(0, "echo through | mtsctl run -- cat | mtsctl run -- tr a-z A-Z");
	check(!strcmp(output, "THROUGH\n"), "%s", output);
}

static void run_makes_a_job(void)
{
	expect_sh(0,
		  "mtsctl run --name here --pin -- sh -c 'cat /proc/self/cgroup; mtsctl status'");
	expect_said("0::/mts/here\n");
	expect_said("resident");
	expect_sh(
		0,
		"mtsctl run -- sh -c 'cat /proc/self/cgroup; mtsctl run -- cat /proc/self/cgroup'");
	check(!strcmp(output, "0::/mts/sh\n0::/mts/cat\n"), "%s", output);
	expect_within(2000, !count_jobs(), "%s", describe());
}

static void run_names_its_jobs_apart(void)
{
	/* In the background with nothing of the shell's open: it would be waited for. */
	expect_sh(0, "for i in 1 2 3; do mtsctl run -- sleep 60 </dev/null >/dev/null 2>&1 & done");
	expect_soon(count_jobs() == 3, "%s", describe());
	expect_sh(0, "mtsctl status");
	expect_said("sleep-2");
	expect_said("sleep-3");
	expect_sh(0, "killall sleep");
	expect_within(5000, !count_jobs(), "%s", describe());
}

static void run_each_gives_children_jobs(void)
{
	expect_sh(0, "mtsctl run --each=child --name p -- sh -c '"
		     "for i in 1 2 3; do sh -c \"cat /proc/self/cgroup\"; done'");
	check(!strcmp(output, "0::/mts/p.1\n0::/mts/p.2\n0::/mts/p.3\n"), "%s", output);
}

/* A terminal: Ctrl-C reaches the command, which is in the foreground, also when it is a job. */
static void run_gets_ctrl_c(void)
{
	int master;
	pid_t pid;

	pid = forkpty(&master, NULL, NULL, NULL);
	check(pid >= 0, "forkpty: %m");
	if (!pid) {
		execl("/bin/mtsctl", "mtsctl", "run", "--", "sh", "-c",
		      "trap 'exit 5' INT; echo ready; while :; do sleep 0.1; done", NULL);
		_exit(125);
	}
	read_all(master, "ready", 20000);
	check(write(master, "\x03", 1) == 1, "write: %m");
	check(join(pid, 10000) == 5, "Ctrl-C did not reach it");
	close(master);
}

static void set_and_get(void)
{
	expect_sh(0, "mtsctl set slice=1500ms bin=96M pack=reuven-wiseman evict=need mode=off "
		     "overhead=2.5% demand=allocated");
	expect_sh(0, "mtsctl get");
	expect_said("slice=1500ms");
	expect_said("bin=96M");
	expect_said("pack=rw");
	expect_said("overhead=2.5%");
	expect_said("demand=allocated");
	check(get_config().demand == MTS_DEMAND_ALLOCATED, "%u", get_config().demand);
	check(get_config().overhead == 25, "%u", get_config().overhead);
	check(get_config().bin_bytes == 96 * MIB, "%llu", get_config().bin_bytes);
	expect_sh(2, "mtsctl set slice=2s bin=zero");
	check(get_config().slice_ns == 1500 * NS_PER_MS, "half a command was done");
	expect_sh(2, "mtsctl set slice=1h bin=96M");
	expect_sh(0, "mtsctl set bin=40%");
	check(get_config().bin_bytes > 100 * MIB, "%llu", get_config().bin_bytes);
	expect_sh(0, "mtsctl set bin=auto mode=auto && mtsctl set $(mtsctl get)");
	check(!get_config().bin_bytes, "%llu", get_config().bin_bytes);
}

static void add_by_path_and_by_pid(void)
{
	char command[200];
	pid_t pid, other;

	cg_make("t-add");
	pid = spawn();
	if (!pid) {
		pause();
		_exit(0);
	}
	cg_move("t-add", pid);
	snprintf(command, sizeof(command), "mtsctl add --pid %d", pid);
	expect_sh(0, command);
	check(job_named("t-add").cgroup_id, "%s", describe());
	expect_sh(0, "mtsctl remove t-add");
	check(!count_jobs(), "%s", describe());

	/* With somebody else in it: who, and the way to say that it is meant. */
	other = spawn();
	if (!other) {
		pause();
		_exit(0);
	}
	cg_move("t-add", other);
	expect_sh(2, command);
	expect_said("--yes");
	snprintf(command, sizeof(command), "%d", other);
	expect_said(command);
	check(!count_jobs(), "%s", describe());
	snprintf(command, sizeof(command), "mtsctl add --yes --pid %d", pid);
	expect_sh(0, command);
	expect_sh(1, "mtsctl add /sys/fs/cgroup/t-add");
	expect_sh(1, "mtsctl add /sys/fs/cgroup");
	expect_sh(1, "mtsctl add --yes --pid 1");
	expect_sh(1, "mtsctl remove nobody");
	expect_said("nobody");
}

static void pause_limits(void)
{
	expect_sh(0, "mtsctl run --max-pause 2.5s --name short -- sleep 60 "
		     "</dev/null >/dev/null 2>&1 &");
	expect_soon(find_job("short", NULL), "%s", describe());
	check(job_named("short").max_pause_ns == 2500 * NS_PER_MS, "%llu ns",
	      job_named("short").max_pause_ns);
	expect_sh(0, "mtsctl pause short 7s");
	check(job_named("short").max_pause_ns == 7000 * NS_PER_MS, "%llu ns",
	      job_named("short").max_pause_ns);
	expect_sh(0, "mtsctl pause short off");
	check(!job_named("short").max_pause_ns, "%llu ns", job_named("short").max_pause_ns);
	expect_sh(1, "mtsctl pause short 25h || [ $? = 2 ] && false");
	check(!job_named("short").max_pause_ns, "%llu ns", job_named("short").max_pause_ns);
}

/* As systemd starts a unit with WatchdogSec=, the main process of which has a child. */
static void add_heeds_the_watchdog(void)
{
	cg_make("t-watched");
	expect_sh(0, "sh -c 'echo $$ >/sys/fs/cgroup/t-watched/cgroup.procs; "
		     "export WATCHDOG_USEC=6000000 WATCHDOG_PID=$$; "
		     "exec sh -c \"sleep 60 & sleep 60; :\"' </dev/null >/dev/null 2>&1 &");
	expect_soon(!sh("[ $(wc -l </sys/fs/cgroup/t-watched/cgroup.procs) = 3 ]"), "%s", output);
	expect_sh(0, "mtsctl add t-watched");
	expect_said("every 6.0 s");
	check(job_named("t-watched").max_pause_ns == 3000 * NS_PER_MS, "%llu ns",
	      job_named("t-watched").max_pause_ns);
	expect_sh(0, "mtsctl remove t-watched; mtsctl add --max-pause off t-watched");
	check(!job_named("t-watched").max_pause_ns, "%llu ns", job_named("t-watched").max_pause_ns);
}

static void shows_a_rotation(void)
{
	char command[120];
	struct hog *hog;

	start_hogs(HOG_RANDOM, 3, three_equal);
	rotate(32, 20000, MTS_EVICT_OFF);
	expect_rotation(3);
	expect_soon(get_status().frozen == 2, "%s", describe());
	hog = frozen_hog();

	expect_sh(0, "mtsctl status");
	expect_said("frozen");
	snprintf(command, sizeof(command), "mtsctl why %d", hog->pid);
	expect_sh(0, command);
	expect_said(hog->name);
	expect_said("until");
	expect_sh(0, "mtsctl why $$");
	expect_sh(0, "mtsctl plan");
	expect_said("3 bins");
	expect_sh(0, "mtsctl status --json && mtsctl plan --json && mtsctl stats --json");
	expect_sh(0, "mtsctl stats");
	expect_sh(0, "mtsctl stats --prometheus | grep 'mts_state_info.*running.* 1$'");
	/* The cgroup of each job is found by its id: its faults are a number. */
	expect_sh(0, "mtsctl top --batch --count 1 --delay 300ms");
	expect_said("  * ");
	snprintf(command, sizeof(command), "mtsctl top -b -n1 -d0.3 | grep '%s.*[0-9]$'",
		 hog->name);
	expect_sh(0, command);
	expect_sh(0, "mtsctl thaw");
	expect_said("2");
	check(get_status().state == MTS_STATE_STOPPED && !get_status().frozen, "%s", describe());
	expect_all_thawed(1000);
	expect_sh(0, "mtsctl status");
	expect_said("stopped");
}

/* ---- watch --------------------------------------------------------------------------- */

#define INSTANCES "/sys/kernel/tracing/instances/"

/* Away from what they begin with. */
#define FOREIGN_OPTIONS "irq-info=0 record-tgid=1 stacktrace=1 verbose=1 latency-format=1"

static bool watch_has_gone(void)
{
	return !sh("! ls -d " INSTANCES "mtsctl.* 2>/dev/null");
}

/* It says what there is, in the order in which it was, and clears up when it is interrupted. */
static void watch_streams(void)
{
	start_hogs(HOG_RANDOM, 3, three_equal);
	/* What others have set for their tracing changes nothing. */
	expect_sh(0, "cd /sys/kernel/tracing/options; for o in " FOREIGN_OPTIONS
		     "; do echo ${o#*=} >${o%=*} || exit 1; done");
	expect_sh(0, "mtsctl watch >/watch.txt 2>&1 & echo $! >/watch.pid;"
		     "mtsctl watch --json >/watch.json 2>&1 & echo $! >>/watch.pid");
	expect_within(10000,
		      !sh("for pid in $(cat /watch.pid); do grep -q 1 " INSTANCES
			  "mtsctl.$pid/events/mts/enable || exit 1; done"),
		      "%s", output);
	rotate(32, 300, MTS_EVICT_OFF);
	expect_rotation(3);
	wait_rounds(2);
	set_mode(MTS_MODE_OFF);
	expect_within(5000, get_status().state == MTS_STATE_OFF, "%s", describe());
	expect_within(10000,
		      !sh("grep -q '\"reason\":\"none\"' /watch.json && "
			  "grep -q 'reason=none' /watch.txt"),
		      "%s", output);
	expect_sh(0, "kill -INT $(cat /watch.pid)");
	expect_within(5000, watch_has_gone(), "%s", output);

	expect_sh(0, "cd /sys/kernel/tracing/options; for o in " FOREIGN_OPTIONS
		     "; do echo $((1 - ${o#*=})) >${o%=*} || exit 1; done");

	/* Both have seen the same, and nothing else. */
	expect_sh(0, "! grep -v '^ *[0-9]*\\.[0-9]\\{6\\}  mts_[a-z_]*  *[a-z_]*=' /watch.txt");
	expect_sh(0, "! grep -v '^{\"schema_version\":1,\"timestamp\":[0-9.]*,"
		     "\"event\":\"mts_[a-z_]*\",\"fields\":{\"' /watch.json");
	expect_sh(
		0,
		"grep -q 'mts_switch_end  *round=[0-9]* from=-1 to=[0-2] took_ns=[0-9]* ' /watch.txt");
	expect_sh(0, "grep -q '\"mts_slice_end\",\"fields\":{\"round\":[0-9]*,\"bin\":[0-2],"
		     "\"why\":\"[a-z]*\",\"slice_ns\":[0-9]*,\"ran_ns\":[0-9]*}}$' /watch.json");
	expect_sh(0, "grep -c . /watch.txt >/a; grep -c . /watch.json >/b; cmp /a /b");
}

static void watch_ends_with_its_reader(void)
{
	expect_sh(0, "(sleep 1; mtsctl run -- true) & mtsctl watch | head -n 1 | grep mts_job");
	expect_within(5000, watch_has_gone(), "%s", output);
	/* And one that was killed leaves its instance to the next. */
	expect_sh(0, "mtsctl watch >/dev/null & sleep 1; kill -KILL $!; wait $!;"
		     "ls -d " INSTANCES "mtsctl.*");
	expect_sh(0, "mtsctl watch >/dev/null & sleep 2; kill -TERM $!; wait $!");
	check(watch_has_gone(), "%s", output);
}

static void watch_ends_with_the_module(void)
{
	mts_close();
	expect_sh(3, "(sleep 1; rmmod mts) & exec mtsctl watch");
	expect_said("unloaded");
	check(watch_has_gone(), "%s", output);
	expect_sh(3, "mtsctl watch");
	expect_said("is the module loaded");
	expect(module_load(""), 0);
	mts_open();
	expect_sh(1, "umount /sys/kernel/tracing && mtsctl watch");
	expect_said("mount -t tracefs");
	expect_sh(0, "mount -t tracefs trace /sys/kernel/tracing");
}

static void without_the_module(void)
{
	mts_close();
	expect(module_unload(), 0);
	expect_sh(3, "mtsctl status");
	expect_said("insmod");
	expect_sh(125, "mtsctl run -- true");
	expect_sh(0, "mtsctl plan --size 6Gx10 --capacity 22G");
	expect_said("4 bins");
	expect(module_load(""), 0);
	mts_open();
}

static void watching_lets_the_module_go(void)
{
	mts_close();
	/* Asked for its status while idle, the module measures, for up to half a second. */
	expect_sh(0, "mtsctl monitor --interval 1s --count 8 >/monitor.csv & monitor=$!; "
		     "mtsctl top --batch --delay 1s >/top.txt & top=$!; "
		     "sleep 3; for i in $(seq 50); do rmmod mts && break; usleep 70000; done; "
		     "wait $top; [ $? = 3 ] && grep '^mts ' /top.txt && wait $monitor && "
		     "grep ',,0,[0-9]*,0,0$' /monitor.csv && grep ',,,[0-9]*,0,0$' /monitor.csv");
	check(!module_loaded(), "rmmod did not do it");
	expect(module_load(""), 0);
	mts_open();
}

/* What the README tells a newcomer to type; the module goes while jobs are frozen. */
static void as_the_readme_says(void)
{
	mts_close();
	expect(module_unload(), 0);
	expect_sh(0, "insmod /lab/mts.ko && mtsctl set slice=1s bin=24M");
	expect_sh(
		0,
		"mtsctl run --each=child -- syn8 --total 40M --accesses 10M --limit 60 >/syn8.log 2>&1 & "
		"for i in $(seq 200); do mtsctl status >/status; "
		"grep -q '[1-9][0-9]* of them frozen' /status && break; usleep 50000; done; "
		"cat /status; grep -q '[1-9][0-9]* of them frozen' /status && rmmod mts");
	expect_said("the jobs' demand exceeds the capacity");
	check(!module_loaded(), "rmmod did not do it");
	expect_sh(0, "for f in /sys/fs/cgroup/mts/*/cgroup.freeze; do "
		     "[ \"$(cat $f)\" = 0 ] || exit 1; done");
	expect_within(90000, !sh("grep -q 'work done *100' /syn8.log"), "%s", output);
	expect(module_load(""), 0);
	mts_open();
}

GUEST_TESTS(TEST(run_passes_the_exit_status_on), TEST(run_passes_signals_on),
	    TEST(run_works_in_a_pipe), TEST(run_makes_a_job), TEST(run_names_its_jobs_apart),
	    TEST(run_each_gives_children_jobs), TEST(run_gets_ctrl_c), TEST(set_and_get),
	    TEST(add_by_path_and_by_pid), TEST(pause_limits), TEST(add_heeds_the_watchdog),
	    TEST(shows_a_rotation), TEST(watch_streams), TEST(watch_ends_with_its_reader),
	    TEST(watch_ends_with_the_module), TEST(without_the_module),
	    TEST(watching_lets_the_module_go), TEST_WITHIN(as_the_readme_says, 120));

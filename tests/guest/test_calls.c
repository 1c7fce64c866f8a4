// SPDX-License-Identifier: GPL-2.0
/*
 * Calls: a process outside a frozen job waits for it. The job is thawed at once, takes its turns
 * again afterwards, and no user gains time by it.
 */
#include <linux/sched.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>

#include "guest.h"

/* Invariant 4 of the design: from the event to the thaw. */
#define CALL_MS 100

/* In memory that all share. */
static struct shared {
	_Atomic int ready;
	_Atomic int forked;
	_Atomic u64 signalled_ns; /* when the handler ran; 0: it has not */
	_Atomic u64 written; /* bytes */
	_Atomic u64 locked; /* locks taken */
} * shared;

static void share_memory(void)
{
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	check(shared != MAP_FAILED, "mmap: %m");
}

/* Two hogs take turns of ten seconds; the second one waits for its own. Return: that one. */
static struct hog *two_take_turns(void)
{
	static const unsigned int mib[] = { 24, 24 };
	struct hog *hog;

	start_hogs(HOG_RANDOM, ARRAY_SIZE(mib), mib);
	rotate(32, 10000, MTS_EVICT_OFF);
	expect_rotation(2);
	expect_soon((hog = frozen_hog()), "%s", describe());
	return hog;
}

/* A small job beside them that waits for its turn, and @body in it. Return: its process. */
static pid_t small_job(const char *name, void (*body)(void))
{
	struct mts_job_create create = { .id = 0 };
	int ready = shared->ready;
	pid_t pid = spawn();

	if (!pid) {
		if (try_create(name, MTS_JOB_ENTER, &create))
			_exit(1);
		mts_close();
		touch(4);
		shared->ready++;
		body();
		_exit(0);
	}
	expect_soon(shared->ready > ready, "%s is not ready", name);
	cg_hide_sleep(cg_job(name));
	return pid;
}

static bool waits(const char *name)
{
	struct mts_job_info job;

	return find_job(name, &job) && waits_for_its_turn(&job);
}

/* Until it stands still, and so for another second: no event of before is under way. */
static void expect_waits(const char *name)
{
	expect_within(60000, waits(name) && (sleep_ms(1000), waits(name)), "%s: %s", name,
		      describe());
}

#define TRIES 3

static double ms_until_thawed(const char *name, u64 since_ns)
{
	expect_within(5000, !cg_freeze_asked(cg_job(name)), "%s is not thawed: %s", name,
		      describe());
	return (double)(now_ns() - since_ns) / NS_PER_MS;
}

/* It is frozen again before long, though its turn has been in between or not. */
static void expect_turns_again(const char *name)
{
	expect_within(60000, waits(name), "%s takes no turns any more: %s", name, describe());
}

/* ---- a task is created in it ------------------------------------------------------------- */

/* The child is born in that cgroup, and the parent stands still until it has called exec. */
static pid_t vfork_into(const char *cgroup)
{
	struct clone_args args = { .exit_signal = SIGCHLD };
	int fd = cg_open(cgroup, O_PATH | O_DIRECTORY);
	pid_t pid;

	check(fd >= 0, "%s: %m", cgroup);
	/* Without CLONE_VM: it may return from here. */
	args.flags = CLONE_INTO_CGROUP | CLONE_VFORK;
	args.cgroup = fd;
	pid = syscall(SYS_clone3, &args, sizeof(args));
	if (!pid) {
		execl("/bin/busybox", "busybox", "sleep", "1", NULL);
		_exit(9);
	}
	close(fd);
	check(pid > 0, "clone3: %m");
	return pid;
}

static void a_parent_does_not_wait_for(const char *job, const char *cgroup)
{
	struct mts_stats before = get_stats(), after;
	u64 began;
	pid_t pid;

	began = now_ns();
	pid = vfork_into(cgroup);
	note("%s: the parent waited for %llu ms", cgroup,
	     (unsigned long long)((now_ns() - began) / NS_PER_MS));
	check(now_ns() - began < 2000 * NS_PER_MS, "the parent waited for %llu ms",
	      (unsigned long long)((now_ns() - began) / NS_PER_MS));
	check(!join(pid, 5000), "the child failed");
	after = get_stats();
	check(after.call_tasks == before.call_tasks + 1 &&
		      after.call_thaws == before.call_thaws + 1,
	      "%llu calls, %llu thaws", (unsigned long long)(after.call_tasks - before.call_tasks),
	      (unsigned long long)(after.call_thaws - before.call_thaws));
	/* The child has ended: the job need not run any more, unless its turn has come. */
	expect_within(3000,
		      cg_freeze_asked(cg_job(job)) ||
			      job_named(job).bin == get_status().current_bin,
		      "%s", describe());
}

static void a_parent_outside_does_not_wait_for_a_frozen_job(void)
{
	struct hog *hog = two_take_turns();

	sleep_ms(500);
	a_parent_does_not_wait_for(hog->name, cg_job(hog->name));
	expect_turns_again(hog->name);
}

/* The job is the slice, and the child is born in a unit of it. */
static void nor_for_a_cgroup_below_it(void)
{
	struct hog *hog = two_take_turns();
	char below[300];

	snprintf(below, sizeof(below), "%s/t-below", cg_job(hog->name));
	check(!mkdir(CGROUPS "mts/a/t-below", 0755) && !mkdir(CGROUPS "mts/b/t-below", 0755),
	      "mkdir: %m");
	expect_soon((hog = frozen_hog()), "%s", describe());
	snprintf(below, sizeof(below), "%s/t-below", cg_job(hog->name));
	a_parent_does_not_wait_for(hog->name, below);
	rmdir(CGROUPS "mts/a/t-below");
	rmdir(CGROUPS "mts/b/t-below");
}

static void a_task_that_is_moved_into_it_runs(void)
{
	struct hog *hog = two_take_turns();
	double ms[TRIES];
	unsigned int i;
	u64 began;
	pid_t pid;

	for (i = 0; i < TRIES; i++) {
		pid = spawn();
		if (!pid)
			for (;;)
				sleep_ms(100);
		expect_waits(hog->name);
		began = now_ns();
		cg_move(cg_job(hog->name), pid);
		ms[i] = ms_until_thawed(hog->name, began);
		kill_and_join(pid);
	}
	expect_median(ms, TRIES, CALL_MS);
	expect_turns_again(hog->name);
}

static void move_between(const char *one, const char *other)
{
	for (;;) {
		if (cg_write(one, "cgroup.procs", "0") || cg_write(other, "cgroup.procs", "0"))
			_exit(1);
	}
}

/* A process that moves between cgroups of its own job brings nothing into it. */
static void a_move_within_a_job_is_no_call(void)
{
	static const unsigned int mib[] = { 24, 24 };
	struct mts_stats before;
	char below[300], cgroup[256];
	unsigned int i;
	pid_t pids[6];

	start_hogs(HOG_RANDOM, ARRAY_SIZE(mib), mib);
	snprintf(below, sizeof(below), CGROUPS "%s/one", cg_job("a"));
	check(!mkdir(below, 0755), "mkdir: %m");
	snprintf(below, sizeof(below), CGROUPS "%s/two", cg_job("a"));
	check(!mkdir(below, 0755), "mkdir: %m");
	/* Several, so that some wait for the kernel's lock when the job is frozen. */
	for (i = 0; i < ARRAY_SIZE(pids); i++) {
		pids[i] = spawn();
		if (!pids[i]) {
			mts_close();
			move_between("mts/a/one", "mts/a/two");
		}
	}
	for (i = 0; i < ARRAY_SIZE(pids); i++)
		expect_soon((cg_of(pids[i], cgroup, sizeof(cgroup)),
			     !strncmp(cgroup, "mts/a/", strlen("mts/a/"))),
			    "%u is in %s", i, cgroup);
	before = get_stats();
	rotate(32, 300, MTS_EVICT_OFF);
	expect_rotation(2);
	wait_rounds(5);
	check(get_stats().call_tasks == before.call_tasks, "%llu calls",
	      get_stats().call_tasks - before.call_tasks);
}

/* A container engine moves a helper into the job, which starts what is wanted there, and exits. */
static void so_does_what_that_task_starts(void)
{
	struct hog *hog = two_take_turns();
	pid_t pid;
	u64 began;

	share_memory();
	sleep_ms(500);
	check(cg_freeze_asked(cg_job(hog->name)), "%s", describe());
	pid = spawn();
	if (!pid) {
		mts_close();
		while (!shared->ready)
			sleep_ms(1);
		if (fork())
			_exit(0);
		/* Longer than the helper lives, and than it takes to be frozen again. */
		sleep_ms(3000);
		shared->signalled_ns = now_ns();
		_exit(0);
	}
	cg_move(cg_job(hog->name), pid);
	began = now_ns();
	shared->ready = 1;
	check(!join(pid, 2000), "the helper failed: %s", describe());
	expect_within(5000, shared->signalled_ns, "its child stands still: %s", describe());
	note("its child had done after %llu ms",
	     (unsigned long long)((shared->signalled_ns - began) / NS_PER_MS));
	expect_turns_again(hog->name);
}

/* ---- a signal that is to end it ------------------------------------------------------------ */

static void ignores_term(int signal)
{
	(void)signal;
}

static void on_signal(int signal)
{
	(void)signal;
	shared->signalled_ns = now_ns();
	_exit(0);
}

static void sleeps_until_term(void)
{
	signal(SIGTERM, on_signal);
	signal(SIGUSR1, on_signal);
	for (;;)
		sleep_ms(60000);
}

static double a_signal_reaches(int signal)
{
	u64 began;
	pid_t pid;

	shared->signalled_ns = 0;
	pid = small_job("stops", sleeps_until_term);
	expect_waits("stops");
	began = now_ns();
	check(!kill(pid, signal), "kill: %m");
	expect_within(5000, shared->signalled_ns, "signal %d: the handler has not run: %s", signal,
		      describe());
	check(!join(pid, 5000), "it failed");
	expect_soon(!find_job("stops", &(struct mts_job_info){ 0 }), "%s", describe());
	return (double)(shared->signalled_ns - began) / NS_PER_MS;
}

static void a_signal_that_is_to_end_a_frozen_process_does(void)
{
	struct mts_stats before;
	double ms[TRIES];

	share_memory();
	two_take_turns();
	before = get_stats();
	ms[0] = a_signal_reaches(SIGTERM);
	ms[1] = a_signal_reaches(SIGUSR1);
	ms[2] = a_signal_reaches(SIGTERM);
	check(get_stats().call_signals >= before.call_signals + 3, "it was no call");
	/* Thawed within 100 ms; what the handler needs of its memory comes after that. */
	expect_median(ms, TRIES, 2 * CALL_MS);
}

/* Of a job with other processes: it is frozen again when that one has ended. */
static void then_the_others_take_turns_again(void)
{
	struct hog *hog = two_take_turns();
	pid_t pid;

	share_memory();
	pid = spawn();
	if (!pid) {
		mts_close();
		cg_move(cg_job(hog->name), 0);
		shared->ready = 1;
		sleeps_until_term();
	}
	expect_soon(shared->ready, "%s", describe());
	expect_waits(hog->name);
	check(!kill(pid, SIGTERM), "kill: %m");
	check(!join(pid, 5000), "it failed");
	expect_within(5000, cg_freeze_asked(cg_job(hog->name)), "%s", describe());
}

#define MANY 100

static void many_that_ignore_it(void)
{
	int i;

	signal(SIGUSR1, ignores_term);
	setsid();
	for (i = 1; i < MANY; i++)
		if (!fork())
			break;
	shared->forked++;
	for (;;)
		sleep_ms(60000);
}

static void ends_late(int signal)
{
	u64 end = now_ms() + 5000;

	(void)signal;
	/* One that is frozen meanwhile ends when its turn has come. */
	while (now_ms() < end)
		sleep_ms(10);
	_exit(0);
}

static void sleeps_until_late_end(void)
{
	signal(SIGTERM, ends_late);
	for (;;)
		sleep_ms(60000);
}

/*
 * Fault: the processes that are watched have their places, and as many signals filled them. The
 * next call was forgotten at once, and the job was frozen again while it ended.
 */
static void nor_is_a_signal_lost_among_many(void)
{
	pid_t pid, many;
	u64 began;

	share_memory();
	two_take_turns();
	many = small_job("many", many_that_ignore_it);
	expect_soon(shared->forked == MANY, "%d processes", shared->forked);
	/* It runs anyhow, and takes nothing of the budget for calls. */
	set_job(job_named("many").id, MTS_JOB_PIN, MTS_JOB_PIN);
	pid = small_job("stops", sleeps_until_late_end);
	expect_waits("stops");
	check(!kill(-many, SIGUSR1), "kill: %m");
	began = now_ms();
	check(!kill(pid, SIGTERM), "kill: %m");
	expect(join(pid, 20000), 0);
	began = now_ms() - began;
	note("it ended after %llu ms", (unsigned long long)began);
	check(began < 6000, "it ended after %llu ms", (unsigned long long)began);
	kill(-many, SIGKILL);
	join(many, 5000);
}

/* ---- a process writes to it ----------------------------------------------------------------- */

static int ends[2];

static void reads(void)
{
	static char buffer[65536];

	for (;;)
		if (read(ends[0], buffer, sizeof(buffer)) <= 0)
			_exit(2);
}

static void *writer(void *unused)
{
	static const char buffer[4096];

	(void)unused;
	for (;;) {
		ssize_t n = write(ends[1], buffer, sizeof(buffer));

		if (n <= 0)
			return NULL;
		shared->written += n;
	}
}

/* The channel is made: a job reads it, and this process writes. */
static void a_writer_gets_on(const char *what)
{
	u64 before, began, pause, longest = 0;
	unsigned int i, late = 0;
	pthread_t thread;
	pid_t pid;

	pid = small_job("reads", reads);
	expect_waits("reads");
	check(!pthread_create(&thread, NULL, writer, NULL), "pthread_create");
	/* As long as the reader's bin does not run it would stand still for up to 10 s. */
	for (i = 0; i < 100; i++) {
		before = shared->written;
		began = now_ns();
		expect_within(15000, shared->written > before, "%s: %s", what, describe());
		pause = (now_ns() - began) / NS_PER_MS;
		longest = pause > longest ? pause : longest;
		late += pause > CALL_MS + CALL_MS / 2;
		sleep_ms(50);
	}
	note("%s: stood still for %llu ms at most, %u times for too long", what,
	     (unsigned long long)longest, late);
	/* The guest shares its host: some looks come late, and none by a turn. */
	check(late < 10 && longest < 2000, "%s: stood still for %llu ms, %u times for too long",
	      what, (unsigned long long)longest, late);
	check(get_stats().call_writes, "it was no call");
	kill_and_join(pid);
	close(ends[0]);
	close(ends[1]);
	pthread_join(thread, NULL);
}

static void a_writer_to_a_pipe_does_not_wait_for_a_frozen_reader(void)
{
	signal(SIGPIPE, SIG_IGN);
	share_memory();
	two_take_turns();
	check(!pipe2(ends, O_CLOEXEC), "pipe: %m");
	a_writer_gets_on("pipe");
}

static void nor_does_one_to_a_socket(void)
{
	signal(SIGPIPE, SIG_IGN);
	share_memory();
	two_take_turns();
	check(!socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), "socketpair: %m");
	a_writer_gets_on("socket");
}

/* ---- the budget ------------------------------------------------------------------------------ */

#define LOCKS 10

static unsigned int lock_number;

static int open_lock(unsigned int number)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/tmp/t-calls.%u", number);
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0)
		_exit(7);
	return fd;
}

/* Never lets go of it. */
static void holds_lock(void)
{
	if (flock(open_lock(lock_number), LOCK_EX))
		_exit(8);
	touch(5);
	shared->locked++;
	for (;;)
		sleep_ms(10000);
}

/* As long as a process waits for the lock it is one call, not one after each freeze. */
static void a_lock_that_is_waited_for_is_one_call(void)
{
	struct mts_stats before;
	pid_t pid;

	share_memory();
	two_take_turns();
	small_job("holds", holds_lock);
	expect_waits("holds");
	before = get_stats();
	pid = spawn();
	if (!pid) {
		mts_close();
		flock(open_lock(lock_number), LOCK_EX);
		_exit(0);
	}
	expect_soon(!cg_freeze_asked(cg_job("holds")), "it is not thawed: %s", describe());
	sleep_ms(6000);
	check(get_stats().call_thaws == before.call_thaws + 1, "thawed %llu times: %s",
	      (unsigned long long)(get_stats().call_thaws - before.call_thaws), describe());
	kill_and_join(pid);
	expect_turns_again("holds");
}

static unsigned int count_running_out_of_turn(void)
{
	struct mts_job_info jobs[64];
	struct mts_list list;
	u32 i, n = get_jobs(jobs, ARRAY_SIZE(jobs), &list), running = 0;
	u32 bin = get_status().current_bin;

	for (i = 0; i < n && i < ARRAY_SIZE(jobs); i++)
		running += !strncmp(jobs[i].name, "lock-", 5) && jobs[i].bin != bin &&
			   !cg_freeze_asked(cg_job(jobs[i].name));
	return running;
}

/*
 * Ten jobs of a fifth of the capacity each hold locks that processes outside want. They may have a
 * quarter of it together: one job, or none where another one runs for a call already.
 */
static void ten_lock_holders_share_one_budget(void)
{
	unsigned int i, most = 0, running, twice = 0;
	char name[16];

	share_memory();
	start_hogs(HOG_RANDOM, 1, (const unsigned int[]){ 40 });
	for (i = 0; i < LOCKS; i++) {
		lock_number = i;
		snprintf(name, sizeof(name), "lock-%u", i);
		small_job(name, holds_lock);
		expect_soon(shared->locked == i + 1, "%s", name);
	}
	rotate(48, 5000, MTS_EVICT_OFF);
	expect_soon(is_rotating(), "%s", describe());
	for (i = 0; i < LOCKS; i++) {
		if (spawn())
			continue;
		mts_close();
		flock(open_lock(i), LOCK_EX);
		_exit(0);
	}
	for (i = 0; i < 200; i++) {
		running = count_running_out_of_turn();
		most = running > most ? running : most;
		/* Twice in a row: a switch may have begun between two looks at two jobs. */
		twice = running > 2 ? twice + 1 : 0;
		check(twice < 5, "%u run out of turn: %s", running, describe());
		sleep_ms(100);
	}
	note("at most %u ran out of turn at a time; %llu calls refused", most,
	     (unsigned long long)get_stats().call_refused);
	check(get_stats().call_refused, "no call was refused: %s", describe());
}

enum loop {
	LOOP_SIGNAL = 1, /* SIGTERM, which the job's process does not end by */
	LOOP_LOCK = 2, /* a process waits for the lock that it holds */
	LOOP_TYPE = 4, /* its own terminal */
	LOOP_TASK = 8, /* processes are started in its cgroup */
};

/* Counts what it does. */
static struct worker {
	_Atomic u64 *counter;
	char terminal[32]; /* "": none */
} worker;

static void works(void)
{
	signal(SIGTERM, ignores_term);
	setsid();
	if (*worker.terminal && open(worker.terminal, O_RDWR) < 0)
		_exit(10);
	if (flock(open_lock(lock_number), LOCK_EX))
		_exit(8);
	touch(12);
	for (;;)
		++*worker.counter;
}

static void loop(unsigned int loops, pid_t pid, int master)
{
	if (loops & LOOP_LOCK && !spawn()) {
		flock(open_lock(0), LOCK_EX);
		_exit(0);
	}
	for (;;) {
		if (loops & LOOP_SIGNAL)
			kill(pid, SIGTERM);
		if (loops & LOOP_TYPE && write(master, "x", 1) != 1)
			_exit(11);
		if (loops & LOOP_TASK) {
			int status;

			waitpid(vfork_into(cg_job("first")), &status, 0);
		}
		sleep_ms(50);
	}
}

static void start_loop(pid_t *looper, unsigned int loops, pid_t pid, int master)
{
	*looper = spawn();
	if (*looper)
		return;
	mts_close();
	loop(loops, pid, master);
}

/* In 12 rounds. A quarter is allowed: slices are long against the time. */
static void expect_no_gain(const _Atomic u64 *counters, unsigned int loops)
{
	u64 begin[3], got[3], others;
	unsigned int i;

	for (i = 0; i < 3; i++)
		begin[i] = counters[i];
	sleep_ms(18000);
	for (i = 0; i < 3; i++)
		got[i] = counters[i] - begin[i];
	others = (got[1] + got[2]) / 2;
	note("loops %u: %llu %% of what the others got", loops,
	     (unsigned long long)(got[0] * 100 / (others + 1)));
	check(others && got[0] < others + others / 4, "loops %u gained: %llu, %llu, %llu: %s",
	      loops, (unsigned long long)got[0], (unsigned long long)got[1],
	      (unsigned long long)got[2], describe());
}

/*
 * Three equal jobs, and loops for one of them. Once its account is empty it gets what the others
 * get, and an eighth of that at most: by one loop, by another one after that, by all together.
 */
static void no_loop_gains(void)
{
	static const char *const names[] = { "first", "second", "third" };
	static const unsigned int kinds[] = { LOOP_SIGNAL, LOOP_TYPE, LOOP_LOCK,
					      LOOP_SIGNAL | LOOP_LOCK | LOOP_TYPE | LOOP_TASK };
	_Atomic u64 *counters;
	int master = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC);
	pid_t pids[3], looper;
	unsigned int i;

	check(master >= 0 && !grantpt(master) && !unlockpt(master), "ptmx: %m");
	share_memory();
	counters = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	check(counters != MAP_FAILED, "mmap: %m");
	for (i = 0; i < 3; i++) {
		worker.counter = &counters[i];
		*worker.terminal = 0;
		if (!i)
			check(!ptsname_r(master, worker.terminal, sizeof(worker.terminal)), "pts");
		lock_number = i;
		pids[i] = small_job(names[i], works);
	}
	rotate(20, 500, MTS_EVICT_OFF);
	expect_rotation(3);
	start_loop(&looper, kinds[0], pids[0], master);
	/* What the account holds, 10 s of a processor, is spent when half of that is. */
	sleep_ms(30000);
	for (i = 0; i < ARRAY_SIZE(kinds); i++) {
		if (i) {
			kill_and_join(looper);
			start_loop(&looper, kinds[i], pids[0], master);
			sleep_ms(1000);
		}
		expect_no_gain(counters, kinds[i]);
		if (!i)
			check(get_stats().call_refused, "no call was refused");
	}
	kill_and_join(looper);
	close(master);
}

GUEST_TESTS(TEST(a_parent_outside_does_not_wait_for_a_frozen_job), TEST(nor_for_a_cgroup_below_it),
	    TEST(a_move_within_a_job_is_no_call), TEST(a_task_that_is_moved_into_it_runs),
	    TEST(so_does_what_that_task_starts),
	    TEST_WITHIN(a_signal_that_is_to_end_a_frozen_process_does, 240),
	    TEST_WITHIN(nor_is_a_signal_lost_among_many, 240),
	    TEST_WITHIN(then_the_others_take_turns_again, 180),
	    TEST_WITHIN(a_writer_to_a_pipe_does_not_wait_for_a_frozen_reader, 240),
	    TEST_WITHIN(nor_does_one_to_a_socket, 240),
	    TEST_WITHIN(a_lock_that_is_waited_for_is_one_call, 180),
	    TEST_WITHIN(ten_lock_holders_share_one_budget, 240), TEST_SLOW(no_loop_gains, 240));

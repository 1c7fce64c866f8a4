// SPDX-License-Identifier: GPL-2.0
/*
 * What users and programs do to processes, while these are frozen or take turns: all of their
 * memory is evicted and comes back, and what they use of it is found out.
 */
#include "guest.h"

#include <linux/userfaultfd.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>

static void start_long_slices(void)
{
	start_hogs(HOG_RANDOM, 3, three_small);
	rotate_by_use(SMALL_BIN_MIB, 20000, MTS_EVICT_FULL);
	expect_rotation(3);
	/* The first switch takes seconds, and no job is given up in it. */
	expect_within(30000, get_status().state == MTS_STATE_RUNNING, "%s", describe());
}

static void start_short_slices(void)
{
	start_hogs(HOG_RANDOM, 3, three_small);
	rotate_by_use(SMALL_BIN_MIB, 250, MTS_EVICT_FULL);
	expect_rotation(3);
}

/* After all of it: the rotation still turns, and ends with everybody awake. */
static void expect_sound(void)
{
	rotate_by_use(SMALL_BIN_MIB, 250, MTS_EVICT_FULL);
	if (get_status().jobs >= 3)
		wait_rounds(2);
	set_mode(MTS_MODE_OFF);
	expect_all_thawed(1000);
}

/* ---- signals ---------------------------------------------------------------------- */

static void killed_while_frozen(void)
{
	struct hog *hog;
	u64 began;

	start_long_slices();
	hog = frozen_hog();
	began = now_ms();
	kill(hog->pid, SIGKILL);
	check(join(hog->pid, 2000) == 128 + SIGKILL, "it ended otherwise");
	note("it ended after %llu ms", (unsigned long long)(now_ms() - began));
	expect_within(2000, !find_job(hog->name, NULL), "%s", describe());
	expect_within(2000, !cg_exists(hog->cgroup), "its cgroup is still there");
	*hog = hogs[--nhogs];
	expect_sound();
}

static void all_killed_while_rotating(void)
{
	unsigned int i;

	start_short_slices();
	for (i = 0; i < 3; i++)
		kill(hogs[i].pid, SIGKILL);
	for (i = 0; i < 3; i++)
		join(hogs[i].pid, 3000);
	expect_within(3000, !count_jobs(), "%s", describe());
	expect_within(3000, get_status().state == MTS_STATE_IDLE && !get_status().frozen, "%s",
		      describe());
	nhogs = 0;
}

/* A stopped process stays stopped, frozen or not, and goes on when it is told to. */
static void stopped_and_continued(void)
{
	struct hog *hog;
	u64 progress;

	start_short_slices();
	hog = &hogs[1];
	kill(hog->pid, SIGSTOP);
	expect_within(20000, job_named(hog->name).slices >= 2, "%s", describe());
	expect_within(5000, process_state(hog->pid) == 'T', "its state is %c",
		      process_state(hog->pid));
	progress = hog_progress(hog);
	wait_rounds(2);
	check(hog_progress(hog) == progress, "it runs though it is stopped");
	check(!job_named(hog->name).freeze_failures, "it did not freeze: %s", describe());
	kill(hog->pid, SIGCONT);
	hog_expect_progress(hog, 20000);
	expect_sound();
}

static void stopped_and_continued_while_frozen(void)
{
	struct hog *hog;
	u64 progress;

	start_long_slices();
	hog = frozen_hog();
	progress = hog_progress(hog);
	kill(hog->pid, SIGSTOP);
	kill(hog->pid, SIGCONT);
	sleep_ms(300);
	kill(hog->pid, SIGSTOP);
	sleep_ms(300);
	check(hog_progress(hog) == progress, "signals woke a frozen process");
	set_mode(MTS_MODE_OFF);
	expect_within(3000, process_state(hog->pid) == 'T', "thawed, its state is %c",
		      process_state(hog->pid));
	kill(hog->pid, SIGCONT);
	expect_sound();
}

/* ---- ptrace ----------------------------------------------------------------------- */

static void expect_stopped(pid_t pid, unsigned int ms)
{
	int status = 0;

	if (!wait_until(waitpid(pid, &status, WNOHANG | __WALL) == pid, ms))
		fail("%d has not stopped for its tracer in %u ms, its state is %c: %s", pid, ms,
		     process_state(pid), describe());
	check(WIFSTOPPED(status), "status %x", status);
}

static void traced_while_rotating(void)
{
	struct hog *hog;
	int i;

	start_short_slices();
	hog = &hogs[2];
	for (i = 0; i < 3; i++) {
		u64 slices = job_named(hog->name).slices;

		check(!ptrace(PTRACE_SEIZE, hog->pid, 0, 0), "seize: %m");
		check(!ptrace(PTRACE_INTERRUPT, hog->pid, 0, 0), "interrupt: %m");
		expect_stopped(hog->pid, 20000);
		expect_within(30000, job_named(hog->name).slices >= slices + 2, "%s", describe());
		check(!ptrace(PTRACE_DETACH, hog->pid, 0, 0), "detach: %m");
		hog_expect_progress(hog, 20000);
	}
	check(!job_named(hog->name).freeze_failures, "it did not freeze: %s", describe());
	expect_sound();
}

static void attached_while_frozen(void)
{
	struct hog *hog;
	u64 progress;

	start_long_slices();
	hog = frozen_hog();
	check(!ptrace(PTRACE_ATTACH, hog->pid, 0, 0), "attach: %m");
	progress = hog_progress(hog);
	/* The kernel lets a frozen process stop for its tracer, and freezes it again. */
	wait_until(waitpid(hog->pid, NULL, WNOHANG | __WALL) == hog->pid, 1000);
	check(hog_progress(hog) == progress, "it ran");
	set_mode(MTS_MODE_OFF);
	expect_within(3000, process_state(hog->pid) == 't', "its state is %c",
		      process_state(hog->pid));
	check(!ptrace(PTRACE_DETACH, hog->pid, 0, 0), "detach: %m");
	expect_sound();
}

static void tracer_dies(void)
{
	struct hog *hog;
	pid_t pid;

	start_short_slices();
	hog = &hogs[0];
	pid = spawn();
	if (!pid) {
		mts_close();
		if (ptrace(PTRACE_SEIZE, hog->pid, 0, 0) ||
		    ptrace(PTRACE_INTERRUPT, hog->pid, 0, 0))
			_exit(1);
		pause();
		_exit(0);
	}
	expect_within(5000, process_state(hog->pid) == 't', "its state is %c",
		      process_state(hog->pid));
	wait_rounds(1);
	kill_and_join(pid);
	hog_expect_progress(hog, 20000);
	expect_sound();
}

/* ---- vfork ------------------------------------------------------------------------ */

struct vforker {
	_Atomic u32 entered;
	_Atomic bool go_on;
	_Atomic u32 born;
	_Atomic int status;
};

static struct vforker *vforker;

static __attribute__((noinline)) int vfork_and_wait(void)
{
	pid_t pid = vfork();
	int status = 0;

	if (!pid) {
		vforker->born++;
		while (!vforker->go_on)
			sleep_ms(20);
		_exit(3);
	}
	return waitpid(pid, &status, 0) == pid ? WEXITSTATUS(status) : -1;
}

static pid_t start_vforker(u32 flags)
{
	pid_t pid;

	vforker = mmap(NULL, sizeof(*vforker), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		       -1, 0);
	check(vforker != MAP_FAILED, "mmap: %m");
	pid = spawn();
	if (!pid) {
		if (try_create("vforker", flags | MTS_JOB_ENTER, NULL))
			_exit(101);
		mts_close();
		_exit(vfork_and_wait());
	}
	expect_within(30000, vforker->born, "no child was born: %s", describe());
	return pid;
}

/* The parent waits for its child where signals do not reach it: it counts as frozen. */
static void vfork_parent_freezes(void)
{
	pid_t pid;

	start_short_slices();
	pid = start_vforker(0);
	expect_within(30000, job_named("vforker").frozen_total_ns, "never frozen: %s", describe());
	wait_rounds(2);
	check(!job_named("vforker").freeze_failures, "it did not freeze: %s", describe());
	vforker->go_on = true;
	check(join(pid, 10000) == 3, "the child's status was lost");
	/* A switch may be under way. */
	expect_soon(!find_job("vforker", NULL), "%s", describe());
	expect_sound();
}

/* Parent and child are different jobs, which wait for each other. */
static void vfork_under_each(void)
{
	pid_t pid;

	start_short_slices();
	pid = start_vforker(MTS_JOB_EACH);
	check(find_job("vforker.1", NULL), "the child has no job: %s", describe());
	wait_rounds(3);
	check(!job_named("vforker").freeze_failures, "it did not freeze: %s", describe());
	vforker->go_on = true;
	check(join(pid, 15000) == 3, "the child's status was lost");
	/* A switch may be under way. */
	expect_soon(!find_job("vforker", NULL) && !find_job("vforker.1", NULL), "%s", describe());
	expect_sound();
}

/* ---- tasks that do not freeze ----------------------------------------------------- */

/*
 * A process of the job "stuck", in state D until it is killed: the kernel reads a page for it
 * that nobody fills. (Frozen it would be in the middle of whatever else the kernel waits for.)
 */
static pid_t start_stuck(void)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register area = { .mode = UFFDIO_REGISTER_MODE_MISSING };
	struct iovec part = { .iov_len = PAGE };
	int ends[2], fd;
	pid_t pid;

	pid = spawn();
	if (!pid) {
		if (try_create("stuck", MTS_JOB_ENTER, NULL))
			_exit(101);
		mts_close();
		part.iov_base = mmap(NULL, PAGE, PROT_READ | PROT_WRITE,
				     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		area.range.start = (uintptr_t)part.iov_base;
		area.range.len = PAGE;
		fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC);
		if (fd < 0 || ioctl(fd, UFFDIO_API, &api) || ioctl(fd, UFFDIO_REGISTER, &area) ||
		    pipe(ends))
			_exit(102);
		vmsplice(ends[1], &part, 1, 0);
		_exit(103);
	}
	expect_within(30000, process_state(pid) == 'D', "its state is %c: %s", process_state(pid),
		      describe());
	return pid;
}

/* It runs on, the others take turns, and once it can freeze it does. */
static void who_does_not_freeze_runs_on(void)
{
	long mark = log_mark();
	pid_t pid;

	start_short_slices();
	pid = start_stuck();
	expect_within(30000, job_named("stuck").freeze_failures, "%s", describe());
	check(log_says(mark, "job stuck: did not freeze in 1 s"), "the log does not say why");
	expect_within(5000, !job_named("stuck").frozen_since_ns, "%s", describe());
	wait_rounds(2);
	check(get_status().state != MTS_STATE_STOPPED, "%s", describe());
	kill(pid, SIGKILL);
	check(join(pid, 5000) == 128 + SIGKILL, "it ended otherwise");
	expect_sound();
}

/* The rotor waits for one that has not frozen: it does not go on waiting when all are thawed. */
static void off_while_one_does_not_freeze(void)
{
	pid_t pid;

	start_short_slices();
	pid = start_stuck();
	expect_within(30000, cg_freeze_asked(BASE "/stuck"), "%s", describe());
	set_mode(MTS_MODE_OFF);
	expect_within(500, get_status().state == MTS_STATE_OFF, "%s", describe());
	check(!job_named("stuck").freeze_failures, "it came too late: %s", describe());
	kill_and_join(pid);
	expect_sound();
}

/* ---- forks ------------------------------------------------------------------------ */

static _Atomic u32 *forks;

/* Each child forks twice, until there have been so many. */
static void fork_bomb(u32 limit)
{
	while (++*forks < limit)
		if (!fork())
			fork();
	while (wait(NULL) > 0)
		;
	_exit(0);
}

static pid_t start_bomb(u32 flags, u32 limit)
{
	pid_t pid;

	forks = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	check(forks != MAP_FAILED, "mmap: %m");
	pid = spawn();
	if (!pid) {
		if (try_create("bomb", flags | MTS_JOB_ENTER, NULL))
			_exit(101);
		mts_close();
		fork_bomb(limit);
	}
	return pid;
}

static bool no_bomb(void)
{
	static struct mts_job_info jobs[MTS_MAX_JOBS];
	u32 i, n = get_jobs(jobs, ARRAY_SIZE(jobs), NULL);

	for (i = 0; i < n; i++)
		if (!strncmp(jobs[i].name, "bomb", 4))
			return false;
	return true;
}

static void fork_bomb_while_rotating(void)
{
	pid_t pid;

	start_short_slices();
	pid = start_bomb(0, 300);
	expect_within(30000, *forks >= 300, "%u forks: %s", *forks, describe());
	/* They end one after the other, each with memory to come back: in some rounds. */
	expect(join(pid, 180000), 0);
	expect_within(30000, no_bomb(), "%s", describe());
	expect_sound();
}

static void fork_bomb_under_each(void)
{
	struct mts_stats before = get_stats();
	pid_t pid;

	start_short_slices();
	pid = start_bomb(MTS_JOB_EACH, 200);
	expect_within(40000, *forks >= 200, "%u forks: %s", *forks, describe());
	/* As above. */
	expect(join(pid, 180000), 0);
	expect_within(20000, no_bomb(), "%u jobs: %s", count_jobs(), describe());
	check(get_stats().jobs_each > before.jobs_each, "no child had a job");
	expect_sound();
}

static void fork_bomb_killed_in_the_middle(void)
{
	pid_t pid;

	start_short_slices();
	pid = start_bomb(MTS_JOB_EACH, 100000);
	expect_within(30000, *forks >= 60, "%u forks: %s", *forks, describe());
	*forks = 100000;
	kill_and_join(pid);
	cg_write(BASE, "cgroup.kill", "1");
	expect_within(20000, !count_jobs(), "%u jobs: %s", count_jobs(), describe());
	nhogs = 0;
	expect_within(2000, !get_status().frozen, "%s", describe());
}

/* ---- cgroups ---------------------------------------------------------------------- */

static void emptied_while_frozen(void)
{
	struct hog *hog;

	start_long_slices();
	/* In a switch the rotor first finishes what it evicts. */
	expect_soon(get_status().state == MTS_STATE_RUNNING, "%s", describe());
	hog = frozen_hog();
	cg_make("t-refuge");
	cg_move("t-refuge", hog->pid);
	hog_expect_progress(hog, 2000);
	expect_within(3000, !find_job(hog->name, NULL), "%s", describe());
	expect_within(3000, !cg_exists(hog->cgroup), "its cgroup is still there");
	kill_and_join(hog->pid);
	*hog = hogs[--nhogs];
	expect_sound();
}

/* Emptied, and filled again before anybody looks. */
static void adopted_cgroup_emptied_while_frozen(void)
{
	struct hog other;
	struct mts_job_info job;
	u32 id;

	start_hogs(HOG_RANDOM, 2, three_small);
	cg_make("t-empty");
	hog_start(&other, &(struct hog_spec){ .cgroup = "t-empty", .mib = 8, .kind = HOG_RANDOM });
	id = add_job("t-empty", 0);
	rotate_by_use(SMALL_BIN_MIB, 250, MTS_EVICT_FULL);
	expect_within(30000, find_id(id, &job) && job.state == MTS_JOB_FROZEN, "%s", describe());
	kill(other.pid, SIGKILL);
	join(other.pid, 2000);
	expect_within(3000, !find_id(id, NULL), "%s", describe());
	check(cg_exists("t-empty") && !cg_freeze_asked("t-empty"),
	      "the empty cgroup was left frozen");
	expect_sound();
}

/*
 * A process that is moved into a frozen job is a call (test_calls.c). When it is not young any
 * more, after 10 s, it is frozen with the job.
 */
static void moved_into_a_frozen_job(void)
{
	struct hog *hog, guest;
	u64 progress;

	start_long_slices();
	cg_make("t-outside");
	hog_start(&guest, &(struct hog_spec){ .cgroup = "t-outside", .mib = 1, .kind = HOG_SPIN });
	hog = frozen_hog();
	cg_move(hog->cgroup, guest.pid);
	expect_within(2000, !cg_freeze_asked(hog->cgroup), "%s", describe());
	expect_soon(cg_frozen(hog->cgroup), "not frozen any more: %s", describe());
	progress = hog_progress(&guest);
	sleep_ms(200);
	check(hog_progress(&guest) == progress, "it runs in a frozen job");
	set_mode(MTS_MODE_OFF);
	hog_expect_progress(&guest, 2000);
	expect_sound();
}

/* ---- callers ---------------------------------------------------------------------- */

/* Whoever is killed in the middle of a command leaves nothing half done. */
static void callers_killed(void)
{
	int i;

	start_short_slices();
	for (i = 0; i < 40; i++) {
		pid_t pid = spawn();

		if (!pid) {
			try_create("", MTS_JOB_ENTER | (i % 2 ? MTS_JOB_EACH : 0), NULL);
			for (;;)
				get_status();
		}
		sleep_ms(i);
		kill_and_join(pid);
	}
	expect_within(5000, count_jobs() <= 4, "%u jobs: %s", count_jobs(), describe());
	expect_sound();
}

static void command_for_ever(int which)
{
	struct mts_config config = { .mask = MTS_CONFIG_BIN | MTS_CONFIG_SLICE };
	u32 id = 0;

	for (;;) {
		struct mts_job_create create = { .flags = which % 2 ? MTS_JOB_PIN : 0 };

		get_status();
		count_jobs();
		get_bins(NULL, 0);
		config.bin_bytes = (u64)(10 + which * 2) * MIB;
		config.slice_ns = (u64)(100 + which * 100) * NS_PER_MS;
		try_config(&config);
		if (!mts_ioctl(MTS_IOC_JOB_CREATE, &create))
			id = create.id;
		try_set(id, MTS_JOB_PIN, 0);
		try_remove(id);
	}
}

static void many_callers_at_once(void)
{
	pid_t pids[4];
	unsigned int i;

	start_short_slices();
	for (i = 0; i < ARRAY_SIZE(pids); i++) {
		pids[i] = spawn();
		if (!pids[i])
			command_for_ever((int)i);
	}
	wait_rounds(10);
	for (i = 0; i < ARRAY_SIZE(pids); i++)
		kill_and_join(pids[i]);
	check(get_status().state != MTS_STATE_STOPPED, "%s", describe());
	expect_sound();
}

/* A frozen job holds a lock that a running one waits for: nobody waits longer than the limit. */
static void frozen_holder_of_a_pipe(void)
{
	struct mts_job_info job;
	int ends[2];
	pid_t pid;
	char byte;

	start_short_slices();
	check(!pipe(ends), "pipe: %m");
	pid = spawn();
	if (!pid) {
		if (try_create("writer", MTS_JOB_ENTER, NULL))
			_exit(1);
		close(ends[0]);
		for (;;) {
			if (write(ends[1], "x", 1) != 1)
				_exit(0);
			sleep_ms(10);
		}
	}
	close(ends[1]);
	expect_within(30000, find_job("writer", &job), "%s", describe());
	wait_rounds(2);
	check(read(ends[0], &byte, 1) == 1, "read: %m");
	close(ends[0]);
	join(pid, 10000);
	expect_sound();
}

GUEST_TESTS(TEST(killed_while_frozen), TEST(all_killed_while_rotating), TEST(stopped_and_continued),
	    TEST(stopped_and_continued_while_frozen), TEST(traced_while_rotating),
	    TEST(attached_while_frozen), TEST(tracer_dies), TEST(vfork_parent_freezes),
	    TEST(vfork_under_each), TEST(who_does_not_freeze_runs_on),
	    TEST(off_while_one_does_not_freeze), TEST(fork_bomb_while_rotating),
	    TEST(fork_bomb_under_each), TEST(fork_bomb_killed_in_the_middle),
	    TEST(emptied_while_frozen), TEST(adopted_cgroup_emptied_while_frozen),
	    TEST(moved_into_a_frozen_job), TEST(callers_killed), TEST(many_callers_at_once),
	    TEST(frozen_holder_of_a_pipe));

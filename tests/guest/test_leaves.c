// SPDX-License-Identifier: GPL-2.0
/* MTS_JOB_EACH_LEAF: which processes of a tree get jobs of their own, and what that costs. */
#include "guest.h"

#include <pthread.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>

#define MAX 64

/* What processes see of themselves, in memory that all of them share. */
struct seen {
	_Atomic u32 done;
	_Atomic bool go_on;
	u64 ns; /* of a page, see pages_cost() */
	char cgroup[MAX][128];
};

static struct seen *seen;

static void share_seen(void)
{
	seen = mmap(NULL, sizeof(*seen), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	check(seen != MAP_FAILED, "mmap: %m");
}

static void look(int i)
{
	cg_of(getpid(), seen->cgroup[i], sizeof(seen->cgroup[i]));
	seen->done++;
}

static void look_and_stay(int i)
{
	look(i);
	while (!seen->go_on)
		sleep_ms(20);
}

/* A child that has so much memory, looks, and stays until it is told to go on. */
static void fork_sized(unsigned int mib, int i)
{
	if (fork())
		return;
	if (mib)
		touch(mib);
	look_and_stay(i);
	_exit(0);
}

static int wait_for_all(void)
{
	while (wait(NULL) > 0)
		;
	return 0;
}

/* In a job of its own with these flags: runs the function, whose result is the status. */
static pid_t start(const char *name, u32 flags, int (*act)(void))
{
	pid_t pid;

	share_seen();
	pid = spawn();
	if (pid)
		return pid;
	if (try_create(name, MTS_JOB_ENTER | flags, NULL))
		_exit(101);
	mts_close();
	_exit(act());
}

static void end(pid_t pid)
{
	seen->go_on = true;
	expect(join(pid, 20000), 0);
	expect_within(5000, !count_jobs(), "%u jobs are left: %s", count_jobs(), describe());
}

static bool is_in(int i, const char *job)
{
	return !strcmp(seen->cgroup[i], cg_job(job));
}

/* The process is in a job whose parent is this one. Return: the job's name. */
static const char *check_leaf(int i, const char *parent)
{
	const char *name = seen->cgroup[i] + strlen(BASE "/");

	check(!strncmp(seen->cgroup[i], BASE "/", strlen(BASE "/")) && strcmp(name, parent),
	      "process %d is in %s", i, seen->cgroup[i]);
	check(job_named(name).parent == job_named(parent).id, "%s: parent %u, %s is %u", name,
	      job_named(name).parent, parent, job_named(parent).id);
	return name;
}

/* A make of makes: each has a shell, which waits for a compiler. */
static int make_of_makes(void)
{
	int i, j;

	for (i = 0; i < 2; i++) {
		if (fork())
			continue;
		look(i);
		for (j = 0; j < 2; j++)
			if (!fork()) {
				look(2 + 2 * i + j);
				fork_sized(4, 6 + 2 * i + j);
				_exit(wait_for_all());
			}
		_exit(wait_for_all());
	}
	return wait_for_all();
}

static void a_recursive_make_has_as_many_jobs_as_compilers(void)
{
	pid_t pid = start("build", MTS_JOB_EACH_LEAF, make_of_makes);
	int i, j;

	expect_soon(seen->done == 10, "%u of 10 have looked; %s", seen->done, describe());
	for (i = 0; i < 6; i++)
		check(is_in(i, "build"), "make or shell %d is in %s", i, seen->cgroup[i]);
	for (i = 6; i < 10; i++) {
		check_leaf(i, "build");
		for (j = 6; j < i; j++)
			check(strcmp(seen->cgroup[i], seen->cgroup[j]), "%d and %d are both in %s",
			      i, j, seen->cgroup[i]);
	}
	check(count_jobs() == 5, "%s", describe());
	end(pid);
}

static int flat_make(void)
{
	int i;

	for (i = 0; i < 8; i++)
		fork_sized(4, i);
	return wait_for_all();
}

/* make -j8 in one directory: what --each=child does, too. */
static void a_flat_make_has_as_many_jobs_as_compilers(void)
{
	pid_t pid = start("flat", MTS_JOB_EACH_LEAF, flat_make);
	int i;

	expect_soon(seen->done == 8, "%u of 8 have looked; %s", seen->done, describe());
	for (i = 0; i < 8; i++)
		check_leaf(i, "flat");
	check(count_jobs() == 9, "%s", describe());
	end(pid);
}

static int one_child(void)
{
	fork_sized(32, 0);
	return wait_for_all();
}

/* Charges do not move: what the child had before is still its parent's. */
static void all_but_a_mebibyte_is_charged_to_the_leaf(void)
{
	pid_t pid = start("charge", MTS_JOB_EACH_LEAF, one_child);
	long long own, left;

	expect_soon(seen->done == 1, "%s", describe());
	own = cg_number(seen->cgroup[0], "memory.current");
	left = cg_number(cg_job("charge"), "memory.current");
	check(own > 30 * (long long)MIB, "%lld KiB in %s", own >> 10, seen->cgroup[0]);
	check(left < 3 * (long long)MIB, "%lld KiB are left with the parent", left >> 10);
	end(pid);
}

static int many_small(void)
{
	int i;

	for (i = 0; i < MAX; i++)
		fork_sized(0, i);
	return wait_for_all();
}

static void small_processes_stay(void)
{
	struct mts_stats before = get_stats();
	pid_t pid = start("small", MTS_JOB_EACH_LEAF, many_small);

	expect_soon(seen->done == MAX, "%u of %d have looked", seen->done, MAX);
	check(count_jobs() == 1, "%s", describe());
	check(get_stats().jobs_each == before.jobs_each, "jobs were made");
	end(pid);
}

/* Its parent has much, and the child has got copies of next to nothing of it. */
static int children_of_a_large_parent(void)
{
	touch(16);
	fork_sized(0, 0);
	fork_sized(4, 1);
	return wait_for_all();
}

static void what_is_shared_with_the_parent_does_not_count(void)
{
	pid_t pid = start("large", MTS_JOB_EACH_LEAF, children_of_a_large_parent);

	expect_soon(seen->done == 2, "%u of 2 have looked; %s", seen->done, describe());
	check(is_in(0, "large"), "a child without memory of its own is in %s", seen->cgroup[0]);
	check_leaf(1, "large");
	end(pid);
}

static int grows_itself(void)
{
	touch(8);
	look_and_stay(0);
	return 0;
}

/* Its memory so far is charged there. */
static void the_first_process_stays(void)
{
	pid_t pid = start("first", MTS_JOB_EACH_LEAF, grows_itself);

	expect_soon(seen->done == 1, "%s", describe());
	check(is_in(0, "first") && count_jobs() == 1, "it is in %s; %s", seen->cgroup[0],
	      describe());
	end(pid);
}

static int grows_and_has_children(void)
{
	if (!fork()) {
		touch(4);
		look(0);
		fork_sized(0, 1);
		fork_sized(4, 2);
		_exit(wait_for_all());
	}
	return wait_for_all();
}

static void a_leaf_has_leaves_of_its_own(void)
{
	pid_t pid = start("deep", MTS_JOB_EACH_LEAF, grows_and_has_children);
	const char *middle;

	expect_soon(seen->done == 3, "%u of 3 have looked; %s", seen->done, describe());
	middle = check_leaf(0, "deep");
	check(is_in(1, middle), "its small child is in %s", seen->cgroup[1]);
	check_leaf(2, middle);
	end(pid);
}

static void *thread_grows(void *unused)
{
	touch(4);
	return unused;
}

static int child_with_threads(void)
{
	pthread_t threads[4];
	int i;

	if (!fork()) {
		for (i = 0; i < 4; i++)
			pthread_create(&threads[i], NULL, thread_grows, NULL);
		for (i = 0; i < 4; i++)
			pthread_join(threads[i], NULL);
		look_and_stay(0);
		_exit(0);
	}
	return wait_for_all();
}

static void threads_that_grow_are_one_leaf(void)
{
	pid_t pid = start("threads", MTS_JOB_EACH_LEAF, child_with_threads);

	expect_soon(seen->done == 1, "%s", describe());
	check_leaf(0, "threads");
	check(count_jobs() == 2, "%s", describe());
	end(pid);
}

static int grows_when_told(void)
{
	if (!fork()) {
		while (!seen->go_on)
			sleep_ms(20);
		touch(4);
		look(0);
		_exit(0);
	}
	return wait_for_all();
}

static void switched_off_none_leaves(void)
{
	pid_t pid = start("off", MTS_JOB_EACH_LEAF, grows_when_told);

	expect_soon(find_job("off", NULL), "%s", describe());
	set_job(job_named("off").id, MTS_JOB_EACH_LEAF, 0);
	end(pid);
	check(is_in(0, "off"), "it is in %s", seen->cgroup[0]);
}

/* What was there before the cgroup became a job has its memory charged there: it stays. */
static void of_an_added_cgroup_only_newcomers_leave(void)
{
	pid_t pid;

	share_seen();
	cg_make("t-old");
	pid = spawn();
	if (!pid) {
		cg_write("t-old", "cgroup.procs", "0");
		look(0);
		while (!seen->go_on)
			sleep_ms(20);
		touch(4);
		look(1);
		fork_sized(4, 2);
		_exit(wait_for_all());
	}
	expect_soon(seen->done == 1, "it has not looked");
	add_job("t-old", MTS_JOB_EACH_LEAF);
	seen->go_on = true;
	expect(join(pid, 20000), 0);
	check(!strcmp(seen->cgroup[1], "t-old"), "the old process is in %s", seen->cgroup[1]);
	check(!strcmp(seen->cgroup[2], BASE "/t-old.1"), "the new one is in %s", seen->cgroup[2]);
}

/* Grows in a system call that lasts until go_on: it waits for a second half. */
static int grows_in_a_read(void)
{
	static char half[4 << 20];
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair))
		return 1;
	if (!fork()) {
		char *all = mmap(NULL, 2 * sizeof(half), PROT_READ | PROT_WRITE,
				 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		_exit(recv(pair[0], all, 2 * sizeof(half), MSG_WAITALL) < (ssize_t)sizeof(half));
	}
	if (write(pair[1], half, sizeof(half)) != sizeof(half))
		return 2;
	look_and_stay(0);
	return 0;
}

/* Fault: rmmod hung until the system call ended in which a leaf had grown. */
static void unload_waits_for_no_system_call(void)
{
	pid_t unloads, pid = start("reads", MTS_JOB_EACH_LEAF, grows_in_a_read);
	u64 began;

	expect_soon(seen->done == 1, "it has not written: %s", describe());
	sleep_ms(200);
	check(count_jobs() == 1, "the leaf has its job already: %s", describe());
	mts_close();
	began = now_ms();
	unloads = spawn();
	if (!unloads)
		_exit(!!module_unload());
	expect(join(unloads, 5000), 0);
	note("delete_module took %llu ms", (unsigned long long)(now_ms() - began));
	seen->go_on = true;
	expect(join(pid, 20000), 0);
	expect(module_load(""), 0);
	mts_open();
}

static int killed_while_growing(void)
{
	int i;

	for (i = 0; i < 50; i++) {
		pid_t pid = fork();

		if (!pid) {
			touch(8);
			_exit(0);
		}
		sleep_ms(i % 10);
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
	}
	return 0;
}

static void leaves_that_are_killed_leave_nothing(void)
{
	expect(join(start("killed", MTS_JOB_EACH_LEAF, killed_while_growing), 20000), 0);
	expect_within(5000, !count_jobs(), "%u jobs are left: %s", count_jobs(), describe());
	expect_within(5000, !cg_exists(cg_job("killed.1")), "a cgroup is left");
}

/* mtsctl's --each is for builds: a make that calls make must not be one job. */
static void mtsctl_each_finds_the_leaves(void)
{
	pid_t pid = spawn();

	if (!pid) {
		mts_close();
		execl("/bin/mtsctl", "mtsctl", "run", "--each", "--name", "build", "--", "sh", "-c",
		      "sh -c 'dd if=/dev/zero of=/dev/null bs=4M & dd if=/dev/zero of=/dev/null "
		      "bs=4M & wait'; true",
		      NULL);
		_exit(125);
	}
	expect_soon(find_job("build.1", NULL) && find_job("build.2", NULL), "%s", describe());
	cg_write(BASE, "cgroup.kill", "1");
	join(pid, 20000);
}

/* ---- costs ------------------------------------------------------------------------ */

/* Children that a configure script has: they execute something small. */
static int short_processes(void)
{
	int i;

	for (i = 0; i < 300; i++) {
		pid_t pid = fork();

		if (!pid) {
			execl("/bin/busybox", "true", NULL);
			_exit(1);
		}
		waitpid(pid, NULL, 0);
	}
	return 0;
}

static u64 time_of(u32 flags)
{
	u64 began = now_ns();

	expect(join(start("short", flags, short_processes), 60000), 0);
	return now_ns() - began;
}

static void short_processes_pay_at_most_a_twentieth(void)
{
	u64 without, with;

	time_of(0);
	without = time_of(0);
	with = time_of(MTS_JOB_EACH_LEAF);
	note("%lu us without, %lu us with", without / 1000, with / 1000);
	check(with <= without + without / 20, "%lu us without, %lu us with", without / 1000,
	      with / 1000);
}

/*
 * What a page costs that is touched and unmapped again, ns. Most of it is a page fault. The least
 * of some times: where the clock is the host's, others take time in between.
 */
#define PAGES 1024
#define TIMES 48

static u64 pages_cost(void)
{
	u64 began, least = ~0ull;
	int i, at;

	for (i = 0; i < TIMES; i++) {
		char *memory = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE,
				    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		if (memory == MAP_FAILED)
			_exit(3);
		madvise(memory, PAGES * PAGE, MADV_NOHUGEPAGE);
		began = now_ns();
		for (at = 0; at < PAGES; at++)
			((volatile char *)memory)[at * PAGE] = 1;
		munmap(memory, PAGES * PAGE);
		if (now_ns() - began < least)
			least = now_ns() - began;
	}
	return least / PAGES;
}

static int measures(void)
{
	pages_cost();
	seen->ns = pages_cost();
	return 0;
}

/* As a child: if its job has leaves it is one when it has run the first time. */
static int child_measures(void)
{
	if (!fork()) {
		measures();
		look(0);
		_exit(0);
	}
	return wait_for_all();
}

/* It sleeps: to look often takes time that others are measured by. */
static int stays(void)
{
	look(1);
	while (!seen->go_on)
		sleep_ms(2000);
	return 0;
}

static u64 cost_outside(void)
{
	pid_t pid = spawn();

	if (!pid) {
		mts_close();
		_exit(measures());
	}
	expect(join(pid, 60000), 0);
	return seen->ns;
}

/* Of a job with these flags, alone. */
static u64 cost_within(u32 flags)
{
	expect(join(start("pages", flags, child_measures), 60000), 0);
	expect_within(5000, !count_jobs(), "%u jobs are left: %s", count_jobs(), describe());
	return seen->ns;
}

static void check_cost(const char *what, u64 ns, u64 than)
{
	note("%s: %lu ns a page, else %lu", what, ns, than);
	check(ns <= than + than / 20, "%s: %lu ns a page, else %lu", what, ns, than);
}

/* From 6.2 on there is an event for each page, and all processes of the host pay. */
static void the_hook_on_growth_costs_little_and_only_while_there_are_leaves(void)
{
	u64 none, job;
	struct seen *others;
	pid_t pid;

	share_seen();
	none = cost_outside();
	job = cost_within(0);
	check_cost("in a leaf", cost_within(MTS_JOB_EACH_LEAF), job);
	check(!is_in(0, "pages"), "it has no job of its own");
	pid = start("stays", MTS_JOB_EACH_LEAF, stays);
	others = seen;
	expect_within(5000, others->done == 1, "it has not begun");
	share_seen();
	check_cost("beside a job with leaves", cost_outside(), none);
	others->go_on = true;
	expect(join(pid, 20000), 0);
	expect_within(5000, !count_jobs(), "%u jobs are left: %s", count_jobs(), describe());
	check_cost("after it", cost_outside(), none);
	check(seen->ns <= none + none / 200, "%lu ns a page, before %lu: the hook is there",
	      seen->ns, none);
}

GUEST_TESTS(TEST(a_recursive_make_has_as_many_jobs_as_compilers),
	    TEST(a_flat_make_has_as_many_jobs_as_compilers),
	    TEST(all_but_a_mebibyte_is_charged_to_the_leaf), TEST(small_processes_stay),
	    TEST(what_is_shared_with_the_parent_does_not_count), TEST(the_first_process_stays),
	    TEST(a_leaf_has_leaves_of_its_own), TEST(threads_that_grow_are_one_leaf),
	    TEST(switched_off_none_leaves), TEST(of_an_added_cgroup_only_newcomers_leave),
	    TEST(leaves_that_are_killed_leave_nothing), TEST(unload_waits_for_no_system_call),
	    TEST(mtsctl_each_finds_the_leaves), TEST(short_processes_pay_at_most_a_twentieth),
	    TEST(the_hook_on_growth_costs_little_and_only_while_there_are_leaves));

// SPDX-License-Identifier: GPL-2.0
/* Jobs: how they come, which processes are in them, how they go. */
#include "guest.h"

#include <pthread.h>
#include <spawn.h>
#include <sys/mman.h>

#define BURST 60

/* ---- coming and going ------------------------------------------------------------- */

static void create_moves_the_caller(void)
{
	struct mts_job_create create;
	char cgroup[256];
	pid_t pid = spawn();

	if (!pid) {
		if (try_create("entered", MTS_JOB_ENTER, &create))
			_exit(1);
		pause();
		_exit(0);
	}
	expect_within(5000, (cg_of(pid, cgroup, sizeof(cgroup)), !strcmp(cgroup, BASE "/entered")),
		      "it is in %s; %s", cgroup, describe());
	check(find_job("entered", NULL), "%s", describe());
	check(cg_key(cg_job("entered"), "cgroup.events", "populated") == 1, "not populated");
	kill_and_join(pid);
}

static void create_chooses_a_name(void)
{
	struct mts_job_create create;
	char expected[MTS_NAME_SIZE];

	expect(try_create("", 0, &create), 0);
	snprintf(expected, sizeof(expected), "job-%u", create.id);
	check(!strcmp(create.name, expected), "%s, should be %s", create.name, expected);
	check(cg_exists(cg_job(create.name)), "no cgroup %s", create.name);
}

/* All of the process, whichever thread asks. */
static void *enter_from_thread(void *argument)
{
	int *error = argument;

	*error = try_create("threads", MTS_JOB_ENTER, NULL);
	return NULL;
}

static void create_moves_all_threads(void)
{
	char text[64];
	pid_t pid = spawn();

	if (!pid) {
		pthread_t thread;
		int error = -1;

		pthread_create(&thread, NULL, enter_from_thread, &error);
		pthread_join(thread, NULL);
		cg_of(getpid(), text, sizeof(text));
		_exit(error ? 1 : strcmp(text, BASE "/threads") ? 2 : 0);
	}
	expect(join(pid, 5000), 0);
	expect_within(3000, !find_job("threads", NULL), "%s", describe());
}

static void job_goes_with_its_last_process(void)
{
	struct mts_stats before = get_stats();
	struct hog hog;

	hog_start(&hog, &(struct hog_spec){ .name = "last", .mib = 1, .kind = HOG_SLEEP });
	hog_kill(&hog);
	expect_within(3000, !find_job("last", NULL), "%s", describe());
	expect_within(3000, !cg_exists(cg_job("last")), "the cgroup is still there");
	check(get_stats().jobs_gone == before.jobs_gone + 1, "jobs_gone %llu",
	      get_stats().jobs_gone);
	create_job("last", 0);
}

static void job_stays_while_a_process_is_left(void)
{
	struct hog hog;
	pid_t pid = spawn();

	if (!pid) {
		create_job("stays", MTS_JOB_ENTER);
		if (!fork())
			for (;;)
				pause();
		_exit(0);
	}
	expect(join(pid, 5000), 0);
	/* Another one that comes and goes shows that the module has looked. */
	hog_start(&hog, &(struct hog_spec){ .name = "other", .mib = 1, .kind = HOG_SLEEP });
	hog_kill(&hog);
	expect_within(3000, !find_job("other", NULL), "%s", describe());
	check(find_job("stays", NULL), "it is gone though a process is left");
	cg_write(cg_job("stays"), "cgroup.kill", "1");
	expect_within(3000, !find_job("stays", NULL) && !cg_exists(cg_job("stays")), "%s",
		      describe());
}

static void job_that_never_had_a_process_stays(void)
{
	struct hog hog;

	create_job("empty", 0);
	hog_start(&hog, &(struct hog_spec){ .name = "other", .mib = 1, .kind = HOG_SLEEP });
	hog_kill(&hog);
	expect_within(3000, !find_job("other", NULL), "%s", describe());
	check(find_job("empty", NULL) && cg_exists(cg_job("empty")), "it is gone");
}

static void rmdir_behind_our_back(void)
{
	struct mts_stats before = get_stats();

	create_job("vanishes", 0);
	expect(cg_remove(cg_job("vanishes")), 0);
	expect_within(3000, !find_job("vanishes", NULL), "%s", describe());
	check(get_stats().jobs_gone == before.jobs_gone + 1, "jobs_gone %llu",
	      get_stats().jobs_gone);

	cg_make("t-vanishes");
	add_job("t-vanishes", 0);
	expect(cg_remove("t-vanishes"), 0);
	expect_within(3000, !count_jobs(), "%s", describe());
}

/* What its processes have made below it is empty, too. */
static void cgroups_below_go_with_the_job(void)
{
	char below[300], deeper[320];
	struct hog hog;

	hog_start(&hog, &(struct hog_spec){ .name = "parent", .mib = 1, .kind = HOG_SLEEP });
	snprintf(below, sizeof(below), CGROUPS "%s/one", cg_job("parent"));
	snprintf(deeper, sizeof(deeper), "%s/two", below);
	check(!mkdir(below, 0755) && !mkdir(deeper, 0755), "mkdir: %m");
	snprintf(below, sizeof(below), CGROUPS "%s/three", cg_job("parent"));
	check(!mkdir(below, 0755), "mkdir: %m");
	hog_kill(&hog);
	expect_within(3000, !find_job("parent", NULL), "%s", describe());
	expect_within(3000, !cg_exists(cg_job("parent")), "its cgroup is left");
	create_job("parent", 0);
}

/* ---- jobs that end although their work goes on ------------------------------------- */

static struct mts_gone_info latest_gone(void)
{
	struct mts_gone_info gone = { .id = 0 };
	struct mts_list list = { .buf = (uintptr_t)&gone, .count = 1, .elem_size = sizeof(gone) };

	expect(mts_ioctl(MTS_IOC_GONE, &list), 0);
	return gone;
}

/* As su does with pam_systemd, and systemd-run --scope. */
static void a_last_process_that_moves_away_is_news(void)
{
	struct mts_stats before = get_stats(), after;
	long mark = log_mark();
	struct mts_gone_info gone;
	struct hog hog;
	struct stat st;

	hog_start(&hog, &(struct hog_spec){ .name = "leaver", .mib = 1, .kind = HOG_SLEEP });
	cg_make("t-scope");
	cg_move("t-scope", hog.pid);
	expect_within(3000, !find_job("leaver", NULL), "%s", describe());
	after = get_stats();
	check(after.jobs_moved == before.jobs_moved + 1 && after.jobs_lapsed == before.jobs_lapsed,
	      "%llu moved, %llu lapsed", after.jobs_moved - before.jobs_moved,
	      after.jobs_lapsed - before.jobs_lapsed);
	check(log_says(mark, "job leaver"), "the log does not say it");
	gone = latest_gone();
	check(!stat(CGROUPS "t-scope", &st), "stat: %m");
	check(gone.id == hog.id && gone.why == MTS_GONE_MOVED && !strcmp(gone.name, "leaver"),
	      "%u %u %s", gone.id, gone.why, gone.name);
	check(gone.moved_to == st.st_ino && gone.gone_ns <= now_ns(), "to %llu", gone.moved_to);
}

/* A container that restarts: its cgroup is empty for a moment. */
static void an_added_cgroup_that_empties_is_news(void)
{
	struct mts_stats before = get_stats(), after;
	long mark = log_mark();
	struct mts_gone_info gone;
	struct hog hog;
	u32 id;

	cg_make("t-restarts");
	hog_start(&hog, &(struct hog_spec){ .cgroup = "t-restarts", .mib = 1, .kind = HOG_SLEEP });
	id = add_job("t-restarts", 0);
	hog_kill(&hog);
	expect_within(3000, !count_jobs(), "%s", describe());
	after = get_stats();
	check(after.jobs_lapsed == before.jobs_lapsed + 1 && after.jobs_moved == before.jobs_moved,
	      "%llu moved, %llu lapsed", after.jobs_moved - before.jobs_moved,
	      after.jobs_lapsed - before.jobs_lapsed);
	check(log_says(mark, "job t-restarts"), "the log does not say it");
	gone = latest_gone();
	check(gone.id == id && gone.why == MTS_GONE_EMPTY && !gone.moved_to, "%u %u", gone.id,
	      gone.why);
}

static void a_job_that_ends_as_usual_is_no_news(void)
{
	struct mts_stats before = get_stats(), after;
	long mark = log_mark();
	struct hog hog;

	hog_start(&hog, &(struct hog_spec){ .name = "usual", .mib = 1, .kind = HOG_SLEEP });
	hog_kill(&hog);
	expect_within(3000, !find_job("usual", NULL), "%s", describe());
	after = get_stats();
	check(after.jobs_gone == before.jobs_gone + 1 && after.jobs_moved == before.jobs_moved &&
		      after.jobs_lapsed == before.jobs_lapsed,
	      "%llu gone", after.jobs_gone - before.jobs_gone);
	check(!log_says(mark, "job usual"), "the log speaks of it");
}

static void remove_leaves_processes_running(void)
{
	struct hog hog;
	char cgroup[256];

	hog_start(&hog, &(struct hog_spec){ .name = "freed", .mib = 1, .kind = HOG_SPIN });
	remove_job(hog.id);
	check(!find_job("freed", NULL), "%s", describe());
	hog_expect_progress(&hog, 3000);
	cg_of(hog.pid, cgroup, sizeof(cgroup));
	check(!strcmp(cgroup, BASE "/freed"), "it was moved to %s", cgroup);
	check(!cg_freeze_asked(BASE "/freed"), "cgroup.freeze is 1");
}

static void add_takes_a_cgroup_whole(void)
{
	struct hog above, below;
	struct mts_job_info job;

	cg_make("t-tree");
	expect(cg_write("t-tree", "cgroup.subtree_control", "+memory"), 0);
	cg_make("t-tree/a");
	cg_make("t-tree/b");
	hog_start(&above, &(struct hog_spec){ .cgroup = "t-tree/a", .mib = 4, .kind = HOG_SPIN });
	hog_start(&below, &(struct hog_spec){ .cgroup = "t-tree/b", .mib = 6, .kind = HOG_SPIN });
	add_job("t-tree", 0);
	expect_within(3000, (get_status(), job = job_named("t-tree"), job.demand >= 10 * MIB),
		      "its demand is %llu KiB", job.demand >> 10);
	hog_kill(&above);
	check(find_job("t-tree", NULL), "gone with one of its two processes");
	hog_kill(&below);
	expect_within(3000, !find_job("t-tree", NULL), "%s", describe());
	check(cg_exists("t-tree") && cg_exists("t-tree/a"),
	      "a cgroup that is not ours was removed");
}

/* ---- EACH ------------------------------------------------------------------------- */

/* What processes see of themselves, in memory that all of them share. */
struct seen {
	_Atomic u32 done;
	_Atomic u32 forks;
	_Atomic bool go_on;
	struct {
		_Atomic pid_t pid;
		char cgroup[128];
	} of[BURST];
};

static struct seen *seen;

static void share_seen(void)
{
	seen = mmap(NULL, sizeof(*seen), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	check(seen != MAP_FAILED, "mmap: %m");
}

static void look(int i)
{
	cg_of(getpid(), seen->of[i].cgroup, sizeof(seen->of[i].cgroup));
	seen->of[i].pid = getpid();
	seen->done++;
}

static void look_and_stay(int i)
{
	look(i);
	while (!seen->go_on)
		sleep_ms(20);
	_exit(0);
}

/* In a job of its own that has EACH: runs the function, whose result is the status. */
static pid_t start_each(const char *name, int (*act)(void))
{
	pid_t pid;

	share_seen();
	pid = spawn();
	if (pid)
		return pid;
	if (try_create(name, MTS_JOB_ENTER | MTS_JOB_EACH, NULL))
		_exit(101);
	mts_close();
	_exit(act());
}

static int fork_burst(void)
{
	int i;

	for (i = 0; i < BURST; i++) {
		pid_t pid = fork();

		if (pid < 0)
			return 102;
		if (!pid)
			look_and_stay(i);
	}
	while (wait(NULL) > 0)
		;
	return 0;
}

static void check_own_jobs(const char *parent, int n)
{
	struct mts_job_info job, each = job_named(parent);
	int i, j;

	for (i = 0; i < n; i++) {
		const char *name = seen->of[i].cgroup;

		check(!strncmp(name, BASE "/", strlen(BASE "/")), "child %d is in %s", i, name);
		name += strlen(BASE "/");
		check(!strncmp(name, parent, strlen(parent)) && name[strlen(parent)] == '.',
		      "child %d is in %s", i, name);
		for (j = 0; j < i; j++)
			check(strcmp(seen->of[i].cgroup, seen->of[j].cgroup),
			      "children %d and %d are both in %s", i, j, name);
		job = job_named(name);
		check(job.parent == each.id && !job.flags, "%s: parent %u, flags %x", name,
		      job.parent, job.flags);
	}
}

/* The very first that a child does is to look where it is. */
static void each_burst(void)
{
	struct mts_stats before = get_stats();
	pid_t pid = start_each("burst", fork_burst);

	expect_soon(seen->done == BURST, "%u of %d children have looked", seen->done, BURST);
	check_own_jobs("burst", BURST);
	check(count_jobs() == BURST + 1, "%u jobs", count_jobs());
	check(get_stats().jobs_each == before.jobs_each + BURST, "jobs_each %llu more",
	      get_stats().jobs_each - before.jobs_each);
	check(get_stats().each_missed == before.each_missed, "some were missed");
	seen->go_on = true;
	expect(join(pid, 20000), 0);
	expect_within(5000, !count_jobs(), "%u jobs are left: %s", count_jobs(), describe());
	expect_within(2000, !cg_exists(cg_job("burst.1")), "a cgroup is left");
}

static int fork_when_told(void)
{
	while (!seen->forks)
		sleep_ms(20);
	if (!fork())
		look_and_stay(0);
	return wait(NULL) > 0 ? 0 : 102;
}

/* As it is when the child is born. */
static void each_child_has_its_parents_pause_limit(void)
{
	pid_t pid = start_each("heir", fork_when_told);

	expect_soon(find_job("heir", NULL), "%s", describe());
	pause_job(job_named("heir").id, 7000 * NS_PER_MS);
	seen->forks = 1;
	expect_soon(seen->done, "no child has looked: %s", describe());
	check(job_named("heir.1").max_pause_ns == 7000 * NS_PER_MS, "a limit of %llu ns",
	      job_named("heir.1").max_pause_ns);
	seen->go_on = true;
	expect(join(pid, 20000), 0);
}

/* Whoever the child is. */
static void each_child_is_of_its_parents_user(void)
{
	struct mts_job_create create = { .name = "hers",
					 .flags = MTS_JOB_ENTER | MTS_JOB_EACH | MTS_JOB_USER,
					 .user = 1000 };
	pid_t pid;

	share_seen();
	pid = spawn();
	if (!pid) {
		if (mts_ioctl(MTS_IOC_JOB_CREATE, &create))
			_exit(101);
		mts_close();
		seen->forks = 1;
		_exit(fork_when_told());
	}
	expect_soon(seen->done, "no child has looked: %s", describe());
	check(job_named("hers").user == 1000 && job_named("hers.1").user == 1000, "users %u and %u",
	      job_named("hers").user, job_named("hers.1").user);
	seen->go_on = true;
	expect(join(pid, 20000), 0);
}

static int fork_grandchildren(void)
{
	pid_t pid = fork();

	if (!pid) {
		look(0);
		if (!fork()) {
			look(1);
			if (!fork())
				look_and_stay(2);
			wait(NULL);
			_exit(0);
		}
		wait(NULL);
		_exit(0);
	}
	return waitpid(pid, NULL, 0) == pid ? 0 : 1;
}

static void each_grandchildren_stay(void)
{
	pid_t pid = start_each("family", fork_grandchildren);

	expect_soon(seen->done == 3, "%u of 3 have looked; %s", seen->done, describe());
	check(!strcmp(seen->of[0].cgroup, BASE "/family.1"), "the child is in %s",
	      seen->of[0].cgroup);
	check(!strcmp(seen->of[1].cgroup, BASE "/family.1"), "the grandchild is in %s",
	      seen->of[1].cgroup);
	check(!strcmp(seen->of[2].cgroup, BASE "/family.1"), "its child is in %s",
	      seen->of[2].cgroup);
	check(count_jobs() == 2, "%s", describe());
	seen->go_on = true;
	expect(join(pid, 5000), 0);
	expect_within(3000, !count_jobs(), "%s", describe());
}

/* The child shares our memory: it does no more than look. */
static __attribute__((noinline)) int vfork_child(int number)
{
	pid_t pid = vfork();
	int status;

	if (!pid) {
		look(number);
		_exit(7);
	}
	return waitpid(pid, &status, 0) == pid && WEXITSTATUS(status) == 7 ? 0 : 1;
}

static int vfork_children(void)
{
	int i;

	for (i = 0; i < 5; i++)
		if (vfork_child(i))
			return 1;
	return 0;
}

static void each_vfork(void)
{
	pid_t pid = start_each("vfork", vfork_children);
	char expected[64];
	int i;

	expect(join(pid, 10000), 0);
	for (i = 0; i < 5; i++) {
		snprintf(expected, sizeof(expected), BASE "/vfork.%d", i + 1);
		check(!strcmp(seen->of[i].cgroup, expected), "child %d is in %s", i,
		      seen->of[i].cgroup);
	}
	expect_within(3000, !count_jobs(), "%s", describe());
}

extern char **environ;

static int spawn_children(void)
{
	char *const arguments[] = { "sh", "-c", "grep -q mts/spawn.[0-9] /proc/self/cgroup", NULL };
	pid_t pid;
	int i, status;

	for (i = 0; i < 3; i++) {
		if (posix_spawn(&pid, "/bin/sh", NULL, NULL, arguments, environ))
			return 1;
		if (waitpid(pid, &status, 0) != pid)
			return 2;
		if (status)
			return 3;
	}
	return 0;
}

static void each_posix_spawn(void)
{
	expect(join(start_each("spawn", spawn_children), 20000), 0);
	expect_within(3000, !count_jobs(), "%s", describe());
}

static void *thread_looks(void *argument)
{
	look((int)(intptr_t)argument);
	while (!seen->go_on)
		sleep_ms(20);
	return NULL;
}

static int start_threads(void)
{
	pthread_t threads[8];
	intptr_t i;

	for (i = 0; i < 8; i++)
		if (pthread_create(&threads[i], NULL, thread_looks, (void *)i))
			return 1;
	for (i = 0; i < 8; i++)
		pthread_join(threads[i], NULL);
	return 0;
}

static void each_leaves_threads_alone(void)
{
	pid_t pid = start_each("threaded", start_threads);
	int i;

	expect_soon(seen->done == 8, "%u of 8 threads run", seen->done);
	for (i = 0; i < 8; i++)
		check(!strcmp(seen->of[i].cgroup, BASE "/threaded"), "thread %d is in %s", i,
		      seen->of[i].cgroup);
	check(count_jobs() == 1, "%s", describe());
	seen->go_on = true;
	expect(join(pid, 5000), 0);
}

static void fork_one(void (*act)(int number))
{
	pid_t pid = fork();

	if (!pid) {
		if (act)
			act(0);
		_exit(0);
	}
	waitpid(pid, NULL, 0);
	seen->forks++;
}

/* One child after the other, each has ended before the next. */
static int fork_while_told(void)
{
	while (!seen->go_on)
		fork_one(NULL);
	fork_one(look);
	return 0;
}

static void each_switched_off(void)
{
	struct mts_stats stats = get_stats();
	pid_t pid = start_each("switched", fork_while_told);
	u32 forks;

	expect_within(5000, get_stats().jobs_each > stats.jobs_each + 2,
		      "no children became jobs; %s", describe());
	set_job(job_named("switched").id, MTS_JOB_EACH, 0);
	/* The child that is on its way may still get a job; the one after it does not. */
	forks = seen->forks;
	expect_soon(seen->forks >= forks + 2, "it forks no more; %s", describe());
	stats = get_stats();
	expect_soon(seen->forks >= forks + 10, "it forks no more; %s", describe());
	check(get_stats().jobs_each == stats.jobs_each, "children still become jobs");
	expect_soon(count_jobs() == 1, "%s", describe());
	seen->go_on = true;
	expect(join(pid, 5000), 0);
	check(!strcmp(seen->of[0].cgroup, BASE "/switched"), "a child is in %s",
	      seen->of[0].cgroup);
}

/* Children of whatever is in an adopted cgroup, too, and of what lies below it. */
static void each_in_an_added_cgroup(void)
{
	pid_t pid;

	share_seen();
	cg_make("t-each");
	expect(cg_write("t-each", "cgroup.subtree_control", "+memory"), 0);
	cg_make("t-each/below");
	add_job("t-each", MTS_JOB_EACH);
	pid = spawn();
	if (!pid) {
		cg_write("t-each/below", "cgroup.procs", "0");
		if (!fork())
			look_and_stay(0);
		wait(NULL);
		_exit(0);
	}
	expect_soon(seen->done == 1, "the child has not looked");
	check(!strcmp(seen->of[0].cgroup, BASE "/t-each.1"), "the child is in %s",
	      seen->of[0].cgroup);
	seen->go_on = true;
	expect(join(pid, 5000), 0);
}

/* What is asked of a cgroup that is there: the caller is in it. The job has its name. */
static int enter_here(const char *cgroup, u32 flags, u32 each_max)
{
	struct mts_job_submit submit = { .flags = flags | MTS_JOB_HERE, .each_max = each_max };
	int error;

	submit.cgroup_fd = cg_open(cgroup, O_PATH | O_DIRECTORY);
	error = mts_ioctl(MTS_IOC_JOB_SUBMIT, &submit);
	close(submit.cgroup_fd);
	check(error || !strcmp(submit.name, strrchr(cgroup, '/') + 1), "its name is '%s'",
	      submit.name);
	return error;
}

/* User 1000's: a directory, and in it a cgroup that is to be a job. */
static void make_theirs(void)
{
	char path[128];

	cg_make("t-user");
	expect(cg_write("t-user", "cgroup.subtree_control", "+memory"), 0);
	snprintf(path, sizeof(path), "%s/t-user", CGROUPS);
	check(!chown(path, 1000, 1001), "chown: %m");
	cg_make("t-user/sim");
}

static void check_owner(const char *cgroup, const char *file)
{
	char path[256];
	struct stat st;

	snprintf(path, sizeof(path), "%s/%s/%s", CGROUPS, cgroup, file);
	check(!stat(path, &st), "%s: %m", path);
	check(st.st_uid == 1000 && st.st_gid == 1001, "%s belongs to %u:%u", path, st.st_uid,
	      st.st_gid);
}

static int fork_three(void)
{
	for (int i = 0; i < 3; i++)
		if (!fork())
			look_and_stay(i);
	while (wait(NULL) > 0)
		;
	return 0;
}

/* The job is another process's cgroup: it starts the children when it is told. */
static pid_t start_here(u32 each_max)
{
	pid_t pid;

	make_theirs();
	share_seen();
	pid = spawn();
	if (!pid) {
		while (!seen->forks)
			sleep_ms(20);
		_exit(fork_three());
	}
	cg_move("t-user/sim", pid);
	expect(enter_here("t-user/sim", MTS_JOB_EACH, each_max), 0);
	seen->forks = 1;
	expect_soon(seen->done == 3, "%u of 3 have looked", seen->done);
	return pid;
}

/* Beside the job's cgroup, for the owner of the directory; and mts removes them. */
static void each_here(void)
{
	pid_t pid = start_here(0);
	char path[64];
	int i;

	for (i = 0; i < 3; i++) {
		snprintf(path, sizeof(path), "t-user/sim.%d", i + 1);
		check(!strncmp(seen->of[i].cgroup, "t-user/sim.", strlen("t-user/sim.")),
		      "child %d is in %s", i, seen->of[i].cgroup);
		check_owner(path, "");
		check_owner(path, "cgroup.procs");
		check_owner(path, "cgroup.freeze");
	}
	check(count_jobs() == 4, "%s", describe());
	check(job_named("sim.1").parent == job_named("sim").id, "%s", describe());
	seen->go_on = true;
	expect(join(pid, 5000), 0);
	expect_within(5000, !count_jobs() && !cg_exists("t-user/sim.1"), "left: %s", describe());
	check(cg_exists("t-user/sim"), "a cgroup that mts has not made is gone");
}

/* The others stay where they were born. */
static void each_here_keeps_to_its_number(void)
{
	pid_t pid = start_here(2);
	int i, own = 0;

	for (i = 0; i < 3; i++)
		own += !!strcmp(seen->of[i].cgroup, "t-user/sim");
	check(own == 2 && count_jobs() == 3, "%d have jobs: %s", own, describe());
	check(get_stats().each_missed, "nothing was missed");
	seen->go_on = true;
	expect(join(pid, 5000), 0);
}

/* A cgroup of that name is the user's: it is left alone. */
static void each_here_name_taken(void)
{
	pid_t pid;

	make_theirs();
	cg_make("t-user/sim.1");
	share_seen();
	pid = spawn();
	if (!pid) {
		while (!seen->forks)
			sleep_ms(20);
		_exit(fork_three());
	}
	cg_move("t-user/sim", pid);
	expect(enter_here("t-user/sim", MTS_JOB_EACH, 0), 0);
	seen->forks = 1;
	expect_soon(seen->done == 3, "%u of 3 have looked", seen->done);
	check(count_jobs() == 4 && cg_exists("t-user/sim.4"), "%s", describe());
	seen->go_on = true;
	expect(join(pid, 5000), 0);
	expect_within(5000, !count_jobs(), "left: %s", describe());
	check(cg_exists("t-user/sim.1"), "the user's cgroup is gone");
}

/* Frozen where it stands, and not before its first instruction. */
static void a_process_is_held_here(void)
{
	struct mts_config config = get_config();
	pid_t pid;

	make_theirs();
	pid = spawn();
	if (!pid)
		for (;;)
			sleep_ms(20);
	cg_move("t-user/sim", pid);
	config.mask = MTS_CONFIG_MODE;
	config.mode = MTS_MODE_AUTO;
	set_config(&config);
	expect(enter_here("t-user/sim", MTS_JOB_QUEUE | MTS_JOB_PIN, 0), -EINVAL);
	expect(enter_here("t-user/sim", MTS_JOB_ENTER, 0), -EINVAL);
	expect(enter_here("t-user/sim", MTS_JOB_QUEUE, 0), 0);
	/* Nothing else runs: it begins by itself. */
	expect_soon(job_named("sim").queued_ns && !cg_frozen("t-user/sim"), "%s", describe());
	check(job_named("sim").flags & MTS_JOB_QUEUE, "%s", describe());
	kill_and_join(pid);
}

/* A name as long as can be: the number stays whole. */
static void each_long_name(void)
{
	char name[MTS_NAME_SIZE];
	const char *child;
	pid_t pid;

	memset(name, 'l', sizeof(name));
	name[sizeof(name) - 1] = '\0';
	pid = start_each(name, fork_grandchildren);
	expect_soon(seen->done == 3, "%u of 3 have looked", seen->done);
	child = seen->of[0].cgroup;
	check(strlen(child) == strlen(BASE "/") + MTS_NAME_SIZE - 1, "the child is in %s", child);
	check(!strcmp(child + strlen(child) - 3, "l.1"), "the child is in %s", child);
	seen->go_on = true;
	expect(join(pid, 5000), 0);
}

/* A child whose name is taken gets another one, it is not left with its parent. */
static void each_name_taken(void)
{
	pid_t pid;

	create_job("taken.1", 0);
	create_job("taken.2", 0);
	pid = start_each("taken", fork_grandchildren);
	expect_soon(seen->done == 3, "%u of 3 have looked", seen->done);
	check(strcmp(seen->of[0].cgroup, BASE "/taken"), "the child was left with its parent");
	seen->go_on = true;
	expect(join(pid, 5000), 0);
}

static int fork_killed_children(void)
{
	int i;

	for (i = 0; i < 100; i++) {
		pid_t pid = fork();

		if (!pid)
			_exit(0);
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
	}
	return 0;
}

/* Killed between its fork and its first instruction. */
static void each_killed_at_birth(void)
{
	expect(join(start_each("stillborn", fork_killed_children), 20000), 0);
	expect_within(5000, !count_jobs(), "%u jobs are left: %s", count_jobs(), describe());
	expect_within(5000, !cg_exists(cg_job("stillborn")), "a cgroup is left");
}

GUEST_TESTS(TEST(create_moves_the_caller), TEST(create_chooses_a_name),
	    TEST(create_moves_all_threads), TEST(job_goes_with_its_last_process),
	    TEST(job_stays_while_a_process_is_left), TEST(job_that_never_had_a_process_stays),
	    TEST(rmdir_behind_our_back), TEST(cgroups_below_go_with_the_job),
	    TEST(a_last_process_that_moves_away_is_news),
	    TEST(an_added_cgroup_that_empties_is_news), TEST(a_job_that_ends_as_usual_is_no_news),
	    TEST(remove_leaves_processes_running), TEST(add_takes_a_cgroup_whole), TEST(each_burst),
	    TEST(each_child_has_its_parents_pause_limit), TEST(each_child_is_of_its_parents_user),
	    TEST(each_grandchildren_stay), TEST(each_vfork), TEST(each_posix_spawn),
	    TEST(each_leaves_threads_alone), TEST(each_switched_off), TEST(each_in_an_added_cgroup),
	    TEST(each_here), TEST(each_here_keeps_to_its_number), TEST(each_here_name_taken),
	    TEST(a_process_is_held_here), TEST(each_long_name), TEST(each_name_taken),
	    TEST(each_killed_at_birth));

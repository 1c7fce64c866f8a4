// SPDX-License-Identifier: GPL-2.0
/* As many jobs as there can be. */
#include "guest.h"

static struct mts_job_info jobs[MTS_MAX_JOBS + 1];

static void create_all(void)
{
	u64 began = now_ms();
	char name[MTS_NAME_SIZE];
	int i;

	for (i = 0; i < MTS_MAX_JOBS; i++) {
		snprintf(name, sizeof(name), "many-%d", i);
		create_job(name, 0);
	}
	note("%u jobs made in %llu ms", MTS_MAX_JOBS, (unsigned long long)(now_ms() - began));
}

static void expect_no_more(void)
{
	struct mts_list list;
	u32 i;

	expect(try_create("one-more", 0, NULL), -ENOSPC);
	check(!cg_exists(cg_job("one-more")), "its cgroup was left");
	expect(try_create("", MTS_JOB_ENTER, NULL), -ENOSPC);
	cg_make("t-one-more");
	{
		int fd = cg_open("t-one-more", O_PATH);
		int error = try_add(fd, 0, NULL);

		close(fd);
		expect(error, -ENOSPC);
	}
	check(get_jobs(jobs, ARRAY_SIZE(jobs), &list) == MTS_MAX_JOBS && list.count == MTS_MAX_JOBS,
	      "%u of %u", list.count, list.total);
	for (i = 1; i < MTS_MAX_JOBS; i++)
		check(jobs[i].id > jobs[i - 1].id, "not in order of id: %u, %u", jobs[i - 1].id,
		      jobs[i].id);
}

/* A child for which there is no room stays with its parent, and is counted. */
static void expect_none_for_a_child(void)
{
	struct mts_stats before = get_stats();
	char cgroup[256];
	pid_t pid;
	int to_parent[2];

	check(!pipe(to_parent), "pipe: %m");
	pid = spawn();
	if (!pid) {
		if (try_create("each", MTS_JOB_ENTER | MTS_JOB_EACH, NULL))
			_exit(1);
		if (!fork()) {
			cg_of(getpid(), cgroup, sizeof(cgroup));
			_exit(write(to_parent[1], cgroup, sizeof(cgroup)) < 0);
		}
		wait(NULL);
		_exit(0);
	}
	close(to_parent[1]);
	expect(join(pid, 10000), 0);
	check(read(to_parent[0], cgroup, sizeof(cgroup)) == sizeof(cgroup),
	      "the child said nothing");
	close(to_parent[0]);
	check(!strcmp(cgroup, BASE "/each"), "the child was in %s", cgroup);
	check(get_stats().each_missed == before.each_missed + 1, "each_missed %llu",
	      get_stats().each_missed);
}

static void as_many_as_there_can_be(void)
{
	u64 began;

	set_mode(MTS_MODE_OFF);
	create_all();
	expect_no_more();
	remove_job(jobs[77].id);
	/* A job of children, which comes in its place. */
	expect_none_for_a_child();
	began = now_ms();
	set_mode(MTS_MODE_AUTO);
	expect_within(30000, get_status().state == MTS_STATE_IDLE, "%s", describe());
	note("measured within %llu ms", (unsigned long long)(now_ms() - began));
}

GUEST_TESTS(TEST_WITHIN(as_many_as_there_can_be, 120));

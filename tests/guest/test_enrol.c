// SPDX-License-Identifier: GPL-2.0
/* The protocol of jobs: each refusal that uapi/mts.h names, and that nothing has changed. */
#include "guest.h"

/* ---- jobs: create ----------------------------------------------------------------- */

static void create_refuses_names(void)
{
	static const char *const bad[] = {
		".",   "..",  ".hidden", "a/b",	 "/",	     "a b",	 " ",  "a\n",
		"\n",  "a\t", "a*",	 "a\\b", "\xc3\xa9", "\x7f",	 "a#", "a~",
		"a=b", "a,b", "a%",	 "a'",	 "\x01",     "../mts/x",
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		int error = try_create(bad[i], 0, NULL);

		check(error == -EINVAL, "name %zu (%s): %s", i, bad[i], strerror(-error));
	}
	check(!count_jobs(), "a job was made: %s", describe());
}

static void create_accepts_names(void)
{
	static const char *const good[] = { "a", "A.b_c@d:e+f-g", "-x", "9", "a..b", "_", "x." };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(good); i++) {
		create_job(good[i], 0);
		check(cg_exists(cg_job(good[i])), "no cgroup for %s", good[i]);
	}
	check(count_jobs() == ARRAY_SIZE(good), "%s", describe());
}

static void create_needs_a_nul(void)
{
	struct mts_job_create create = { .flags = 0 };
	char longest[MTS_NAME_SIZE];

	memset(create.name, 'n', sizeof(create.name));
	expect(mts_ioctl(MTS_IOC_JOB_CREATE, &create), -EINVAL);

	memset(longest, 'n', sizeof(longest));
	longest[MTS_NAME_SIZE - 1] = '\0';
	create_job(longest, 0);
	check(find_job(longest, NULL), "the longest name was not kept");
}

static void create_refuses_flags_and_reserved(void)
{
	struct mts_job_create bad[] = {
		{ .flags = 1u << 3 },
		{ .flags = ~0u },
		{ .flags = 1u << 31 },
		{ .user = 1 },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		int error = mts_ioctl(MTS_IOC_JOB_CREATE, &bad[i]);

		check(error == -EINVAL, "%zu: %s", i, strerror(-error));
	}
	check(!count_jobs(), "a job was made: %s", describe());
}

static void create_answers(void)
{
	struct mts_job_create create;
	struct mts_job_info job;
	struct stat st;
	u32 first;

	expect(try_create("answers", MTS_JOB_PIN, &create), 0);
	check(!stat(CGROUPS BASE "/answers", &st), "no directory: %m");
	check(create.cgroup_id == st.st_ino, "cgroup_id %llu, inode %lu", create.cgroup_id,
	      st.st_ino);
	job = job_named("answers");
	check(job.id == create.id && job.id, "id %u, in the list %u", create.id, job.id);
	check(job.cgroup_id == create.cgroup_id && job.flags == MTS_JOB_PIN && !job.parent,
	      "cgroup %llu flags %x parent %u", job.cgroup_id, job.flags, job.parent);
	first = create.id;
	remove_job(first);
	expect(try_create("answers", 0, &create), 0);
	check(create.id != first, "id %u was given twice", first);
}

static void create_duplicate(void)
{
	create_job("twice", 0);
	expect(try_create("twice", 0, NULL), -EEXIST);
	check(count_jobs() == 1, "%s", describe());
	check(cg_exists(cg_job("twice")), "the first one's cgroup is gone");
}

/* What somebody has made below the base stays, if there is something in it. */
static void create_where_a_cgroup_is(void)
{
	struct hog hog;

	cg_make(BASE "/full");
	hog_start(&hog, &(struct hog_spec){ .cgroup = BASE "/full", .mib = 1, .kind = HOG_SLEEP });
	expect(try_create("full", 0, NULL), -EEXIST);
	check(is_alive(hog.pid) && cg_exists(BASE "/full"), "it was removed");
	cg_make(BASE "/nested");
	cg_make(BASE "/nested/below");
	expect(try_create("nested", 0, NULL), -EEXIST);
	check(cg_exists(BASE "/nested/below"), "it was removed");
	check(!count_jobs(), "%s", describe());
	cg_make(BASE "/empty");
	create_job("empty", 0);
}

static void create_does_not_replace_an_added_cgroup(void)
{
	struct mts_job_info job;
	u32 id;

	cg_make(BASE "/adopted");
	id = add_job(BASE "/adopted", 0);
	expect(try_create("adopted", 0, NULL), -EEXIST);
	check(find_id(id, &job) && cg_exists(BASE "/adopted"), "it was removed");
}

/* An added cgroup may be called as a job of ours is. */
static void create_and_add_with_one_name(void)
{
	cg_make("t-same");
	add_job("t-same", 0);
	create_job("t-same", 0);
	check(cg_exists(BASE "/t-same") && count_jobs() == 2, "%s", describe());
}

/* A name that is taken must not be in the way of one that the module chooses. */
static void create_chooses_a_free_name(void)
{
	struct mts_job_create create;
	char taken[MTS_NAME_SIZE];
	u32 next = create_job("", 0) + 2;
	int error;

	snprintf(taken, sizeof(taken), "job-%u", next);
	create_job(taken, 0);
	error = try_create("", 0, &create);
	check(!error, "with a job named %s: %s", taken, strerror(-error));
	check(create.name[0], "no name was chosen");
}

/* ---- jobs: add -------------------------------------------------------------------- */

static int add_path(const char *path, int flags)
{
	int fd = open(path, flags | O_CLOEXEC), error;

	check(fd >= 0, "open %s: %m", path);
	error = try_add(fd, 0, NULL);
	close(fd);
	return error;
}

static void add_refuses_what_is_no_cgroup(void)
{
	int closed = open("/", O_RDONLY | O_CLOEXEC);

	close(closed);
	cg_make("t-file");
	expect(try_add(closed, 0, NULL), -EBADF);
	expect(try_add(-1, 0, NULL), -EBADF);
	expect(try_add(mts_fd, 0, NULL), -EINVAL);
	expect(add_path("/", O_RDONLY), -EINVAL);
	expect(add_path("/proc", O_PATH), -EINVAL);
	expect(add_path("/sys/kernel", O_PATH), -EINVAL);
	expect(add_path(CGROUPS "t-file/cgroup.procs", O_RDONLY), -EINVAL);
	expect(add_path(CGROUPS "t-file/cgroup.procs", O_PATH), -EINVAL);
	expect(add_path(CGROUPS, O_RDONLY), -EINVAL);
	check(!count_jobs(), "%s", describe());
}

static void add_refuses_flags_and_padding(void)
{
	struct mts_job_add bad[] = {
		{ .flags = MTS_JOB_ENTER },
		{ .flags = 1u << 3 },
		{ .flags = ~0u },
		{ .pad = 1 },
		{ .user = 1 },
	};
	size_t i;
	int fd;

	cg_make("t-flags");
	fd = cg_open("t-flags", O_RDONLY);
	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		int error;

		bad[i].cgroup_fd = fd;
		error = mts_ioctl(MTS_IOC_JOB_ADD, &bad[i]);
		check(error == -EINVAL, "%zu: %s", i, strerror(-error));
	}
	close(fd);
	check(!count_jobs(), "%s", describe());
}

static void add_removed_cgroup(void)
{
	int fd;

	cg_make("t-removed");
	fd = cg_open("t-removed", O_RDONLY);
	expect(cg_remove("t-removed"), 0);
	expect(try_add(fd, 0, NULL), -ENODEV);
	close(fd);
}

static void add_either_way_opened(void)
{
	struct mts_job_add add;
	struct mts_job_info job;
	struct stat st;
	int fd;

	cg_make("t-rdonly");
	cg_make("t-path");
	expect(add_path(CGROUPS "t-rdonly", O_RDONLY | O_DIRECTORY), 0);
	fd = cg_open("t-path", O_PATH);
	expect(try_add(fd, MTS_JOB_PIN, &add), 0);
	check(!fstat(fd, &st) && add.cgroup_id == st.st_ino, "cgroup_id %llu", add.cgroup_id);
	close(fd);
	job = job_named("t-path");
	check(job.id == add.id && job.flags == MTS_JOB_PIN, "%s", describe());
}

static void add_where_the_caller_is(void)
{
	cg_make("t-caller");
	expect(cg_write("t-caller", "cgroup.subtree_control", "+memory"), 0);
	cg_make("t-caller/below");
	cg_move("t-caller/below", getpid());
	expect(add_path(CGROUPS "t-caller/below", O_RDONLY), -EBUSY);
	expect(add_path(CGROUPS "t-caller", O_RDONLY), -EBUSY);
	cg_move("", getpid());
	check(!count_jobs(), "%s", describe());
}

static void add_where_an_ancestor_is(void)
{
	pid_t pid;
	int status;

	cg_make("t-ancestor");
	cg_move("t-ancestor", getpid());
	pid = spawn();
	if (!pid) {
		int fd = open(CGROUPS "t-ancestor", O_PATH);

		cg_write("", "cgroup.procs", "0");
		_exit(-try_add(fd, 0, NULL));
	}
	status = join(pid, 5000);
	cg_move("", getpid());
	check(status == EBUSY, "with the caller's parent in it: %s", strerror(status));
}

static void add_where_init_is(void)
{
	int error;

	cg_make("t-init");
	cg_move("t-init", 1);
	error = add_path(CGROUPS "t-init", O_RDONLY);
	cg_move("", 1);
	check(error == -EBUSY, "with PID 1 in it: %s", strerror(-error));
}

/* Some thread of the kernel's that lets itself be moved. */
static pid_t move_kernel_thread(const char *cgroup)
{
	char path[64], text[256];
	pid_t pid;

	for (pid = 3; pid < 200; pid++) {
		snprintf(path, sizeof(path), "/proc/%d/cmdline", pid);
		if (read_file(path, text, sizeof(text)) || text[0])
			continue;
		snprintf(text, sizeof(text), "%d", pid);
		if (!cg_write(cgroup, "cgroup.procs", text))
			return pid;
	}
	return 0;
}

static void add_where_a_kernel_thread_is(void)
{
	pid_t pid;
	int error;

	cg_make("t-kthread");
	pid = move_kernel_thread("t-kthread");
	if (!pid)
		guest_skip("no kernel thread can be moved");
	error = add_path(CGROUPS "t-kthread", O_RDONLY);
	cg_move("", pid);
	check(error == -EBUSY, "with kernel thread %d in it: %s", pid, strerror(-error));
}

static void add_overlaps(void)
{
	cg_make("t-over");
	expect(cg_write("t-over", "cgroup.subtree_control", "+memory"), 0);
	cg_make("t-over/mid");
	expect(cg_write("t-over/mid", "cgroup.subtree_control", "+memory"), 0);
	cg_make("t-over/mid/below");
	add_job("t-over/mid", 0);
	expect(add_path(CGROUPS "t-over/mid", O_RDONLY), -EEXIST);
	expect(add_path(CGROUPS "t-over", O_RDONLY), -EEXIST);
	expect(add_path(CGROUPS "t-over/mid/below", O_RDONLY), -EEXIST);
	create_job("made", 0);
	expect(add_path(CGROUPS BASE "/made", O_RDONLY), -EEXIST);
	expect(add_path(CGROUPS BASE, O_RDONLY), -EEXIST);
	check(count_jobs() == 2, "%s", describe());
}

static void add_the_base(void)
{
	expect(add_path(CGROUPS BASE, O_RDONLY), -EEXIST);
}

static void add_without_memory_controller(void)
{
	cg_make("t-plain");
	cg_make("t-plain/below");
	expect(add_path(CGROUPS "t-plain/below", O_RDONLY), -EOPNOTSUPP);
}

/* ---- jobs: remove and set --------------------------------------------------------- */

static void remove_refusals(void)
{
	struct mts_job_remove remove = { .id = create_job("kept", 0), .pad = 1 };

	expect(mts_ioctl(MTS_IOC_JOB_REMOVE, &remove), -EINVAL);
	check(find_job("kept", NULL), "it was removed nevertheless");
	expect(try_remove(0), -ENOENT);
	expect(try_remove(~0u), -ENOENT);
	remove_job(remove.id);
	expect(try_remove(remove.id), -ENOENT);
	check(!cg_exists(cg_job("kept")), "its empty cgroup was left");
}

static void set_refusals(void)
{
	u32 id = create_job("set", 0);
	struct mts_job_set bad[] = {
		{ .id = id, .mask = MTS_JOB_ENTER, .flags = 0 },
		{ .id = id, .mask = MTS_JOB_ENTER, .flags = MTS_JOB_ENTER },
		{ .id = id, .mask = 1u << 3, .flags = 0 },
		{ .id = id, .mask = MTS_JOB_PIN, .flags = MTS_JOB_PIN | 1u << 3 },
		{ .id = id, .mask = ~0u, .flags = MTS_JOB_PIN },
		{ .id = id, .mask = MTS_JOB_PIN, .flags = MTS_JOB_PIN, .pad = 1 },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		int error = mts_ioctl(MTS_IOC_JOB_SET, &bad[i]);

		check(error == -EINVAL, "%zu: %s", i, strerror(-error));
	}
	expect(try_set(0, MTS_JOB_PIN, MTS_JOB_PIN), -ENOENT);
	expect(try_set(id + 1, MTS_JOB_PIN, MTS_JOB_PIN), -ENOENT);
	check(!job_named("set").flags, "flags are %x", job_named("set").flags);
}

static void set_changes_what_is_named(void)
{
	u32 id = create_job("set", MTS_JOB_EACH);

	set_job(id, MTS_JOB_PIN, MTS_JOB_PIN);
	check(job_named("set").flags == (MTS_JOB_EACH | MTS_JOB_PIN), "%x", job_named("set").flags);
	set_job(id, MTS_JOB_EACH, 0);
	check(job_named("set").flags == MTS_JOB_PIN, "%x", job_named("set").flags);
	set_job(id, 0, 0);
	check(job_named("set").flags == MTS_JOB_PIN, "%x", job_named("set").flags);
	set_job(id, MTS_JOB_PIN | MTS_JOB_EACH, MTS_JOB_EACH);
	check(job_named("set").flags == MTS_JOB_EACH, "%x", job_named("set").flags);
}

GUEST_TESTS(TEST(create_refuses_names), TEST(create_accepts_names), TEST(create_needs_a_nul),
	    TEST(create_refuses_flags_and_reserved), TEST(create_answers), TEST(create_duplicate),
	    TEST(create_where_a_cgroup_is), TEST(create_does_not_replace_an_added_cgroup),
	    TEST(create_and_add_with_one_name), TEST(create_chooses_a_free_name),
	    TEST(add_refuses_what_is_no_cgroup), TEST(add_refuses_flags_and_padding),
	    TEST(add_removed_cgroup), TEST(add_either_way_opened), TEST(add_where_the_caller_is),
	    TEST(add_where_an_ancestor_is), TEST(add_where_init_is),
	    TEST(add_where_a_kernel_thread_is), TEST(add_overlaps), TEST(add_the_base),
	    TEST(add_without_memory_controller), TEST(remove_refusals), TEST(set_refusals),
	    TEST(set_changes_what_is_named));

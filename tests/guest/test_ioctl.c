// SPDX-License-Identifier: GPL-2.0
/* The protocol: each command, each errno that uapi/mts.h names, and that nothing has changed. */
#include "guest.h"

#include <linux/capability.h>
#include <sys/mman.h>
#include <sys/syscall.h>

static char *no_memory(void)
{
	return (char *)16;
}

/* ---- the device ------------------------------------------------------------------- */

static void device_is_for_root(void)
{
	struct stat st;

	check(!stat(MTS_DEVICE, &st), "stat: %m");
	check(S_ISCHR(st.st_mode) && (st.st_mode & 0777) == 0600, "mode %o", st.st_mode);
}

static void unknown_commands(void)
{
	char buffer[512] = "";

	expect(mts_ioctl(_IO(MTS_IOC_MAGIC, 0x7f), NULL), -ENOTTY);
	expect(mts_ioctl(_IOW(MTS_IOC_MAGIC, 0x02, u32), buffer), -ENOTTY);
	expect(mts_ioctl(_IOWR(MTS_IOC_MAGIC, 0x01, struct mts_config), buffer), -ENOTTY);
	expect(mts_ioctl(0x5401, buffer), -ENOTTY);
}

static void bad_pointers(void)
{
	static const unsigned long commands[] = {
		MTS_IOC_CONFIG_GET, MTS_IOC_CONFIG_SET, MTS_IOC_JOB_CREATE, MTS_IOC_JOB_ADD,
		MTS_IOC_JOB_REMOVE, MTS_IOC_JOB_SET,	MTS_IOC_STATUS,	    MTS_IOC_JOBS,
		MTS_IOC_BINS,	    MTS_IOC_STATS,	MTS_IOC_JOB_PAUSE,  MTS_IOC_DISK,
		MTS_IOC_JOB_WEIGHT, MTS_IOC_POLICY,	MTS_IOC_USERS,	    MTS_IOC_USER_WEIGHT,
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(commands); i++) {
		int error = mts_ioctl(commands[i], no_memory());

		check(error == -EFAULT, "command %lx: %s", commands[i], strerror(-error));
	}
	check(!count_jobs(), "a job was made: %s", describe());
}

/* What cannot be answered is not done. */
static void read_only_arguments(void)
{
	struct mts_job_create *create =
		mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	strcpy(create->name, "readonly");
	mprotect(create, 4096, PROT_READ);
	expect(mts_ioctl(MTS_IOC_JOB_CREATE, create), -EFAULT);
	check(!find_job("readonly", NULL) && !cg_exists(cg_job("readonly")), "it was made");
	munmap(create, 4096);
}

static void drop_capabilities(void)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2];

	memset(data, 0, sizeof(data));
	if (syscall(SYS_capset, &header, data))
		_exit(100);
}

/* As whoever was handed the open device. Returns the number of the check that failed. */
static int without_capabilities(void)
{
	struct mts_config config = { .mask = MTS_CONFIG_MODE };
	struct mts_job_create create = { .name = "unprivileged" };
	struct mts_job_add add = { .cgroup_fd = -1 };
	struct mts_job_remove remove = { .id = 1 };
	struct mts_job_set set = { .id = 1 };
	struct mts_job_pause pause = { .id = 1 };
	struct mts_job_weight weight = { .id = 1 };
	struct mts_user_weight of_user = { .user = getuid(), .weight = 50 };
	struct mts_status status;
	struct mts_stats stats;
	struct mts_list jobs = { 0 }, bins = { 0 }, users = { .elem_size = sizeof(of_user) };

	drop_capabilities();
	if (mts_ioctl(MTS_IOC_CONFIG_SET, &config) != -EPERM)
		return 1;
	if (mts_ioctl(MTS_IOC_JOB_CREATE, &create) != -EPERM)
		return 2;
	if (mts_ioctl(MTS_IOC_JOB_ADD, &add) != -EPERM)
		return 3;
	if (mts_ioctl(MTS_IOC_JOB_REMOVE, &remove) != -EPERM)
		return 4;
	if (mts_ioctl(MTS_IOC_JOB_SET, &set) != -EPERM)
		return 5;
	if (mts_ioctl(MTS_IOC_THAW, NULL) != -EPERM)
		return 6;
	if (mts_ioctl(MTS_IOC_CONFIG_GET, &config) || mts_ioctl(MTS_IOC_STATUS, &status) ||
	    mts_ioctl(MTS_IOC_JOBS, &jobs) || mts_ioctl(MTS_IOC_BINS, &bins) ||
	    mts_ioctl(MTS_IOC_STATS, &stats) || mts_ioctl(MTS_IOC_USERS, &users))
		return 7;
	if (mts_ioctl(MTS_IOC_JOB_PAUSE, &pause) != -EPERM)
		return 8;
	if (mts_ioctl(MTS_IOC_JOB_WEIGHT, &weight) != -EPERM)
		return 9;
	if (mts_ioctl(MTS_IOC_USER_WEIGHT, &of_user) != -EPERM)
		return 10;
	return 0;
}

static void changes_need_a_capability(void)
{
	pid_t pid = spawn();
	int status;

	if (!pid)
		_exit(without_capabilities());
	status = join(pid, 5000);
	check(!status, "check %d failed", status);
	check(get_status().state != MTS_STATE_STOPPED, "a thaw was done without the capability");
}

/* A user namespace's own root is nobody here. */
static void capability_of_a_namespace(void)
{
	pid_t pid = spawn();
	int status;

	if (!pid) {
		if (unshare(CLONE_NEWUSER))
			_exit(99);
		_exit(mts_ioctl(MTS_IOC_THAW, NULL) == -EPERM ? 0 : 1);
	}
	status = join(pid, 5000);
	if (status == 99)
		guest_skip("no user namespaces");
	check(!status, "THAW was allowed in a user namespace");
}

static void open_as_another_user(void)
{
	pid_t pid = spawn();

	if (!pid) {
		if (setresuid(1000, 1000, 1000))
			_exit(2);
		_exit(open(MTS_DEVICE, O_RDWR) < 0 && errno == EACCES ? 0 : 1);
	}
	check(join(pid, 5000) == 0, "user 1000 could open the device");
}

/* ---- configuration ---------------------------------------------------------------- */

static void config_defaults(void)
{
	struct mts_config c = get_config();

	check(c.mask == MTS_CONFIG_ALL, "mask %x", c.mask);
	check(c.step == MTS_DEFAULT_STEP, "step %u", c.step);
	check(c.queue == MTS_QUEUE_OFF, "queue %u", c.queue);
	check(c.policy == MTS_POLICY_TURNS, "policy %u", c.policy);
	check(c.interactive == 250, "interactive %u", c.interactive);
	check(c.mode == MTS_MODE_AUTO && c.slice_ns == 5000 * NS_PER_MS && !c.bin_bytes,
	      "mode %u, slice %llu, bin %llu", c.mode, c.slice_ns, c.bin_bytes);
	check(c.overhead == 50, "overhead %u", c.overhead);
	check(c.demand == MTS_DEMAND_USED, "demand %u", c.demand);
}

struct refusal {
	const char *what;
	struct mts_config config;
	int error;
};

#define SET(field, value) .mask = MTS_CONFIG_##field, value

static const struct refusal refusals[] = {
	{ "unknown mask bit", { .mask = MTS_CONFIG_ALL + 1 }, -EINVAL },
	{ "all mask bits", { .mask = ~0u, .slice_ns = 1 }, -EINVAL },
	{ "policy 5", { SET(POLICY, .policy = MTS_POLICY_AUTO + 1) }, -EINVAL },
	{ "share 2", { SET(SHARE, .share = MTS_SHARE_USER + 1) }, -EINVAL },
	{ "queue 2", { SET(QUEUE, .queue = 2) }, -EINVAL },
	{ "mode 4", { SET(MODE, .mode = 4) }, -EINVAL },
	{ "mode -1", { SET(MODE, .mode = ~0u) }, -EINVAL },
	{ "demand 2", { SET(DEMAND, .demand = 2) }, -EINVAL },
	{ "pack 3", { SET(PACK, .pack = 3) }, -EINVAL },
	{ "evict 4", { SET(EVICT, .evict = 4) }, -EINVAL },
	{ "slice 0", { SET(SLICE, .slice_ns = 0) }, -ERANGE },
	{ "slice too short", { SET(SLICE, .slice_ns = MTS_SLICE_MIN_NS - 1) }, -ERANGE },
	{ "slice too long", { SET(SLICE, .slice_ns = MTS_SLICE_MAX_NS + 1) }, -ERANGE },
	{ "slice huge", { SET(SLICE, .slice_ns = ~0ull) }, -ERANGE },
	{ "bin too small", { SET(BIN, .bin_bytes = MTS_BIN_MIN_BYTES - 1) }, -ERANGE },
	{ "bin of 1", { SET(BIN, .bin_bytes = 1) }, -ERANGE },
	{ "bin too large", { SET(BIN, .bin_bytes = MTS_BIN_MAX_BYTES + 1) }, -ERANGE },
	{ "min_slice 0", { SET(MIN_SLICE, .min_slice_ns = 0) }, -ERANGE },
	{ "min_slice short", { SET(MIN_SLICE, .min_slice_ns = MTS_SLICE_MIN_NS - 1) }, -ERANGE },
	{ "min_slice above slice", { SET(MIN_SLICE, .min_slice_ns = 5001 * NS_PER_MS) }, -ERANGE },
	{ "min_slice above its slice",
	  { .mask = MTS_CONFIG_SLICE | MTS_CONFIG_MIN_SLICE,
	    .slice_ns = 100 * NS_PER_MS,
	    .min_slice_ns = 101 * NS_PER_MS },
	  -ERANGE },
	{ "pause too short", { SET(MAX_PAUSE, .max_pause_ns = MTS_PAUSE_MIN_NS - 1) }, -ERANGE },
	{ "pause too long", { SET(MAX_PAUSE, .max_pause_ns = MTS_PAUSE_MAX_NS + 1) }, -ERANGE },
	{ "overhead too large", { SET(OVERHEAD, .overhead = MTS_OVERHEAD_MAX + 1) }, -ERANGE },
	{ "interactive too large",
	  { SET(INTERACTIVE, .interactive = MTS_INTERACTIVE_MAX + 1) },
	  -ERANGE },
	{ "step too large", { SET(STEP, .step = MTS_STEP_MIB_MAX + 1) }, -ERANGE },
	{ "step next to bin", { SET(STEP, .step = MTS_STEP_BIN - 1) }, -ERANGE },
	{ "one bad among good",
	  { .mask = MTS_CONFIG_ALL,
	    .mode = MTS_MODE_ALWAYS,
	    .pack = MTS_PACK_BFD,
	    .evict = MTS_EVICT_NEED,
	    .slice_ns = 700 * NS_PER_MS,
	    .bin_bytes = 64 * MIB,
	    .min_slice_ns = 50 * NS_PER_MS,
	    .max_pause_ns = 1 },
	  -ERANGE },
	{ "bad mode among good",
	  { .mask = MTS_CONFIG_ALL,
	    .mode = 9,
	    .slice_ns = 700 * NS_PER_MS,
	    .bin_bytes = 64 * MIB,
	    .min_slice_ns = 50 * NS_PER_MS,
	    .max_pause_ns = MTS_PAUSE_MIN_NS },
	  -EINVAL },
};

static void config_refusals_change_nothing(void)
{
	struct mts_config before = get_config(), after;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(refusals); i++) {
		int error = try_config(&refusals[i].config);

		check(error == refusals[i].error, "%s: %s, should be %s", refusals[i].what,
		      strerror(-error), strerror(-refusals[i].error));
		after = get_config();
		check(!memcmp(&before, &after, sizeof(after)), "%s: it has changed something",
		      refusals[i].what);
	}
}

static void config_limits_are_inside(void)
{
	static const struct mts_config good[] = {
		{ SET(BIN, .bin_bytes = MTS_BIN_MIN_BYTES) },
		{ SET(BIN, .bin_bytes = MTS_BIN_MAX_BYTES) },
		{ SET(BIN, .bin_bytes = 0) },
		{ SET(SLICE, .slice_ns = MTS_SLICE_MAX_NS) },
		{ SET(MIN_SLICE, .min_slice_ns = MTS_SLICE_MAX_NS) },
		{ SET(MIN_SLICE, .min_slice_ns = MTS_SLICE_MIN_NS) },
		{ SET(SLICE, .slice_ns = MTS_SLICE_MIN_NS) },
		{ SET(MAX_PAUSE, .max_pause_ns = MTS_PAUSE_MIN_NS) },
		{ SET(MAX_PAUSE, .max_pause_ns = MTS_PAUSE_MAX_NS) },
		{ SET(MAX_PAUSE, .max_pause_ns = 0) },
		{ SET(OVERHEAD, .overhead = MTS_OVERHEAD_MAX) },
		{ SET(OVERHEAD, .overhead = 0) },
		{ SET(INTERACTIVE, .interactive = MTS_INTERACTIVE_MAX) },
		{ SET(INTERACTIVE, .interactive = 0) },
		{ SET(STEP, .step = 1) },
		{ SET(STEP, .step = MTS_STEP_MIB_MAX) },
		{ SET(STEP, .step = MTS_STEP_AUTO) },
		{ SET(STEP, .step = MTS_STEP_BIN) },
		{ SET(PACK, .pack = MTS_PACK_RW) },
		{ SET(POLICY, .policy = MTS_POLICY_TOKEN) },
		{ SET(POLICY, .policy = MTS_POLICY_TURNS) },
		{ SET(EVICT, .evict = MTS_EVICT_OFF) },
		{ SET(EVICT, .evict = MTS_EVICT_AUTO) },
		{ .mask = 0 },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(good); i++) {
		int error = try_config(&good[i]);

		check(!error, "%zu: %s", i, strerror(-error));
	}
}

/* Only what the mask names; the rest may be anything. */
static void config_sets_what_is_named(void)
{
	struct mts_config before = get_config(), after;
	struct mts_config set = { .mask = MTS_CONFIG_EVICT,
				  .mode = 77,
				  .pack = 77,
				  .evict = MTS_EVICT_NEED,
				  .slice_ns = 1,
				  .bin_bytes = 1,
				  .min_slice_ns = 1,
				  .max_pause_ns = 1,
				  .overhead = MTS_OVERHEAD_MAX + 1,
				  .interactive = MTS_INTERACTIVE_MAX + 1,
				  .step = MTS_STEP_MIB_MAX + 1 };

	set_config(&set);
	after = get_config();
	before.evict = MTS_EVICT_NEED;
	check(!memcmp(&before, &after, sizeof(after)), "more than evict has changed");
}

/* As the header has it: a SET changes the fields named in mask, or is refused. */
static void config_slice_below_min_slice(void)
{
	struct mts_config before = get_config(), after;
	int error = try_config(&(struct mts_config){ SET(SLICE, .slice_ns = 100 * NS_PER_MS) });

	after = get_config();
	check(error || after.min_slice_ns <= after.slice_ns, "min_slice %llu above slice %llu",
	      after.min_slice_ns, after.slice_ns);
	check(!error || !memcmp(&before, &after, sizeof(after)), "refused, yet changed");
}

/* ---- what is shown ---------------------------------------------------------------- */

static void list_counts(void)
{
	struct mts_job_info jobs[4];
	struct mts_list list;
	u32 i;

	create_job("one", 0);
	create_job("two", 0);
	create_job("three", 0);
	memset(jobs, 0x55, sizeof(jobs));
	check(get_jobs(jobs, 4, &list) == 3 && list.count == 3, "%u of %u", list.count, list.total);
	check(!strcmp(jobs[0].name, "one") && !strcmp(jobs[2].name, "three"), "wrong order");
	for (i = 0; i < 3; i++)
		check(jobs[i].bin == MTS_BIN_NONE && !jobs[i].unused &&
			      jobs[i].input_age_ms == MTS_INPUT_AGE_MAX && !jobs[i].calls &&
			      jobs[i].last_call_age_ms == MTS_CALL_AGE_MAX,
		      "job %u: bin %x", i, jobs[i].bin);
	check(jobs[3].id == 0x55555555, "more was written than is there");

	memset(jobs, 0x55, sizeof(jobs));
	check(get_jobs(jobs, 2, &list) == 3 && list.count == 2, "%u of %u", list.count, list.total);
	check(jobs[2].id == 0x55555555, "more was written than asked for");
	check(get_jobs(NULL, 0, &list) == 3 && !list.count, "%u of %u", list.count, list.total);
	check(!get_bins(NULL, 0), "there are bins while nothing rotates");
}

static void list_refusals(void)
{
	struct mts_list list = { .buf = 16, .count = 4 };
	struct mts_list padding = { .pad = 1 };

	expect(mts_ioctl(MTS_IOC_JOBS, &list), 0);
	create_job("one", 0);
	list = (struct mts_list){ .buf = 16, .count = 4 };
	expect(mts_ioctl(MTS_IOC_JOBS, &list), -EFAULT);
	expect(mts_ioctl(MTS_IOC_JOBS, &padding), -EINVAL);
	padding = (struct mts_list){ .pad = 1 };
	expect(mts_ioctl(MTS_IOC_BINS, &padding), -EINVAL);
}

static int ask_of_size(unsigned long command, u32 elem_size)
{
	char buf[MTS_ELEM_SIZE_MAX];
	struct mts_list list = { .buf = (uintptr_t)buf, .count = 1, .elem_size = elem_size };
	int error = mts_ioctl(command, &list);

	check(list.elem_size == elem_size, "elem_size has become %u", list.elem_size);
	return error;
}

static void list_sizes_refused(void)
{
	create_job("one", 0);
	expect(ask_of_size(MTS_IOC_JOBS, MTS_JOB_INFO_SIZE_1 - 8), -EINVAL);
	expect(ask_of_size(MTS_IOC_JOBS, MTS_JOB_INFO_SIZE_1 + 4), -EINVAL);
	expect(ask_of_size(MTS_IOC_JOBS, MTS_ELEM_SIZE_MAX + 8), -EINVAL);
	expect(ask_of_size(MTS_IOC_JOBS, MTS_ELEM_SIZE_MAX), 0);
	expect(ask_of_size(MTS_IOC_BINS, MTS_BIN_INFO_SIZE_1 - 8), -EINVAL);
	expect(ask_of_size(MTS_IOC_BINS, MTS_ELEM_SIZE_MAX), 0);
	expect(ask_of_size(MTS_IOC_USERS, 12), -EINVAL);
	expect(ask_of_size(MTS_IOC_USERS, 16), 0);
}

/* Two jobs as an mtsctl of another version asks for them: the name, and what is behind it. */
static void expect_jobs_of_size(u32 elem_size, u32 stride)
{
	static char buf[2 * MTS_ELEM_SIZE_MAX + 8];
	struct mts_list list = { .buf = (uintptr_t)buf, .count = 2, .elem_size = elem_size };
	const u32 known = sizeof(struct mts_job_info);
	struct mts_job_info job;
	u32 i, k;

	memset(buf, 0x55, sizeof(buf));
	expect(mts_ioctl(MTS_IOC_JOBS, &list), 0);
	check(list.count == 2 && list.total == 2, "%u of %u", list.count, list.total);
	for (i = 0; i < 2; i++) {
		memset(&job, 0, sizeof(job));
		memcpy(&job, buf + i * stride, stride < known ? stride : known);
		check(!strcmp(job.name, i ? "two" : "one"), "job %u of size %u: %s", i, elem_size,
		      job.name);
		for (k = known; k < stride; k++)
			check(!buf[i * stride + k], "byte %u of size %u is not 0", k, elem_size);
	}
	check(buf[2 * stride] == 0x55, "more was written than size %u has", elem_size);
}

static void list_of_another_version(void)
{
	create_job("one", 0);
	create_job("two", 0);
	expect_jobs_of_size(0, MTS_JOB_INFO_SIZE_1);
	expect_jobs_of_size(MTS_JOB_INFO_SIZE_1, MTS_JOB_INFO_SIZE_1);
	expect_jobs_of_size(MTS_JOB_INFO_SIZE_1 + 8, MTS_JOB_INFO_SIZE_1 + 8);
	expect_jobs_of_size(sizeof(struct mts_job_info), sizeof(struct mts_job_info));
	expect_jobs_of_size(MTS_ELEM_SIZE_MAX, MTS_ELEM_SIZE_MAX);
}

/* Room for more than there can be is no error. */
static void list_with_a_huge_count(void)
{
	static struct mts_job_info jobs[1];
	struct mts_list list = { .buf = (uintptr_t)jobs, .count = ~0u };

	create_job("one", 0);
	expect(mts_ioctl(MTS_IOC_JOBS, &list), 0);
	check(list.count == 1 && list.total == 1, "%u of %u", list.count, list.total);
}

static void status_answers(void)
{
	struct mts_status s;
	u64 now;

	expect_within(2000, get_status().state == MTS_STATE_IDLE, "%s", describe());
	s = get_status();
	now = now_ns();
	check(s.abi == MTS_ABI_VERSION, "abi %u", s.abi);
	check(s.state == MTS_STATE_IDLE && s.reason == MTS_REASON_NO_JOBS, "%s", describe());
	check(s.each_how == MTS_EACH_BEFORE_USER, "each_how %u", s.each_how);
	check(!s.jobs && !s.bins && !s.frozen && s.current_bin == MTS_BIN_NONE, "%s", describe());
	check(s.now_ns <= now && now - s.now_ns < 10 * 1000 * NS_PER_MS, "now_ns %llu, it is %llu",
	      s.now_ns, (unsigned long long)now);
	check(!s.slice_ends_ns && !s.round_ns && !s.longest_pause_ns && !s.max_pause_ns,
	      "a plan while idle");
	check(!s.limited_by && !s.limited, "limited by job %u, %u limited", s.limited_by,
	      s.limited);
	check(s.detail[0] && memchr(s.detail, 0, sizeof(s.detail)), "no sentence");
}

static void status_of_off(void)
{
	struct mts_status s;

	set_mode(MTS_MODE_OFF);
	expect_within(2000, get_status().state == MTS_STATE_OFF, "%s", describe());
	s = get_status();
	check(s.reason == MTS_REASON_NONE, "reason %u", s.reason);
}

/* "Changes with every change of jobs": lists with equal ones belong together. */
static void generation_tells_changes(void)
{
	struct mts_list before, after;
	int i;

	set_mode(MTS_MODE_OFF);
	for (i = 0; i < 20; i++) {
		u32 id;

		get_jobs(NULL, 0, &before);
		id = create_job("generation", 0);
		get_jobs(NULL, 0, &after);
		check(after.generation != before.generation, "the same after a job was made");
		before = after;
		remove_job(id);
		get_jobs(NULL, 0, &after);
		check(after.generation != before.generation, "the same after one was removed");
	}
}

static void stats_count(void)
{
	struct mts_stats before = get_stats(), after;

	cg_make("t-stats");
	create_job("stats", 0);
	add_job("t-stats", 0);
	after = get_stats();
	check(after.jobs_created == before.jobs_created + 1, "created %llu", after.jobs_created);
	check(after.jobs_added == before.jobs_added + 1, "added %llu", after.jobs_added);
}

static void stats_of_another_version(void)
{
	static const u32 sizes[] = { MTS_STATS_SIZE_1, MTS_STATS_SIZE_1 + 8,
				     sizeof(struct mts_stats), sizeof(struct mts_stats) + 64 };
	union {
		struct mts_stats stats;
		char bytes[sizeof(struct mts_stats) + 128];
	} buf;
	u64 created = get_stats().jobs_created + 1;
	size_t i, k;

	create_job("stats", 0);
	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		memset(&buf, 0x55, sizeof(buf));
		expect(mts_ioctl(MTS_IOC_STATS_OF(sizes[i]), &buf), 0);
		check(buf.stats.jobs_created == created, "created %llu, size %u",
		      buf.stats.jobs_created, sizes[i]);
		for (k = sizeof(buf.stats); k < sizes[i]; k++)
			check(!buf.bytes[k], "byte %zu of size %u is not 0", k, sizes[i]);
		check(buf.bytes[sizes[i]] == 0x55, "more was written than size %u has", sizes[i]);
	}
	expect(mts_ioctl(MTS_IOC_STATS_OF(MTS_STATS_SIZE_1 - 8), &buf), -ENOTTY);
	expect(mts_ioctl(MTS_IOC_STATS_OF(MTS_STATS_SIZE_1 + 4), &buf), -ENOTTY);
	expect(mts_ioctl(_IOWR(MTS_IOC_MAGIC, 0x23, struct mts_stats), &buf), -ENOTTY);
	expect(mts_ioctl(_IOC(_IOC_READ, 'x', 0x23, sizeof(struct mts_stats)), &buf), -ENOTTY);
}

/* ---- a pause limit of its own ----------------------------------------------------- */

struct pause_limit {
	u64 ns;
	int error;
};

static const struct pause_limit pause_limits[] = {
	{ 1, -ERANGE },
	{ MTS_PAUSE_MIN_NS - 1, -ERANGE },
	{ MTS_PAUSE_MIN_NS, 0 },
	{ MTS_PAUSE_MAX_NS, 0 },
	{ MTS_PAUSE_MAX_NS + 1, -ERANGE },
	{ ~0ull, -ERANGE },
	{ 0, 0 },
};

static void pause_limits_are_checked(void)
{
	u32 id = create_job("limited", 0);
	u64 before = 0;
	size_t i;

	check(!job_named("limited").max_pause_ns, "it has a limit");
	for (i = 0; i < ARRAY_SIZE(pause_limits); i++) {
		const struct pause_limit *limit = &pause_limits[i];

		expect(try_pause(id, limit->ns), limit->error);
		if (!limit->error)
			before = limit->ns;
		check(job_named("limited").max_pause_ns == before, "%llu ns has become %llu",
		      (unsigned long long)limit->ns, job_named("limited").max_pause_ns);
	}
	expect(try_pause(id + 1, MTS_PAUSE_MIN_NS), -ENOENT);
	expect(mts_ioctl(MTS_IOC_JOB_PAUSE, &(struct mts_job_pause){ .id = id, .pad = 1 }),
	       -EINVAL);
}

static void create_with_a_pause_limit(void)
{
	struct mts_job_create create = { .name = "created" };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(pause_limits); i++) {
		create.max_pause_ns = pause_limits[i].ns;
		expect(mts_ioctl(MTS_IOC_JOB_CREATE, &create), pause_limits[i].error);
		check(find_job("created", NULL) == !pause_limits[i].error, "%s", describe());
		if (pause_limits[i].error)
			continue;
		check(job_named("created").max_pause_ns == pause_limits[i].ns, "not its limit");
		remove_job(create.id);
	}
	create = (struct mts_job_create){ .name = "created", .user = 1 };
	expect(mts_ioctl(MTS_IOC_JOB_CREATE, &create), -EINVAL);
}

static void add_with_a_pause_limit(void)
{
	struct mts_job_add add = { 0 };
	size_t i;

	cg_make("t-limited");
	add.cgroup_fd = cg_open("t-limited", O_PATH | O_DIRECTORY);
	for (i = 0; i < ARRAY_SIZE(pause_limits); i++) {
		add.max_pause_ns = pause_limits[i].ns;
		expect(mts_ioctl(MTS_IOC_JOB_ADD, &add), pause_limits[i].error);
		check(find_job("t-limited", NULL) == !pause_limits[i].error, "%s", describe());
		if (pause_limits[i].error)
			continue;
		check(job_named("t-limited").max_pause_ns == pause_limits[i].ns, "not its limit");
		remove_job(add.id);
	}
	add = (struct mts_job_add){ .cgroup_fd = add.cgroup_fd, .user = 1 };
	expect(mts_ioctl(MTS_IOC_JOB_ADD, &add), -EINVAL);
	close(add.cgroup_fd);
}

static const struct weight {
	u32 weight;
	int error;
	u32 is;
} weights[] = {
	{ 0, 0, MTS_WEIGHT_DEFAULT },
	{ MTS_WEIGHT_MIN, 0, MTS_WEIGHT_MIN },
	{ 250, 0, 250 },
	{ MTS_WEIGHT_MAX, 0, MTS_WEIGHT_MAX },
	{ MTS_WEIGHT_MAX + 1, -ERANGE, 0 },
	{ ~0u, -ERANGE, 0 },
};

static void weights_of_jobs(void)
{
	struct mts_job_create create = { .name = "weighs" };
	struct mts_job_add add = { 0 };
	u32 id = create_job("heavy", 0), is = MTS_WEIGHT_DEFAULT;
	size_t i;

	check(job_named("heavy").weight == is, "a job has weight %u", job_named("heavy").weight);
	cg_make("t-weighs");
	add.cgroup_fd = cg_open("t-weighs", O_PATH | O_DIRECTORY);
	for (i = 0; i < ARRAY_SIZE(weights); i++) {
		const struct weight *w = &weights[i];

		expect(try_weight(id, w->weight), w->error);
		is = w->error ? is : w->is;
		check(job_named("heavy").weight == is, "%u has become %u", w->weight,
		      job_named("heavy").weight);
		create.weight = w->weight;
		add.weight = w->weight;
		expect(mts_ioctl(MTS_IOC_JOB_CREATE, &create), w->error);
		expect(mts_ioctl(MTS_IOC_JOB_ADD, &add), w->error);
		check(find_job("weighs", NULL) == !w->error, "%s", describe());
		if (w->error)
			continue;
		check(job_named("weighs").weight == w->is, "not its weight");
		check(job_named("t-weighs").weight == w->is, "not its weight");
		remove_job(create.id);
		remove_job(add.id);
	}
	close(add.cgroup_fd);
	expect(try_weight(id + 1000, 100), -ENOENT);
}

static struct mts_user_weight users[MTS_MAX_USERS + 1];

/* Return: how many users have a weight of their own, of which up to @n are listed. */
static u32 list_users(u32 n)
{
	struct mts_list list = { .buf = (uintptr_t)users, .count = n, .elem_size = 8 };

	memset(users, 0xff, sizeof(users));
	expect(mts_ioctl(MTS_IOC_USERS, &list), 0);
	check(list.count == (n < list.total ? n : list.total), "%u of %u, asked for %u", list.count,
	      list.total, n);
	return list.total;
}

static void weights_of_users(void)
{
	size_t i;

	expect(list_users(8), 0);
	expect(try_user_weight(2000, 7), 0);
	for (i = 0; i < ARRAY_SIZE(weights); i++) {
		u32 before = i ? users[0].weight : MTS_WEIGHT_DEFAULT, n;

		expect(try_user_weight(1000, weights[i].weight), weights[i].error);
		n = list_users(8);
		if (weights[i].error)
			check(users[0].user == 1000 && users[0].weight == before, "it has changed");
		else if (weights[i].is == MTS_WEIGHT_DEFAULT)
			check(n == 1 && users[0].user == 2000, "%u users", n);
		else
			check(n == 2 && users[0].user == 1000 && users[0].weight == weights[i].is &&
				      users[1].user == 2000 && users[1].weight == 7,
			      "%u users; %u: %u", n, users[0].user, users[0].weight);
	}
	expect(try_user_weight(MTS_USER_NONE, 50), -ERANGE);
	expect(list_users(1), 2);
	check(users[1].user == ~0u, "one more than was asked for");
	expect(try_user_weight(1000, MTS_WEIGHT_DEFAULT), 0);
	expect(try_user_weight(2000, 0), 0);
	expect(list_users(8), 0);
}

static void no_room_for_more_weights(void)
{
	u32 i;

	for (i = 0; i < MTS_MAX_USERS; i++)
		expect(try_user_weight(3 * i, 50), 0);
	expect(try_user_weight(1, 50), -ENOSPC);
	expect(try_user_weight(1, MTS_WEIGHT_DEFAULT), 0);
	expect(try_user_weight(3, 60), 0);
	expect(try_user_weight(6, 0), 0);
	expect(try_user_weight(1, 50), 0);
	expect(list_users(MTS_MAX_USERS + 1), MTS_MAX_USERS);
	check(users[1].user == 1 && users[2].user == 3 && users[2].weight == 60 &&
		      users[3].user == 9,
	      "%u, %u, %u", users[1].user, users[2].user, users[3].user);
	for (i = 0; i < MTS_MAX_USERS; i++)
		expect(try_user_weight(3 * i, 0), 0);
	expect(try_user_weight(1, 0), 0);
	expect(list_users(8), 0);
}

static const struct named_user {
	u32 flags;
	u32 user;
	int error;
} named_users[] = {
	{ MTS_JOB_USER, 1000, 0 },
	{ MTS_JOB_USER, 0, 0 },
	{ MTS_JOB_USER, MTS_USER_NONE - 1, 0 },
	{ MTS_JOB_USER, MTS_USER_NONE, -ERANGE },
	{ 0, 1000, -EINVAL },
};

static void users_that_are_named(void)
{
	size_t i;

	cg_make("t-users");
	for (i = 0; i < ARRAY_SIZE(named_users); i++) {
		const struct named_user *u = &named_users[i];
		struct mts_job_create create = { .name = "made",
						 .flags = u->flags,
						 .user = u->user };
		struct mts_job_submit submit = { .name = "sent",
						 .flags = u->flags,
						 .user = u->user };
		struct mts_job_add add = { .flags = u->flags, .user = u->user };

		add.cgroup_fd = cg_open("t-users", O_PATH | O_DIRECTORY);
		expect(mts_ioctl(MTS_IOC_JOB_CREATE, &create), u->error);
		expect(mts_ioctl(MTS_IOC_JOB_SUBMIT, &submit), u->error);
		expect(mts_ioctl(MTS_IOC_JOB_ADD, &add), u->error);
		close(add.cgroup_fd);
		check(count_jobs() == (u->error ? 0 : 3), "%s", describe());
		if (u->error)
			continue;
		check(job_named("made").user == u->user && job_named("sent").user == u->user &&
			      job_named("t-users").user == u->user,
		      "not user %u's", u->user);
		remove_job(create.id);
		remove_job(submit.id);
		remove_job(add.id);
	}
	expect(try_set(1, MTS_JOB_USER, MTS_JOB_USER), -EINVAL);
}

/* As a program that has what root has, and is another user's: the real user counts. */
static void create_as_another(void)
{
	struct mts_job_create create = { .name = "hers" };
	pid_t pid = spawn();

	if (!pid)
		_exit(setresuid(1000, 0, 0) || mts_ioctl(MTS_IOC_JOB_CREATE, &create));
	expect(join(pid, 5000), 0);
}

static void users_that_are_not_named(void)
{
	create_job("roots", 0);
	check(!job_named("roots").user, "user %u's", job_named("roots").user);
	create_as_another();
	check(job_named("hers").user == 1000, "user %u's", job_named("hers").user);
	cg_make("t-owned");
	check(!chown(CGROUPS "t-owned", 1234, 0), "chown: %m");
	add_job("t-owned", 0);
	check(job_named("t-owned").user == 1234, "user %u's", job_named("t-owned").user);
	cg_make("t-roots");
	add_job("t-roots", 0);
	check(!job_named("t-roots").user, "user %u's", job_named("t-roots").user);
}

static void thaw_stops(void)
{
	struct mts_status s;

	expect(mts_ioctl(MTS_IOC_THAW, NULL), 0);
	s = get_status();
	check(s.state == MTS_STATE_STOPPED && s.reason == MTS_REASON_USER && s.detail[0], "%s",
	      describe());
	set_config(&(struct mts_config){ SET(EVICT, .evict = MTS_EVICT_OFF) });
	check(get_status().state == MTS_STATE_STOPPED, "a SET of something else ended the stop");
	set_mode(MTS_MODE_AUTO);
	check(get_status().state != MTS_STATE_STOPPED, "still, though the mode was set: %s",
	      describe());
	expect_within(2000, get_status().state == MTS_STATE_IDLE, "%s", describe());
}

GUEST_TESTS(TEST(device_is_for_root), TEST(unknown_commands), TEST(bad_pointers),
	    TEST(read_only_arguments), TEST(changes_need_a_capability),
	    TEST(capability_of_a_namespace), TEST(open_as_another_user), TEST(config_defaults),
	    TEST(config_refusals_change_nothing), TEST(config_limits_are_inside),
	    TEST(config_sets_what_is_named), TEST(config_slice_below_min_slice), TEST(list_counts),
	    TEST(list_refusals), TEST(list_sizes_refused), TEST(list_of_another_version),
	    TEST(list_with_a_huge_count), TEST(status_answers), TEST(status_of_off),
	    TEST(generation_tells_changes), TEST(stats_count), TEST(stats_of_another_version),
	    TEST(pause_limits_are_checked), TEST(create_with_a_pause_limit),
	    TEST(add_with_a_pause_limit), TEST(weights_of_jobs), TEST(weights_of_users),
	    TEST(no_room_for_more_weights), TEST(users_that_are_named),
	    TEST(users_that_are_not_named), TEST(thaw_stops));

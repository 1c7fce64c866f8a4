// SPDX-License-Identifier: GPL-2.0
/* The device and the module. */
#include "guest.h"

#include <sys/klog.h>
#include <sys/syscall.h>
#include <sys/utsname.h>

int mts_fd = -1;

void mts_open(void)
{
	if (mts_fd >= 0)
		return;
	mts_fd = open(MTS_DEVICE, O_RDWR | O_CLOEXEC);
	check(mts_fd >= 0, "open " MTS_DEVICE ": %m");
}

void mts_close(void)
{
	if (mts_fd >= 0)
		close(mts_fd);
	mts_fd = -1;
}

int fd_ioctl(int fd, unsigned long command, void *argument)
{
	return ioctl(fd, command, argument) < 0 ? -errno : 0;
}

int mts_ioctl(unsigned long command, void *argument)
{
	return fd_ioctl(mts_fd, command, argument);
}

int try_create(const char *name, u32 flags, struct mts_job_create *result)
{
	struct mts_job_create create = { .flags = flags };
	int error;

	memcpy(create.name, name, strnlen(name, sizeof(create.name) - 1));
	error = mts_ioctl(MTS_IOC_JOB_CREATE, &create);
	if (result)
		*result = create;
	return error;
}

int try_add(int fd, u32 flags, struct mts_job_add *result)
{
	struct mts_job_add add = { .cgroup_fd = fd, .flags = flags };
	int error = mts_ioctl(MTS_IOC_JOB_ADD, &add);

	if (result)
		*result = add;
	return error;
}

int try_config(const struct mts_config *config)
{
	struct mts_config copy = *config;

	return mts_ioctl(MTS_IOC_CONFIG_SET, &copy);
}

int try_remove(u32 id)
{
	struct mts_job_remove remove = { .id = id };

	return mts_ioctl(MTS_IOC_JOB_REMOVE, &remove);
}

int try_set(u32 id, u32 mask, u32 flags)
{
	struct mts_job_set set = { .id = id, .mask = mask, .flags = flags };

	return mts_ioctl(MTS_IOC_JOB_SET, &set);
}

int try_pause(u32 id, u64 max_pause_ns)
{
	struct mts_job_pause pause = { .id = id, .max_pause_ns = max_pause_ns };

	return mts_ioctl(MTS_IOC_JOB_PAUSE, &pause);
}

int try_weight(u32 id, u32 weight)
{
	struct mts_job_weight of = { .id = id, .weight = weight };

	return mts_ioctl(MTS_IOC_JOB_WEIGHT, &of);
}

int try_user_weight(u32 user, u32 weight)
{
	struct mts_user_weight of = { .user = user, .weight = weight };

	return mts_ioctl(MTS_IOC_USER_WEIGHT, &of);
}

u32 create_job(const char *name, u32 flags)
{
	struct mts_job_create create;
	int error = try_create(name, flags, &create);

	check(!error, "create %s: %s", name, strerror(-error));
	return create.id;
}

u32 add_job(const char *cgroup, u32 flags)
{
	struct mts_job_add add;
	int fd = cg_open(cgroup, O_PATH | O_DIRECTORY);
	int error = try_add(fd, flags, &add);

	close(fd);
	check(!error, "add %s: %s", cgroup, strerror(-error));
	return add.id;
}

void remove_job(u32 id)
{
	int error = try_remove(id);

	check(!error, "remove job %u: %s", id, strerror(-error));
}

void set_job(u32 id, u32 mask, u32 flags)
{
	int error = try_set(id, mask, flags);

	check(!error, "set job %u: %s", id, strerror(-error));
}

void pause_job(u32 id, u64 max_pause_ns)
{
	int error = try_pause(id, max_pause_ns);

	check(!error, "pause limit of job %u: %s", id, strerror(-error));
}

void weigh_job(u32 id, u32 weight)
{
	int error = try_weight(id, weight);

	check(!error, "weight of job %u: %s", id, strerror(-error));
}

struct mts_config get_config(void)
{
	struct mts_config config;

	memset(&config, 0xff, sizeof(config));
	expect(mts_ioctl(MTS_IOC_CONFIG_GET, &config), 0);
	return config;
}

void set_config(const struct mts_config *config)
{
	int error = try_config(config);

	check(!error, "configure, mask %x: %s", config->mask, strerror(-error));
}

void set_mode(u32 mode)
{
	set_config(&(struct mts_config){ .mask = MTS_CONFIG_MODE, .mode = mode });
}

void choose_policy(u32 policy)
{
	const struct mts_config config = {
		.mask = MTS_CONFIG_POLICY | MTS_CONFIG_MODE,
		.policy = policy,
		.mode = MTS_MODE_AUTO,
	};

	set_config(&config);
}

void choose_share(u32 share)
{
	set_config(&(struct mts_config){ .mask = MTS_CONFIG_SHARE, .share = share });
}

void set_max_pause(u64 ns)
{
	struct mts_config config = { .mask = MTS_CONFIG_MAX_PAUSE, .max_pause_ns = ns };

	set_config(&config);
}

struct mts_status get_status(void)
{
	struct mts_status status;

	memset(&status, 0xff, sizeof(status));
	expect(mts_ioctl(MTS_IOC_STATUS, &status), 0);
	return status;
}

struct mts_stats get_stats(void)
{
	struct mts_stats stats;

	memset(&stats, 0xff, sizeof(stats));
	expect(mts_ioctl(MTS_IOC_STATS, &stats), 0);
	return stats;
}

u32 get_jobs(struct mts_job_info *jobs, u32 n, struct mts_list *list)
{
	struct mts_list own = { .buf = (uintptr_t)jobs, .count = n, .elem_size = sizeof(*jobs) };

	expect(mts_ioctl(MTS_IOC_JOBS, &own), 0);
	if (list)
		*list = own;
	return own.total;
}

u32 get_bins(struct mts_bin_info *bins, u32 n)
{
	struct mts_list list = { .buf = (uintptr_t)bins, .count = n };

	expect(mts_ioctl(MTS_IOC_BINS, &list), 0);
	return list.total;
}

u32 count_jobs(void)
{
	return get_jobs(NULL, 0, NULL);
}

static bool find(const char *name, u32 id, struct mts_job_info *job)
{
	static struct mts_job_info jobs[MTS_MAX_JOBS];
	u32 i, n = get_jobs(jobs, ARRAY_SIZE(jobs), NULL);

	for (i = 0; i < n && i < ARRAY_SIZE(jobs); i++) {
		if (name ? strcmp(jobs[i].name, name) : jobs[i].id != id)
			continue;
		if (job)
			*job = jobs[i];
		return true;
	}
	return false;
}

bool find_job(const char *name, struct mts_job_info *job)
{
	return find(name, 0, job);
}

bool find_id(u32 id, struct mts_job_info *job)
{
	return find(NULL, id, job);
}

struct mts_job_info job_named(const char *name)
{
	struct mts_job_info job;

	check(find_job(name, &job), "no job %s: %s", name, describe());
	return job;
}

const char *state_name(u32 state)
{
	static const char *const names[] = { "OFF",	"IDLE",	  "RUNNING", "SWITCHING",
					     "STOPPED", "PAUSED", "SHARING" };

	return state < ARRAY_SIZE(names) ? names[state] : "?";
}

const char *job_state_name(u32 state)
{
	static const char *const names[] = { "running",	    "FROZEN",	"FREEZING", "RESIDENT",
					     "REALTIME",    "LEFT_OUT", "FOREIGN",  "UNTOUCHABLE",
					     "INTERACTIVE", "CALLED",	"LIMITED",  "NO_SWAP",
					     "QUEUED",	    "DELAYED",	"HOLDER",   "SLEEPING" };

	return state < ARRAY_SIZE(names) ? names[state] : "?";
}

static size_t describe_job(char *text, size_t size, const struct mts_job_info *job)
{
	char bin[16] = "-";

	if (job->bin == MTS_BIN_EVERY)
		strcpy(bin, "every");
	else if (job->bin != MTS_BIN_NONE)
		snprintf(bin, sizeof(bin), "%u", job->bin);
	return snprintf(text, size, "; %s %s bin %s %lluM slices %llu longest %llu ms", job->name,
			job_state_name(job->state), bin, job->demand / MIB, job->slices,
			job->frozen_longest_ns / NS_PER_MS);
}

const char *describe(void)
{
	static struct mts_job_info jobs[8];
	static char text[1024];
	struct mts_list list = { .buf = (uintptr_t)jobs,
				 .count = ARRAY_SIZE(jobs),
				 .elem_size = sizeof(jobs[0]) };
	struct mts_status s;
	size_t used;
	u32 i;

	if (mts_fd < 0 || mts_ioctl(MTS_IOC_STATUS, &s) || mts_ioctl(MTS_IOC_JOBS, &list))
		return "no device";
	used = snprintf(text, sizeof(text), "%s reason %u (%s), %u jobs, %u bins, current %d",
			state_name(s.state), s.reason, s.detail, s.jobs, s.bins,
			(int)s.current_bin);
	used += snprintf(text + used, sizeof(text) - used, ", frozen %u, %lluM in %lluM", s.frozen,
			 s.demand / MIB, s.capacity / MIB);
	for (i = 0; i < list.count && used < sizeof(text); i++)
		used += describe_job(text + used, sizeof(text) - used, &jobs[i]);
	return text;
}

/* ---- the module ------------------------------------------------------------------- */

bool is_preempt_rt(void)
{
	struct utsname name;

	return !uname(&name) && strstr(name.version, "PREEMPT_RT");
}

int module_load(const char *options)
{
	int fd = open(MODULE_FILE, O_RDONLY | O_CLOEXEC);
	char text[512];
	int error = 0;

	if (fd < 0)
		return -errno;
	/* First, so that a test may have it otherwise. */
	snprintf(text, sizeof(text), "%s%s", is_preempt_rt() ? "rt=1 " : "", options);
	if (syscall(SYS_finit_module, fd, text, 0))
		error = -errno;
	close(fd);
	return error;
}

int module_unload(void)
{
	return syscall(SYS_delete_module, "mts", O_NONBLOCK) ? -errno : 0;
}

bool module_loaded(void)
{
	return !access("/sys/module/mts/parameters", F_OK);
}

enum {
	SYSLOG_READ_ALL = 3,
	SYSLOG_CLEAR = 5,
	SYSLOG_CONSOLE_LEVEL = 8,
	SYSLOG_SIZE_BUFFER = 10,
};

static char *read_log(void)
{
	int size = klogctl(SYSLOG_SIZE_BUFFER, NULL, 0);
	char *log = size > 0 ? malloc(size + 1) : NULL;

	check(log, "cannot read the kernel's log");
	size = klogctl(SYSLOG_READ_ALL, log, size);
	log[size < 0 ? 0 : size] = '\0';
	return log;
}

long log_mark(void)
{
	char *log = read_log();
	long mark = (long)strlen(log);

	free(log);
	return mark;
}

bool log_says(long mark, const char *text)
{
	char *log = read_log();
	bool found = (size_t)mark <= strlen(log) && strstr(log + mark, text);

	free(log);
	return found;
}

void log_expect_oom(void)
{
	klogctl(SYSLOG_CONSOLE_LEVEL, NULL, 1);
}

static bool is_complaint(const char *line)
{
	static const char *const words[] = { "WARNING:",	 "BUG",	   "Oops",
					     "Call Trace",	 "stall",  "hung_task",
					     "blocked for more", "lockup", "corruption",
					     "mts: bug" };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(words); i++)
		if (strstr(line, words[i]))
			return true;
	return false;
}

/* What is not part of such a report is said again in a log that was cleared. */
void log_expect_oom_no_more(void)
{
	char *log = read_log(), *line, *rest = NULL, again[512];
	bool report = false;

	klogctl(SYSLOG_CLEAR, NULL, 0);
	klogctl(SYSLOG_CONSOLE_LEVEL, NULL, 5);
	for (line = strtok_r(log, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		if (strstr(line, "invoked oom-killer"))
			report = true;
		if (!report && is_complaint(line)) {
			snprintf(again, sizeof(again), "mts: bug: said before: %s", line);
			write_file("/dev/kmsg", again);
		}
		if (strstr(line, "Killed process") || strstr(line, "Mem-Info"))
			report = false;
	}
	free(log);
}

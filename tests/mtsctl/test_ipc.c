// SPDX-License-Identifier: GPL-2.0
/* ipc.c and libmts against an open() and an ioctl() of our own (linked with --wrap). */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "check.h"
#include "ipc.h"

static int open_errno;
static int device = -1;

int __wrap_open(const char *path, int flags, ...)
{
	CHECK(!strcmp(path, MTS_DEVICE));
	CHECK(flags & O_CLOEXEC);
	if (open_errno) {
		errno = open_errno;
		return -1;
	}
	device = syscall(SYS_openat, AT_FDCWD, "/dev/null", flags);
	return device;
}

static struct {
	unsigned long request;
	unsigned char argument[512];
	int calls;
	int error; /* errno of the next calls */
	int interrupted; /* so many calls return EINTR first */
	u32 have; /* elements of a list */
	u32 growth; /* so many more at each call */
	bool is_abi_1;
	bool has_no_queue; /* ABI 3 or less */
} kernel;

#define ID_1 500 /* of jobs of a module of ABI 1 */

/* A module of ABI 1: elements of its size, no field behind. */
static void list_1(void *buf, u32 n)
{
	for (u32 i = 0; i < n; i++) {
		struct mts_job_info job = { .id = ID_1 + i };

		memcpy((char *)buf + i * MTS_JOB_INFO_SIZE_1, &job, MTS_JOB_INFO_SIZE_1);
	}
}

static void list(unsigned long request, struct mts_list *l)
{
	u32 n = l->count < kernel.have ? l->count : kernel.have;
	void *buf = (void *)(uintptr_t)l->buf;

	if (request == MTS_IOC_JOBS && kernel.is_abi_1) {
		list_1(buf, n);
	} else if (request == MTS_IOC_JOBS) {
		struct mts_job_info *jobs = buf;

		for (u32 i = 0; i < n; i++) {
			jobs[i] = (struct mts_job_info){ .id = i + 1 };
			/* No closing NUL: a broken module must not break us. */
			memset(jobs[i].name, 'n', sizeof(jobs[i].name));
			jobs[i].calls = 5;
		}
	} else if (request == MTS_IOC_USERS) {
		struct mts_user_weight *users = buf;

		for (u32 i = 0; i < n; i++)
			users[i] = (struct mts_user_weight){ .user = i, .weight = 7 };
	} else {
		struct mts_bin_info *bins = buf;

		for (u32 i = 0; i < n; i++)
			bins[i] = (struct mts_bin_info){ .jobs = i };
	}
	CHECK(!l->pad);
	if (request == MTS_IOC_USERS)
		CHECK(l->elem_size == sizeof(struct mts_user_weight));
	else
		CHECK(l->elem_size == (request == MTS_IOC_JOBS && !kernel.is_abi_1 ?
					       sizeof(struct mts_job_info) :
					       0));
	l->count = n;
	l->total = kernel.have;
	l->generation = 77;
	kernel.have += kernel.growth;
}

int __wrap_ioctl(int fd, unsigned long request, ...)
{
	va_list args;
	void *argument;

	va_start(args, request);
	argument = va_arg(args, void *);
	va_end(args);
	kernel.calls++;
	kernel.request = request;
	CHECK(fd == device);
	if (kernel.interrupted) {
		kernel.interrupted--;
		errno = EINTR;
		return -1;
	}
	if (argument)
		memcpy(kernel.argument, argument, _IOC_SIZE(request));
	else
		CHECK(!_IOC_SIZE(request));
	if (kernel.error) {
		errno = kernel.error;
		return -1;
	}
	if (kernel.has_no_queue && request == MTS_IOC_JOB_SUBMIT) {
		errno = ENOTTY;
		return -1;
	}
	if (kernel.is_abi_1 && request == MTS_IOC_STATS) {
		errno = ENOTTY;
		return -1;
	}
	if (kernel.is_abi_1 && request == MTS_IOC_JOBS &&
	    ((struct mts_list *)argument)->elem_size) {
		errno = EINVAL;
		return -1;
	}
	if (request == MTS_IOC_JOBS || request == MTS_IOC_BINS || request == MTS_IOC_USERS)
		list(request, argument);
	if (request == MTS_IOC_STATS_OF(MTS_STATS_SIZE_1))
		memset(argument, 0x11, MTS_STATS_SIZE_1);
	return 0;
}

static void check_open(void)
{
	open_errno = ENOENT;
	CHECK(ipc_open() == -ENOENT);
	open_errno = EACCES;
	CHECK(ipc_open() == -EACCES);
	open_errno = 0;
	CHECK(ipc_open() == 0);
	CHECK(fcntl(device, F_GETFD) & FD_CLOEXEC);
	CHECK(ipc_open() == 0);
}

/* Every call has its own command, zeroed padding, and passes errno on. */
static void check_calls(void)
{
	struct mts_config config = { .mask = MTS_CONFIG_SLICE, .slice_ns = 5 };
	struct mts_job_add add = { .cgroup_fd = 3 };
	struct mts_job_remove remove;
	struct mts_job_set set;
	struct mts_job_pause pause;
	struct mts_job_weight weight;
	struct mts_user_weight of_user;
	struct mts_status status;
	struct mts_disk_info disk;
	struct mts_policy_info policy;
	struct mts_user_weights weights;
	struct mts_stats stats;

	CHECK(!ipc_config_get(&config) && kernel.request == MTS_IOC_CONFIG_GET);
	CHECK(!ipc_config_set(&config) && kernel.request == MTS_IOC_CONFIG_SET);
	CHECK(!memcmp(kernel.argument, &config, sizeof(config)));
	CHECK(!ipc_job_add(&add) && kernel.request == MTS_IOC_JOB_ADD);
	CHECK(!ipc_status(&status) && kernel.request == MTS_IOC_STATUS);
	CHECK(!ipc_stats(&stats) && kernel.request == MTS_IOC_STATS);
	CHECK(!ipc_disk(&disk) && kernel.request == MTS_IOC_DISK);
	CHECK(!ipc_policy(&policy) && kernel.request == MTS_IOC_POLICY);
	CHECK(!ipc_thaw() && kernel.request == MTS_IOC_THAW);

	CHECK(!ipc_job_remove(9) && kernel.request == MTS_IOC_JOB_REMOVE);
	memcpy(&remove, kernel.argument, sizeof(remove));
	CHECK(remove.id == 9 && !remove.pad);

	CHECK(!ipc_job_set(9, MTS_JOB_PIN, 0) && kernel.request == MTS_IOC_JOB_SET);
	memcpy(&set, kernel.argument, sizeof(set));
	CHECK(set.id == 9 && set.mask == MTS_JOB_PIN && !set.flags && !set.pad);

	CHECK(!ipc_job_pause(9, 77) && kernel.request == MTS_IOC_JOB_PAUSE);
	memcpy(&pause, kernel.argument, sizeof(pause));
	CHECK(pause.id == 9 && pause.max_pause_ns == 77 && !pause.pad);

	CHECK(!ipc_job_weight(9, 77) && kernel.request == MTS_IOC_JOB_WEIGHT);
	memcpy(&weight, kernel.argument, sizeof(weight));
	CHECK(weight.id == 9 && weight.weight == 77);

	CHECK(!ipc_user_weight(9, 77) && kernel.request == MTS_IOC_USER_WEIGHT);
	memcpy(&of_user, kernel.argument, sizeof(of_user));
	CHECK(of_user.user == 9 && of_user.weight == 77);

	kernel.error = EBUSY;
	CHECK(ipc_job_add(&add) == -EBUSY);
	CHECK(ipc_thaw() == -EBUSY);
	CHECK(ipc_disk(&disk) == -EBUSY);
	/* An older module: it is not known. */
	kernel.error = ENOTTY;
	disk.out.elapsed_ns = 1;
	CHECK(!ipc_disk(&disk) && !disk.out.elapsed_ns);
	weights.n = 7;
	CHECK(!ipc_users(&weights) && !weights.n);
	CHECK(ipc_user_weight(9, 77) == -ENOTTY);
	kernel.error = 0;

	kernel.calls = 0;
	kernel.interrupted = 3;
	CHECK(!ipc_thaw() && kernel.calls == 4);
}

/* A module of ABI 3 makes the job, unless only the queue can do what is asked. */
static void check_enter(void)
{
	struct mts_job_submit job = { .name = "x", .flags = MTS_JOB_PIN, .command = 5 };
	struct mts_job_create create;
	int calls;

	CHECK(!ipc_job_enter(&job) && kernel.request == MTS_IOC_JOB_SUBMIT);
	CHECK(job.flags == (MTS_JOB_PIN | MTS_JOB_ENTER));
	CHECK(!memcmp(kernel.argument, &job, sizeof(job)));

	kernel.has_no_queue = true;
	job = (struct mts_job_submit){
		.name = "y", .flags = MTS_JOB_BATCH | MTS_JOB_EACH, .max_pause_ns = 77, .weight = 50
	};
	CHECK(!ipc_job_enter(&job) && kernel.request == MTS_IOC_JOB_CREATE);
	memcpy(&create, kernel.argument, sizeof(create));
	CHECK(!strcmp(create.name, "y") && create.flags == (MTS_JOB_ENTER | MTS_JOB_EACH));
	CHECK(create.max_pause_ns == 77 && create.weight == 50);

	calls = kernel.calls;
	job.flags = MTS_JOB_QUEUE;
	CHECK(ipc_job_enter(&job) == -ENOTTY);
	job = (struct mts_job_submit){ .size = 1ull << 30 };
	CHECK(ipc_job_enter(&job) == -ENOTTY && !job.flags);
	job = (struct mts_job_submit){ .max_wait_ns = 1 };
	CHECK(ipc_job_enter(&job) == -ENOTTY && kernel.calls == calls + 3);
	kernel.has_no_queue = false;
}

static void check_lists(void)
{
	struct mts_job_info *jobs = NULL;
	struct mts_bin_info *bins = NULL;
	struct mts_user_weights weights;
	u64 generation = 0;
	u32 count = 5;

	kernel.have = 2;
	CHECK(!ipc_users(&weights) && weights.n == 2 && weights.of[1].user == 1);
	/* A newer module has more of them. */
	kernel.have = MTS_MAX_USERS + 5;
	CHECK(!ipc_users(&weights) && weights.n == MTS_MAX_USERS);
	CHECK(weights.of[MTS_MAX_USERS - 1].user == MTS_MAX_USERS - 1);

	kernel.have = 0;
	CHECK(!ipc_jobs(&jobs, &count, &generation) && !jobs && !count && generation == 77);

	kernel.have = 64;
	CHECK(!ipc_jobs(&jobs, &count, &generation) && count == 64);
	CHECK(jobs[63].id == 64 && strlen(jobs[63].name) == MTS_NAME_SIZE - 1);
	free(jobs);

	kernel.have = MTS_MAX_JOBS;
	kernel.calls = 0;
	CHECK(!ipc_jobs(&jobs, &count, &generation) && count == MTS_MAX_JOBS && kernel.calls == 2);
	CHECK(jobs[MTS_MAX_JOBS - 1].id == MTS_MAX_JOBS);
	free(jobs);

	kernel.have = 100;
	kernel.growth = 10; /* they arrive while we ask */
	CHECK(!ipc_bins(&bins, &count, &generation) && count == 110 && bins[109].jobs == 109);
	free(bins);

	kernel.have = 100;
	kernel.growth = 1000000; /* faster than we can ask: give up, do not spin */
	kernel.calls = 0;
	CHECK(ipc_bins(&bins, &count, &generation) == -EAGAIN && kernel.calls < 100);
	kernel.growth = 0;

	kernel.error = EFAULT;
	CHECK(ipc_jobs(&jobs, &count, &generation) == -EFAULT);
	kernel.error = 0;
}

/* A module before ABI 4 leaves 0 in the place of the step. That does not mean MTS_STEP_AUTO. */
static void check_step(void)
{
	struct mts_config config = { .mask = MTS_CONFIG_ALL, .step = MTS_STEP_AUTO };

	CHECK(!ipc_config_get(&config) && config.step == MTS_STEP_AUTO);
	config.mask = MTS_CONFIG_ALL & ~MTS_CONFIG_STEP;
	CHECK(!ipc_config_get(&config) && config.step == MTS_STEP_BIN);
	CHECK(config.mask == (MTS_CONFIG_ALL & ~MTS_CONFIG_STEP));
}

/* A module of ABI 1 knows neither the longer structures nor pause limits. */
static void check_module_of_abi_1(void)
{
	struct mts_job_info *jobs = NULL;
	struct mts_stats stats;
	u64 generation = 0;
	u32 count = 5;

	kernel.is_abi_1 = true;
	memset(&stats, 0x77, sizeof(stats));
	CHECK(!ipc_stats(&stats) && kernel.request == MTS_IOC_STATS_OF(MTS_STATS_SIZE_1));
	CHECK(stats.rounds == 0x1111111111111111 && stats.workers_ns == stats.rounds);
	CHECK(!stats.call_tasks && !stats.foreign_freezes);

	kernel.have = 0;
	CHECK(!ipc_jobs(&jobs, &count, &generation) && !jobs && !count && generation == 77);
	kernel.have = 100;
	CHECK(!ipc_jobs(&jobs, &count, &generation) && count == 100);
	for (u32 i = 0; i < count; i++)
		CHECK(jobs[i].id == ID_1 + i && !jobs[i].max_pause_ns && !jobs[i].calls &&
		      jobs[i].last_call_age_ms == MTS_CALL_AGE_MAX);
	free(jobs);

	kernel.error = ENOTTY;
	CHECK(ipc_stats(&stats) == -ENOTTY && ipc_job_pause(9, 77) == -ENOTTY);
	kernel.error = 0;
	kernel.is_abi_1 = false;
}

int main(void)
{
	check_open();
	check_calls();
	check_enter();
	check_lists();
	check_step();
	check_module_of_abi_1();
	ipc_close();
	CHECK(fcntl(device, F_GETFD) == -1);
	if (failures)
		printf("%d checks failed\n", failures);
	return failures != 0;
}

// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ipc.h"
#include "ipc_socket.h"

#define LIST_TRIES 8

static int device = -1; /* /dev/mts, or the socket of mtsd */
static bool is_socket;
static const char *chosen;
static unsigned int limit; /* s, of mtsd; 0: none */

void ipc_choose(const char *engine)
{
	chosen = engine;
}

const char *ipc_chosen(void)
{
	return chosen;
}

void ipc_limit(u32 seconds)
{
	limit = seconds;
}

/* The socket of the user's own mtsd. systemd sets the variable for each session. */
static const char *user_socket(void)
{
	static char path[PATH_MAX];
	const char *run = getenv("XDG_RUNTIME_DIR");

	snprintf(path, sizeof(path), "%s/" MTS_USER_SOCKET, run && *run ? run : "$XDG_RUNTIME_DIR");
	return path;
}

const char *ipc_name(void)
{
	const char *engine = chosen ?: getenv("MTS_ENGINE");

	if (!engine || !*engine || !strcmp(engine, "module"))
		return MTS_DEVICE;
	if (!strcmp(engine, "user"))
		return user_socket();
	return strcmp(engine, "userspace") ? engine : MTS_SOCKET;
}

static int open_socket(const char *path)
{
	int fd = ipc_socket_open(path, limit);

	device = fd < 0 ? -1 : fd;
	is_socket = fd >= 0;
	return is_socket ? 0 : fd;
}

int ipc_open(void)
{
	const char *engine = chosen ?: getenv("MTS_ENGINE"), *name = ipc_name();
	int err, other;

	if (device >= 0)
		return 0;
	if (strcmp(name, MTS_DEVICE))
		return open_socket(name);
	device = open(name, O_RDWR | O_CLOEXEC);
	if (device >= 0)
		return 0;
	err = -errno;
	/* The module is not loaded, or for root: mtsd may run, as the engine or as the door. */
	if (engine && *engine)
		return err;
	other = open_socket(MTS_SOCKET);
	/* An mtsd that does not answer is there. */
	return !other || other == -ETIMEDOUT ? other : err;
}

void ipc_close(void)
{
	if (device >= 0)
		close(device);
	device = -1;
	is_socket = false;
}

bool ipc_is_for_users(void)
{
	return is_socket && geteuid() && ipc_socket_server(device) != geteuid();
}

static int ipc_call(unsigned long request, void *argument)
{
	int ret;

	if (is_socket)
		return ipc_socket_call(device, request, argument);
	do {
		ret = ioctl(device, request, argument);
	} while (ret < 0 && errno == EINTR);
	return ret < 0 ? -errno : 0;
}

int ipc_config_get(struct mts_config *config)
{
	int ret = ipc_call(MTS_IOC_CONFIG_GET, config);

	/* Before ABI 4 the field was 0. */
	if (!ret && !(config->mask & MTS_CONFIG_STEP))
		config->step = MTS_STEP_BIN;
	return ret;
}

int ipc_config_set(const struct mts_config *config)
{
	struct mts_config copy = *config;

	return ipc_call(MTS_IOC_CONFIG_SET, &copy);
}

int ipc_job_create(struct mts_job_create *create)
{
	return ipc_call(MTS_IOC_JOB_CREATE, create);
}

int ipc_job_submit(struct mts_job_submit *submit)
{
	return ipc_call(MTS_IOC_JOB_SUBMIT, submit);
}

int ipc_job_submit_here(struct mts_job_submit *submit, int cgroup)
{
	struct stat st;

	if (!is_socket)
		return -EOPNOTSUPP;
	if (fstat(cgroup, &st))
		return -errno;
	submit->cgroup_id = st.st_ino;
	return ipc_call(MTS_IOC_JOB_SUBMIT, submit);
}

int ipc_job_add(struct mts_job_add *add)
{
	return ipc_call(MTS_IOC_JOB_ADD, add);
}

int ipc_job_take(struct mts_job_take *take)
{
	return ipc_call(MTS_IOC_JOB_TAKE, take);
}

int ipc_job_remove(u32 id)
{
	struct mts_job_remove remove = { .id = id };

	return ipc_call(MTS_IOC_JOB_REMOVE, &remove);
}

int ipc_job_set(u32 id, u32 mask, u32 flags)
{
	struct mts_job_set set = { .id = id, .mask = mask, .flags = flags };

	return ipc_call(MTS_IOC_JOB_SET, &set);
}

int ipc_job_pause(u32 id, u64 max_pause_ns)
{
	struct mts_job_pause pause = { .id = id, .max_pause_ns = max_pause_ns };

	return ipc_call(MTS_IOC_JOB_PAUSE, &pause);
}

int ipc_job_weight(u32 id, u32 weight)
{
	struct mts_job_weight of = { .id = id, .weight = weight };

	return ipc_call(MTS_IOC_JOB_WEIGHT, &of);
}

int ipc_status(struct mts_status *status)
{
	return ipc_call(MTS_IOC_STATUS, status);
}

int ipc_stats(struct mts_stats *stats)
{
	int ret = ipc_call(MTS_IOC_STATS, stats);

	if (ret != -ENOTTY)
		return ret;
	/* A module of ABI 1 writes only the fields that it knows. */
	*stats = (struct mts_stats){ 0 };
	return ipc_call(MTS_IOC_STATS_OF(MTS_STATS_SIZE_1), stats);
}

int ipc_disk(struct mts_disk_info *disk)
{
	struct mts_disk_info info = { 0 };
	int ret = ipc_call(MTS_IOC_DISK, &info);

	if (ret && ret != -ENOTTY)
		return ret;
	*disk = info;
	return 0;
}

int ipc_policy(struct mts_policy_info *policy)
{
	struct mts_policy_info info = { 0 };
	int ret = ipc_call(MTS_IOC_POLICY, &info);

	if (ret && ret != -ENOTTY)
		return ret;
	*policy = info;
	return 0;
}

int ipc_thaw(void)
{
	return ipc_call(MTS_IOC_THAW, NULL);
}

/*
 * Read a list. The buffer has elements of `size` bytes; `elem_size` is the size that the module is
 * told, 0 for ABI 1. Ask again with more room while the list is longer than the buffer.
 */
static int ipc_list(unsigned long request, size_t size, u32 elem_size, void **elements, u32 *count,
		    u64 *generation)
{
	struct mts_list list;
	void *buf = NULL;
	u32 room = 64;
	int ret = 0;

	for (int tries = 0; tries < LIST_TRIES; tries++) {
		void *larger = realloc(buf, (size_t)room * size);

		if (!larger) {
			ret = -ENOMEM;
			break;
		}
		buf = larger;
		list = (struct mts_list){ .buf = (uintptr_t)buf,
					  .count = room,
					  .elem_size = elem_size };
		ret = ipc_call(request, &list);
		if (ret || list.count > room)
			break;
		if (list.total <= list.count) {
			if (!list.count) {
				free(buf);
				buf = NULL;
			}
			*elements = buf;
			*count = list.count;
			*generation = list.generation;
			return 0;
		}
		/* Room for some more: jobs may arrive between two calls. */
		room = list.total + 16 + list.total / 8;
	}
	free(buf);
	return ret ? ret : -EAGAIN;
}

/* The list of a module of ABI 1. */
static int ipc_jobs_1(struct mts_job_info **jobs, u32 *count, u64 *generation)
{
	struct mts_job_info *infos = NULL;
	void *elements;
	int ret;

	ret = ipc_list(MTS_IOC_JOBS, MTS_JOB_INFO_SIZE_1, 0, &elements, count, generation);
	if (ret)
		return ret;
	if (*count) {
		infos = calloc(*count, sizeof(*infos));
		ret = infos ? 0 : -ENOMEM;
	}
	for (u32 i = 0; infos && i < *count; i++) {
		memcpy(&infos[i], (char *)elements + i * MTS_JOB_INFO_SIZE_1, MTS_JOB_INFO_SIZE_1);
		infos[i].last_call_age_ms = MTS_CALL_AGE_MAX;
	}
	free(elements);
	if (!ret)
		*jobs = infos;
	return ret;
}

int ipc_jobs(struct mts_job_info **jobs, u32 *count, u64 *generation)
{
	void *elements;
	int ret;

	ret = ipc_list(MTS_IOC_JOBS, sizeof(**jobs), sizeof(**jobs), &elements, count, generation);
	if (!ret)
		*jobs = elements;
	else if (ret == -EINVAL)
		ret = ipc_jobs_1(jobs, count, generation);
	if (ret)
		return ret;
	/* Names are printed as strings: make sure that they end. */
	for (u32 i = 0; i < *count; i++)
		(*jobs)[i].name[MTS_NAME_SIZE - 1] = '\0';
	return 0;
}

int ipc_bins(struct mts_bin_info **bins, u32 *count, u64 *generation)
{
	void *elements;
	int ret;

	ret = ipc_list(MTS_IOC_BINS, sizeof(**bins), 0, &elements, count, generation);
	if (!ret)
		*bins = elements;
	return ret;
}

int ipc_gone(struct mts_gone_info **gone, u32 *count)
{
	void *elements = NULL;
	u64 generation;
	int ret;

	ret = ipc_list(MTS_IOC_GONE, sizeof(**gone), sizeof(**gone), &elements, count, &generation);
	if (!ret)
		*gone = elements;
	return ret;
}

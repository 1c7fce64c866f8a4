// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "ipc.h"

#define LIST_TRIES 8

static int device = -1;

int ipc_open(void)
{
	if (device >= 0)
		return 0;
	device = open(MTS_DEVICE, O_RDWR | O_CLOEXEC);
	return device < 0 ? -errno : 0;
}

void ipc_close(void)
{
	if (device >= 0)
		close(device);
	device = -1;
}

static int ipc_call(unsigned long request, void *argument)
{
	int ret;

	do {
		ret = ioctl(device, request, argument);
	} while (ret < 0 && errno == EINTR);
	return ret < 0 ? -errno : 0;
}

int ipc_config_get(struct mts_config *config)
{
	return ipc_call(MTS_IOC_CONFIG_GET, config);
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

int ipc_job_add(struct mts_job_add *add)
{
	return ipc_call(MTS_IOC_JOB_ADD, add);
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

int ipc_status(struct mts_status *status)
{
	return ipc_call(MTS_IOC_STATUS, status);
}

int ipc_stats(struct mts_stats *stats)
{
	return ipc_call(MTS_IOC_STATS, stats);
}

int ipc_thaw(void)
{
	return ipc_call(MTS_IOC_THAW, NULL);
}

/* Asks again with more room while the list is longer than the buffer. */
static int ipc_list(unsigned long request, size_t size, void **elements, u32 *count,
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
		list = (struct mts_list){ .buf = (uintptr_t)buf, .count = room };
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
		/* Some more than there were: they may be arriving. */
		room = list.total + 16 + list.total / 8;
	}
	free(buf);
	return ret ? ret : -EAGAIN;
}

int ipc_jobs(struct mts_job_info **jobs, u32 *count, u64 *generation)
{
	void *elements;
	int ret;

	ret = ipc_list(MTS_IOC_JOBS, sizeof(**jobs), &elements, count, generation);
	if (ret)
		return ret;
	*jobs = elements;
	/* What is printed as a string must be one. */
	for (u32 i = 0; i < *count; i++)
		(*jobs)[i].name[MTS_NAME_SIZE - 1] = '\0';
	return 0;
}

int ipc_bins(struct mts_bin_info **bins, u32 *count, u64 *generation)
{
	void *elements;
	int ret;

	ret = ipc_list(MTS_IOC_BINS, sizeof(**bins), &elements, count, generation);
	if (!ret)
		*bins = elements;
	return ret;
}

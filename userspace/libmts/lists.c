// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "libmts/connection.h"

#define LIST_TRIES 8

struct elements {
	void *at;
	__u32 count;
	__u64 generation;
};

/*
 * Read a list. The buffer has elements of `size` bytes; `elem_size` is the size that the module is
 * told, 0 for ABI 1. Ask again with more room while the list is longer than the buffer.
 */
static int get(struct mts_connection *connection, unsigned long request, size_t size,
	       __u32 elem_size, struct elements *elements)
{
	struct mts_list list;
	void *buf = NULL;
	__u32 room = 64;
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
		ret = mts_call(connection, request, &list);
		if (ret || list.count > room)
			break;
		if (list.total <= list.count) {
			if (!list.count) {
				free(buf);
				buf = NULL;
			}
			*elements = (struct elements){ buf, list.count, list.generation };
			return 0;
		}
		/* Room for some more: jobs may arrive between two calls. */
		room = list.total + 16 + list.total / 8;
	}
	free(buf);
	return ret ? ret : -EAGAIN;
}

/* The list of a module of ABI 1, as elements of @size bytes. */
static int get_jobs_1(struct mts_connection *connection, size_t size, struct elements *jobs)
{
	struct elements old;
	char *infos = NULL;
	int ret;

	ret = get(connection, MTS_IOC_JOBS, MTS_JOB_INFO_SIZE_1, 0, &old);
	if (ret)
		return ret;
	if (old.count) {
		infos = calloc(old.count, size);
		ret = infos ? 0 : -ENOMEM;
	}
	for (__u32 i = 0; infos && i < old.count; i++) {
		struct mts_job_info *info = (void *)(infos + i * size);

		memcpy(info, (char *)old.at + i * MTS_JOB_INFO_SIZE_1, MTS_JOB_INFO_SIZE_1);
		if (size > offsetof(struct mts_job_info, last_call_age_ms))
			info->last_call_age_ms = MTS_CALL_AGE_MAX;
	}
	free(old.at);
	if (!ret)
		*jobs = (struct elements){ infos, old.count, old.generation };
	return ret;
}

static bool is_size(size_t size)
{
	return size >= MTS_JOB_INFO_SIZE_1 && size <= MTS_ELEM_SIZE_MAX && !(size % 8);
}

int mts_jobs_get(struct mts_connection *connection, struct mts_job_info **jobs, size_t size,
		 __u32 *count, __u64 *generation)
{
	struct elements found;
	int ret;

	if (!is_size(size))
		return -EINVAL;
	ret = get(connection, MTS_IOC_JOBS, size, size, &found);
	if (ret == -EINVAL)
		ret = get_jobs_1(connection, size, &found);
	if (ret)
		return ret;
	/* Names are printed as strings: make sure that they end. */
	for (__u32 i = 0; i < found.count; i++) {
		struct mts_job_info *job = (void *)((char *)found.at + i * size);

		job->name[MTS_NAME_SIZE - 1] = '\0';
	}
	*jobs = found.at;
	*count = found.count;
	if (generation)
		*generation = found.generation;
	return 0;
}

int mts_bins_get(struct mts_connection *connection, struct mts_bin_info **bins, __u32 *count,
		 __u64 *generation)
{
	struct elements found;
	int ret = get(connection, MTS_IOC_BINS, sizeof(**bins), 0, &found);

	if (ret)
		return ret;
	*bins = found.at;
	*count = found.count;
	if (generation)
		*generation = found.generation;
	return 0;
}

int mts_users_get(struct mts_connection *connection, struct mts_user_weight **users, __u32 *count)
{
	struct elements found;
	int ret = get(connection, MTS_IOC_USERS, sizeof(**users), sizeof(**users), &found);

	if (ret)
		return ret;
	*users = found.at;
	*count = found.count;
	return 0;
}

int mts_gone_get(struct mts_connection *connection, struct mts_gone_info **gone, __u32 *count)
{
	struct elements found;
	int ret = get(connection, MTS_IOC_GONE, sizeof(**gone), sizeof(**gone), &found);

	if (ret)
		return ret;
	for (__u32 i = 0; i < found.count; i++)
		((struct mts_gone_info *)found.at)[i].name[MTS_NAME_SIZE - 1] = '\0';
	*gone = found.at;
	*count = found.count;
	return 0;
}

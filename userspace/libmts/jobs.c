// SPDX-License-Identifier: GPL-2.0
/* Commands about one job. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "libmts/connection.h"

int mts_job_new(struct mts_connection *connection, struct mts_job_create *job)
{
	return mts_call(connection, MTS_IOC_JOB_CREATE, job);
}

int mts_job_add_cgroup(struct mts_connection *connection, struct mts_job_add *job)
{
	return mts_call(connection, MTS_IOC_JOB_ADD, job);
}

int mts_job_add_process(struct mts_connection *connection, struct mts_job_take *job)
{
	return mts_call(connection, MTS_IOC_JOB_TAKE, job);
}

int mts_job_forget(struct mts_connection *connection, __u32 id)
{
	struct mts_job_remove remove = { .id = id };

	return mts_call(connection, MTS_IOC_JOB_REMOVE, &remove);
}

int mts_job_set_flags(struct mts_connection *connection, __u32 id, __u32 mask, __u32 flags)
{
	struct mts_job_set set = { .id = id, .mask = mask, .flags = flags };

	return mts_call(connection, MTS_IOC_JOB_SET, &set);
}

int mts_job_set_pin(struct mts_connection *connection, __u32 id, bool is_pinned)
{
	return mts_job_set_flags(connection, id, MTS_JOB_PIN, is_pinned ? MTS_JOB_PIN : 0);
}

int mts_job_set_pause(struct mts_connection *connection, __u32 id, __u64 max_pause_ns)
{
	struct mts_job_pause pause = { .id = id, .max_pause_ns = max_pause_ns };

	return mts_call(connection, MTS_IOC_JOB_PAUSE, &pause);
}

int mts_job_set_weight(struct mts_connection *connection, __u32 id, __u32 weight)
{
	struct mts_job_weight of = { .id = id, .weight = weight };

	return mts_call(connection, MTS_IOC_JOB_WEIGHT, &of);
}

int mts_job_find(struct mts_connection *connection, const char *name, struct mts_job_info *job,
		 size_t size)
{
	const struct mts_job_info *one = NULL;
	struct mts_job_info *jobs;
	__u32 count, found = 0;
	int err;

	err = mts_jobs_get(connection, &jobs, size, &count, NULL);
	if (err)
		return err;
	for (__u32 i = 0; i < count; i++) {
		/* Elements are @size bytes apart, which is that of the caller's header. */
		const struct mts_job_info *its = (const void *)((const char *)jobs + i * size);

		if (strcmp(its->name, name))
			continue;
		one = its;
		found++;
	}
	if (found == 1)
		memcpy(job, one, size);
	free(jobs);
	return found == 1 ? 0 : found ? -ENOTUNIQ : -ENOENT;
}

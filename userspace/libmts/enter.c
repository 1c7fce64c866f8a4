// SPDX-License-Identifier: GPL-2.0
/* The calling process becomes a job. */
#include <errno.h>
#include <limits.h>
#include <mntent.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libmts/connection.h"

__u64 mts_command_number(const char *const *words, unsigned int uid)
{
	__u64 number = 0xcbf29ce484222325ull; /* FNV-1a */

	for (size_t i = 0; i < sizeof(uid); i++)
		number = (number ^ (uid >> (8 * i) & 0xff)) * 0x100000001b3ull;
	for (; *words; words++)
		for (const char *c = *words;; c++) {
			number = (number ^ (unsigned char)*c) * 0x100000001b3ull;
			if (!*c)
				break;
		}
	return number ? number : 1; /* 0: none */
}

/* Where cgroup v2 is. Return: 0 or -ENOENT. */
static int find_mount(char path[PATH_MAX])
{
	FILE *mounts = setmntent("/proc/self/mounts", "re");
	char buf[2 * PATH_MAX];
	struct mntent entry;
	int err = -ENOENT;

	while (mounts && err && getmntent_r(mounts, &entry, buf, sizeof(buf)))
		if (!strcmp(entry.mnt_type, "cgroup2") &&
		    snprintf(path, PATH_MAX, "%s", entry.mnt_dir) < PATH_MAX)
			err = 0;
	if (mounts)
		endmntent(mounts);
	return err;
}

/* The number of the cgroup v2 that this process is in. Return: 0 or -errno. */
static int own_cgroup(__u64 *id)
{
	char mount[PATH_MAX], line[PATH_MAX + 8], path[2 * PATH_MAX + 8];
	FILE *file = fopen("/proc/self/cgroup", "re");
	int err = -ENOENT;
	struct stat st;

	while (file && err && fgets(line, sizeof(line), file))
		if (!strncmp(line, "0::/", 4))
			err = 0;
	if (file)
		fclose(file);
	if (!err)
		err = find_mount(mount);
	if (err)
		return err;
	line[strcspn(line, "\n")] = '\0';
	snprintf(path, sizeof(path), "%s%s", mount, line + 3);
	if (stat(path, &st))
		return -errno;
	*id = st.st_ino;
	return 0;
}

/* A module that knows no queue makes the job, if nothing is asked that only the queue can do. */
static int submit(struct mts_connection *connection, struct mts_job_submit *job)
{
	struct mts_job_create create = {
		/* It knows no users either. */
		.flags = job->flags & ~(MTS_JOB_BATCH | MTS_JOB_USER),
		.max_pause_ns = job->max_pause_ns,
		.weight = job->weight,
	};
	int ret = mts_call(connection, MTS_IOC_JOB_SUBMIT, job);

	if (ret != -ENOTTY || job->flags & MTS_JOB_QUEUE || job->size || job->max_wait_ns)
		return ret;
	memcpy(create.name, job->name, sizeof(create.name));
	ret = mts_job_new(connection, &create);
	if (ret)
		return ret;
	job->id = create.id;
	job->cgroup_id = create.cgroup_id;
	memcpy(job->name, create.name, sizeof(job->name));
	return 0;
}

int mts_job_enter(struct mts_connection *connection, struct mts_job_submit *job)
{
	struct mts_job_submit its = *job;
	int err = 0;

	if (connection->owner != getpid())
		return -ECHILD;
	its.flags |= MTS_JOB_ENTER;
	if (mts_is_for_users(connection))
		err = own_cgroup(&its.cgroup_id);
	if (!err)
		err = submit(connection, &its);
	if (!err)
		*job = its;
	return err;
}

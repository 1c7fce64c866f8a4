// SPDX-License-Identifier: GPL-2.0
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "cgroup.h"
#include "container.h"
#include "format.h"
#include "job_find.h"
#include "parse.h"

#define NAME_MAX_BYTES (MTS_NAME_SIZE - 1)
#define DEPTH 64 /* cgroups above one that are looked at */

struct search {
	const struct command *command;
	const struct mts_job_info *jobs;
	u32 count;
	const char *text; /* as the user wrote it */
};

static int no_job(const struct search *search)
{
	complain("%s: no job %s: 'mtsctl status --all' lists them", search->command->name,
		 search->text);
	return EXIT_FAILED;
}

static const struct mts_job_info *with_id(const struct search *search, u32 id)
{
	for (u32 i = 0; i < search->count; i++)
		if (search->jobs[i].id == id)
			return &search->jobs[i];
	return NULL;
}

static const struct mts_job_info *with_cgroup(const struct search *search, u64 id)
{
	for (u32 i = 0; i < search->count; i++)
		if (search->jobs[i].cgroup_id == id)
			return &search->jobs[i];
	return NULL;
}

/* ---- names ----------------------------------------------------------------------- */

struct named {
	const struct mts_job_info *job, *another; /* NULL: none */
	const struct mts_job_info *unsure; /* its name is cut, and its cgroup cannot be read */
};

/* What a text may be. */
enum {
	IS_NAME = 1,
	IS_CONTAINER = 2, /* the name of one, or an id that begins so */
};

static bool has_container(const struct mts_job_info *job, const char *text)
{
	char name[CONTAINER_NAME_SIZE] = "";
	struct container container;

	if (!container_of_job(job, &container, NULL))
		return false;
	if (container_of_job(job, NULL, name) && !strcmp(name, text))
		return true;
	return strlen(text) >= CONTAINER_ID_SHORT && !strncmp(container.id, text, strlen(text));
}

/* The list of jobs has the first 63 bytes of a name; the directory has the whole name. */
static bool has_name(const struct mts_job_info *job, const char *name, struct named *named)
{
	char path[PATH_MAX];

	if (strncmp(job->name, name, NAME_MAX_BYTES))
		return false;
	if (strlen(name) <= NAME_MAX_BYTES)
		return true;
	if (!cgroup_path_of_id(job->cgroup_id, path))
		return !strcmp(strrchr(path, '/') + 1, name);
	named->unsure = job;
	return false;
}

static struct named with_name(const struct search *search, const char *name, int kinds)
{
	struct named named = { 0 };

	if (kinds & IS_CONTAINER)
		container_expect(search->jobs, search->count);
	for (u32 i = 0; i < search->count && !named.another; i++) {
		const struct mts_job_info *job = &search->jobs[i];

		if (!(kinds & IS_NAME && has_name(job, name, &named)) &&
		    !(kinds & IS_CONTAINER && has_container(job, name)))
			continue;
		if (named.job)
			named.another = job;
		else
			named.job = job;
	}
	return named;
}

static int empty_name(const struct search *search)
{
	return usage_error(search->command,
			   "an empty name: name a job by its name, its id or the path of its "
			   "cgroup");
}

static int find_name(const struct search *search, const char *name, int kinds,
		     const struct mts_job_info **found)
{
	struct named named;

	if (!*name)
		return empty_name(search);
	named = with_name(search, name, kinds);
	if (named.another)
		return usage_error(search->command,
				   "%s is the name of several jobs, such as %u and %u: "
				   "use the id, or the path of the cgroup",
				   search->text, named.job->id, named.another->id);
	if (named.unsure) {
		complain("%s: %s: job %u has the first %d bytes of this name, and the kernel "
			 "does not show its cgroup: use the id, or the path of the cgroup",
			 search->command->name, search->text, named.unsure->id, NAME_MAX_BYTES);
		return EXIT_FAILED;
	}
	*found = named.job;
	return named.job ? EXIT_OK : no_job(search);
}

/* ---- ids ------------------------------------------------------------------------- */

static int find_id(const struct search *search, const char *digits,
		   const struct mts_job_info **found)
{
	u32 id;

	if (!*digits || !all_digits(digits))
		return usage_error(search->command, "%s: not an id: write digits, as in id=7",
				   search->text);
	*found = parse_id(digits, &id) ? with_id(search, id) : NULL;
	return *found ? EXIT_OK : no_job(search);
}

/*
 * Digits are never taken for a name: a script may hold the id of a job that is gone. If another job
 * has these digits as its name, they are refused as an id, too: the user may mean that name.
 */
static int find_digits(const struct search *search, const struct mts_job_info **found)
{
	const char *command = search->command->name, *text = search->text;
	struct named named = with_name(search, text, IS_NAME | IS_CONTAINER);
	const struct mts_job_info *job;
	char name[MTS_NAME_SIZE];
	u32 id;

	job = parse_id(text, &id) ? with_id(search, id) : NULL;
	if (!named.job || (named.job == job && !named.another)) {
		*found = job;
		return job ? EXIT_OK : no_job(search);
	}
	if (named.job == job)
		named.job = named.another;
	if (job)
		return usage_error(search->command,
				   "%s is the id of job %s, and the name of job %u: "
				   "write id=%s or name=%s",
				   text, format_name(name, sizeof(name), job->name), named.job->id,
				   text, text);
	complain("%s: no job %s: digits alone are an id; for the job named %s write name=%s or "
		 "id=%u",
		 command, text, text, text, named.job->id);
	return EXIT_FAILED;
}

/* ---- cgroups --------------------------------------------------------------------- */

static const struct mts_job_info *job_above(const struct search *search, const char *dir)
{
	const struct mts_job_info *above = NULL;
	int fd = open(dir, O_PATH | O_CLOEXEC);
	char path[PATH_MAX];
	u64 ids[DEPTH];
	int n = 0;

	if (fd < 0)
		return NULL;
	if (!cgroup_path_of_fd(fd, path))
		cgroup_ids(path, ids, DEPTH, &n);
	close(fd);
	for (int i = 0; i < n && !above; i++)
		above = with_cgroup(search, ids[i]);
	return above;
}

/* The directory is a cgroup, but not a job. */
static int not_a_job(const struct search *search, const char *dir)
{
	const struct mts_job_info *above = job_above(search, dir);
	char name[MTS_NAME_SIZE];

	if (above)
		complain("%s: no job %s: this cgroup is not a job itself, but lies below job %s "
			 "(%u)",
			 search->command->name, search->text,
			 format_name(name, sizeof(name), above->name), above->id);
	else
		complain("%s: no job %s: this cgroup is not a job: 'mtsctl status --all' lists "
			 "them",
			 search->command->name, search->text);
	return EXIT_FAILED;
}

static int find_cgroup(const struct search *search, const struct mts_job_info **found)
{
	char dir[PATH_MAX];
	u64 id;
	int ret;

	ret = cgroup_dir(search->text, dir);
	if (!ret)
		ret = cgroup_dir_id(dir, &id);
	if (ret) {
		complain("%s: %s: %s: name the cgroup of a job, such as user.slice/my.scope or "
			 "/sys/fs/cgroup/user.slice/my.scope",
			 search->command->name, search->text,
			 ret == -EXDEV ? "not a directory of cgroup v2" : strerror(-ret));
		return EXIT_FAILED;
	}
	*found = with_cgroup(search, id);
	return *found ? EXIT_OK : not_a_job(search, dir);
}

int job_find(const struct command *command, const struct mts_job_info *jobs, u32 count,
	     const char *text, const struct mts_job_info **found)
{
	const struct search search = {
		.command = command,
		.jobs = jobs,
		.count = count,
		.text = text,
	};

	*found = NULL;
	if (!strncmp(text, "id=", 3))
		return find_id(&search, text + 3, found);
	if (!strncmp(text, "name=", 5))
		return find_name(&search, text + 5, IS_NAME, found);
	if (!strncmp(text, "container=", 10))
		return find_name(&search, text + 10, IS_CONTAINER, found);
	if (strchr(text, '/'))
		return find_cgroup(&search, found);
	if (*text && all_digits(text))
		return find_digits(&search, found);
	return find_name(&search, text, IS_NAME | IS_CONTAINER, found);
}

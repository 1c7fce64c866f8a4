// SPDX-License-Identifier: GPL-2.0
#define _GNU_SOURCE
#include "engine/taken.h"

#include <ctype.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/cgroup.h"
#include "engine/process.h"
#include "memory/cgroupfs.h"
#include "uapi/mts.h"

/* Passes over the processes of a job that is given back: forks may be quicker than one. */
#define PASSES 64

/* As for `mtsctl run --name`: other characters become "_". */
static void name_of(pid_t pid, char name[MTS_NAME_SIZE])
{
	char file[32], comm[TASK_COMM_LEN + 1], *c;

	snprintf(file, sizeof(file), "/proc/%d/comm", pid);
	if (mts_read_at(AT_FDCWD, file, comm, sizeof(comm)) <= 0)
		strscpy(comm, "job", sizeof(comm));
	comm[strcspn(comm, "\n")] = '\0';
	for (c = comm; *c; c++)
		if (!isascii(*c) || (!isalnum(*c) && !strchr("._@:+-", *c)) || *comm == '.')
			*c = '_';
	snprintf(name, MTS_NAME_SIZE, "%s-%d", comm, pid);
}

/* The cgroup of the process, with a reference. */
static struct cgroup *home_of(pid_t pid)
{
	char path[PATH_MAX];

	if (!mts_cgroup_of_pid(pid, path, sizeof(path)))
		return ERR_PTR(-ESRCH);
	/* "/..": out of the namespace */
	if (!strncmp(path + strlen(mts_cgroup_mount()), "/..", 3))
		return ERR_PTR(-EXDEV);
	return mts_cgroup_get(path);
}

static int move(const struct cgroup *to, pid_t pid)
{
	char text[16];

	snprintf(text, sizeof(text), "%d", pid);
	return mts_cgroup_write(to, "cgroup.procs", text);
}

/* A killed mtsd may have left an empty one. */
static int make_directory(int dir, const char *name)
{
	if (!mkdirat(dir, name, 0755))
		return 0;
	if (errno != EEXIST)
		return -errno;
	if (unlinkat(dir, name, AT_REMOVEDIR) && errno != ENOENT)
		return -EEXIST;
	return mkdirat(dir, name, 0755) ? -errno : 0;
}

/* A cgroup below @place, with a reference. */
static struct cgroup *make(const struct cgroup *place, const char *name)
{
	struct cgroup *cgrp;
	char path[PATH_MAX];
	int err;

	if (snprintf(path, sizeof(path), "%s/%s", place->path, name) >= PATH_MAX)
		return ERR_PTR(-ENAMETOOLONG);
	err = make_directory(place->dir, name);
	if (err)
		return ERR_PTR(err);
	cgrp = mts_cgroup_get(path);
	if (IS_ERR(cgrp))
		unlinkat(place->dir, name, AT_REMOVEDIR);
	return cgrp;
}

static void remove_it(struct cgroup *cgrp)
{
	const char *name = strrchr(cgrp->path, '/') + 1;

	mts_cgroupfs_trim(NULL, cgrp);
	if (unlinkat(cgrp->parent->dir, name, AT_REMOVEDIR) && errno != ENOENT)
		pr_notice("the cgroup %s stays: %s\n", cgrp->path, strerror(errno));
}

struct cgroup *mts_taken_make(pid_t pid)
{
	struct cgroup *home = home_of(pid), *cgrp;
	char name[MTS_NAME_SIZE];
	int err;

	if (IS_ERR(home))
		return home;
	name_of(pid, name);
	/* The root cgroup is the administrator's. */
	cgrp = make(home->parent ? home : mts_cgroupfs_base(), name);
	if (IS_ERR(cgrp)) {
		cgroup_put(home);
		return cgrp;
	}
	err = move(cgrp, pid);
	if (err) {
		remove_it(cgrp);
		cgroup_put(cgrp);
		cgroup_put(home);
		return ERR_PTR(err == -ENODEV ? -ESRCH : err);
	}
	/* Below the base it may have the controller, but the memory stays charged to its home. */
	cgrp->memory = false;
	cgrp->home = home;
	return cgrp;
}

void mts_taken_give_back(struct cgroup *cgrp)
{
	struct cgroup *home = cgrp->home;
	u32 i, n, pass = 0;
	pid_t *pids;

	if (!home)
		return;
	cgrp->home = NULL;
	/* Also from cgroups that its processes have made below it. */
	do {
		n = mts_cgroup_pids(cgrp, &pids, NULL);
		for (i = 0; i < n; i++)
			if (mts_cgroup_holds(cgrp, pids[i]))
				move(home, pids[i]);
		free(pids);
	} while (n && ++pass < PASSES);
	remove_it(cgrp);
	cgroup_put(home);
}

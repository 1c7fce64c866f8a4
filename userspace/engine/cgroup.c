// SPDX-License-Identifier: GPL-2.0
#define _GNU_SOURCE
#include "engine/cgroup.h"

#include <dirent.h>
#include <limits.h>
#include <linux/magic.h>
#include <mntent.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#define DEPTH_MAX 64

static DEFINE_MUTEX(cgroups_lock); /* innermost */
static struct cgroup *cgroups; /* under cgroups_lock, and so are the counts of references */

const char *mts_cgroup_mount(void)
{
	static char mount[PATH_MAX];
	struct mntent *entry;
	FILE *mounts;

	if (*mount)
		return mount;
	mounts = setmntent("/proc/self/mounts", "re");
	while (mounts && (entry = getmntent(mounts)))
		if (!strcmp(entry->mnt_type, "cgroup2") &&
		    (!*mount || !strcmp(entry->mnt_dir, MTS_CGROUP_USUAL_MOUNT)))
			strscpy(mount, entry->mnt_dir, sizeof(mount));
	if (mounts)
		endmntent(mounts);
	if (!*mount)
		strscpy(mount, MTS_CGROUP_USUAL_MOUNT, sizeof(mount));
	return mount;
}

/* ---- objects ---------------------------------------------------------------------- */

struct cgroup *mts_cgroup_ref(struct cgroup *cgrp)
{
	mutex_lock(&cgroups_lock);
	cgrp->refs++;
	mutex_unlock(&cgroups_lock);
	return cgrp;
}

static void close_fd(int fd)
{
	if (fd >= 0)
		close(fd);
}

static void free_cgroup(struct cgroup *cgrp)
{
	close_fd(cgrp->dir);
	close_fd(cgrp->freeze);
	close_fd(cgrp->events);
	free(cgrp->path);
	free(cgrp);
}

void cgroup_put(struct cgroup *cgrp)
{
	while (cgrp) {
		struct cgroup *parent = cgrp->parent, **at;
		bool last;

		mutex_lock(&cgroups_lock);
		last = !--cgrp->refs;
		for (at = &cgroups; last && *at; at = &(*at)->next) {
			if (*at != cgrp)
				continue;
			*at = cgrp->next;
			break;
		}
		mutex_unlock(&cgroups_lock);
		if (!last)
			return;
		free_cgroup(cgrp);
		cgrp = parent;
	}
}

struct cgroup *cgroup_parent(const struct cgroup *cgrp)
{
	return cgrp->parent;
}

u64 cgroup_ino(const struct cgroup *cgrp)
{
	return cgrp->id;
}

bool cgroup_is_descendant(const struct cgroup *cgrp, const struct cgroup *above)
{
	for (; cgrp; cgrp = cgrp->parent)
		if (cgrp == above)
			return true;
	return false;
}

static struct cgroup *find(u64 id)
{
	struct cgroup *cgrp;

	mutex_lock(&cgroups_lock);
	for (cgrp = cgroups; cgrp && cgrp->id != id; cgrp = cgrp->next)
		;
	if (cgrp)
		cgrp->refs++;
	mutex_unlock(&cgroups_lock);
	return cgrp;
}

/* Another thread may have made the same meanwhile: the first one counts. */
static struct cgroup *publish(struct cgroup *cgrp)
{
	struct cgroup *other;

	mutex_lock(&cgroups_lock);
	for (other = cgroups; other && other->id != cgrp->id; other = other->next)
		;
	if (other) {
		other->refs++;
	} else {
		cgrp->next = cgroups;
		cgroups = cgrp;
	}
	mutex_unlock(&cgroups_lock);
	if (!other)
		return cgrp;
	cgroup_put(cgrp->parent);
	free_cgroup(cgrp);
	return other;
}

/* Of a cgroup that is another user's, above a job: to see whether it is frozen. */
static int open_freeze(int dir)
{
	int fd = openat(dir, "cgroup.freeze", O_RDWR | O_CLOEXEC);

	return fd < 0 && errno == EACCES ? openat(dir, "cgroup.freeze", O_RDONLY | O_CLOEXEC) : fd;
}

static struct cgroup *new_cgroup(int dir, const char *path, u64 id)
{
	struct cgroup *cgrp = calloc(1, sizeof(*cgrp));

	if (!cgrp)
		return NULL;
	*cgrp = (struct cgroup){
		.refs = 1,
		.id = id,
		.dir = dir,
		.freeze = open_freeze(dir),
		.events = openat(dir, "cgroup.events", O_RDONLY | O_CLOEXEC),
		.watch = -1,
		.slot = -1,
		.memory = !faccessat(dir, "memory.current", R_OK, 0),
		.path = strdup(path),
	};
	if (cgrp->path)
		return cgrp;
	cgrp->dir = -1;
	free_cgroup(cgrp);
	return NULL;
}

static bool is_mount(const char *path)
{
	return !strcmp(path, mts_cgroup_mount());
}

/* Takes over @dir. */
static struct cgroup *get(int dir, const char *path)
{
	struct cgroup *cgrp, *parent;
	char above[PATH_MAX];
	struct statfs fs;
	struct stat st;

	if (fstatfs(dir, &fs) || fstat(dir, &st) || fs.f_type != CGROUP2_SUPER_MAGIC ||
	    !S_ISDIR(st.st_mode)) {
		close(dir);
		return ERR_PTR(-EINVAL);
	}
	cgrp = find(st.st_ino);
	if (cgrp) {
		close(dir);
		return cgrp;
	}
	cgrp = new_cgroup(dir, path, st.st_ino);
	if (!cgrp) {
		close(dir);
		return ERR_PTR(-ENOMEM);
	}
	if (!is_mount(path) && strchr(path, '/') != strrchr(path, '/')) {
		snprintf(above, sizeof(above), "%.*s", (int)(strrchr(path, '/') - path), path);
		parent = mts_cgroup_get(above);
		/* A mount of a part of the hierarchy: nothing above it can be seen. */
		cgrp->parent = IS_ERR(parent) ? NULL : parent;
	}
	return publish(cgrp);
}

struct cgroup *mts_cgroup_get(const char *path)
{
	int dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	return dir < 0 ? ERR_PTR(-errno) : get(dir, path);
}

/* ---- files ------------------------------------------------------------------------ */

ssize_t mts_read_open(int fd, char *buf, size_t size)
{
	size_t length = 0;
	ssize_t got;

	while (length < size - 1) {
		got = pread(fd, buf + length, size - 1 - length, length);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -errno;
		if (!got)
			break;
		length += got;
	}
	buf[length] = '\0';
	return length;
}

ssize_t mts_read_at(int dir, const char *path, char *buf, size_t size)
{
	int fd = openat(dir, path, O_RDONLY | O_CLOEXEC);
	ssize_t length;

	if (fd < 0)
		return -errno;
	length = mts_read_open(fd, buf, size);
	close(fd);
	return length;
}

/* An open of a file of a removed cgroup fails with ENOENT, a read or write with ENODEV. */
static ssize_t gone(ssize_t err)
{
	return err == -ENOENT ? -ENODEV : err;
}

ssize_t mts_cgroup_read(const struct cgroup *cgrp, const char *file, char *buf, size_t size)
{
	return gone(mts_read_at(cgrp->dir, file, buf, size));
}

int mts_cgroup_write(const struct cgroup *cgrp, const char *file, const char *text)
{
	int fd = openat(cgrp->dir, file, O_WRONLY | O_CLOEXEC), err = 0;

	if (fd < 0)
		return gone(-errno);
	if (write(fd, text, strlen(text)) < 0)
		err = -errno;
	close(fd);
	return err;
}

u64 mts_keyed_value(const char *text, const char *key)
{
	size_t length = strlen(key);
	const char *line;

	for (line = text; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (!strncmp(line, key, length) && (line[length] == ' ' || line[length] == ':'))
			return strtoull(line + length + 1, NULL, 10);
	}
	return 0;
}

bool mts_cgroup_event(const struct cgroup *cgrp, const char *key)
{
	char buf[128];

	return mts_read_open(cgrp->events, buf, sizeof(buf)) > 0 && mts_keyed_value(buf, key);
}

bool mts_cgroup_freeze_set(const struct cgroup *cgrp)
{
	char buf[8];

	return cgrp->freeze >= 0 && mts_read_open(cgrp->freeze, buf, sizeof(buf)) > 0 &&
	       *buf == '1';
}

/* ---- processes -------------------------------------------------------------------- */

struct pids {
	pid_t *at;
	u32 n;
	u32 room;
	u32 cgroups; /* that have been looked at */
};

static bool add_pid(struct pids *pids, pid_t pid)
{
	if (pids->n == MTS_PROCESSES_MOST)
		return false;
	if (pids->n == pids->room) {
		u32 room = pids->room ? 2 * pids->room : 64;
		pid_t *at = realloc(pids->at, room * sizeof(*at));

		if (!at)
			return false;
		pids->at = at;
		pids->room = room;
	}
	pids->at[pids->n++] = pid;
	return true;
}

/* A threaded cgroup lists no processes: the domain above it lists them. */
static bool add_pids_of(int dir, struct pids *pids)
{
	int pid, fd = openat(dir, "cgroup.procs", O_RDONLY | O_CLOEXEC);
	FILE *file = fd < 0 ? NULL : fdopen(fd, "r");
	bool all = true;

	if (!file) {
		close_fd(fd);
		return true;
	}
	/* 0: a process of another PID namespace */
	while (all && fscanf(file, "%d", &pid) == 1)
		all = pid <= 0 || add_pid(pids, pid);
	fclose(file);
	return all;
}

bool mts_is_cgroup_below(const struct dirent *entry)
{
	return entry->d_type == DT_DIR && strcmp(entry->d_name, ".") && strcmp(entry->d_name, "..");
}

/* Return: false: there are more, or more cgroups. */
static bool add_pids_below(int dir, struct pids *pids, int depth)
{
	struct dirent *entry;
	bool all = true;
	DIR *stream;
	int fd;

	if (++pids->cgroups > MTS_CGROUPS_MOST || !add_pids_of(dir, pids))
		return false;
	fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	stream = fd < 0 ? NULL : fdopendir(fd);
	if (!stream) {
		close_fd(fd);
		return true;
	}
	while (all && depth < DEPTH_MAX && (entry = readdir(stream))) {
		if (!mts_is_cgroup_below(entry))
			continue;
		fd = openat(dir, entry->d_name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (fd < 0)
			continue;
		all = add_pids_below(fd, pids, depth + 1);
		close(fd);
	}
	closedir(stream);
	return all;
}

u32 mts_cgroup_pids(const struct cgroup *cgrp, pid_t **pids, bool *all)
{
	struct pids found = { 0 };
	bool has_all = add_pids_below(cgrp->dir, &found, 0);

	if (all)
		*all = has_all;
	*pids = found.at;
	return found.n;
}

bool mts_cgroup_of_pid(pid_t pid, char *path, size_t size)
{
	char file[32], buf[PATH_MAX + 64], *line;

	snprintf(file, sizeof(file), "/proc/%d/cgroup", pid);
	if (mts_read_at(AT_FDCWD, file, buf, sizeof(buf)) <= 0)
		return false;
	line = !strncmp(buf, "0::/", 4) ? buf : strstr(buf, "\n0::/");
	if (!line)
		return false;
	line += (*line == '\n') + 3;
	line[strcspn(line, "\n")] = '\0';
	snprintf(path, size, "%s%s", mts_cgroup_mount(), strcmp(line, "/") ? line : "");
	return true;
}

bool mts_cgroup_holds(const struct cgroup *cgrp, pid_t pid)
{
	char path[PATH_MAX];
	size_t length = strlen(cgrp->path);

	return mts_cgroup_of_pid(pid, path, sizeof(path)) && !strncmp(path, cgrp->path, length) &&
	       (!path[length] || path[length] == '/');
}

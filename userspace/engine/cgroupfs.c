// SPDX-License-Identifier: GPL-2.0
/* memory/cgroupfs.h, in user space. */
#define _GNU_SOURCE
#include "memory/cgroupfs.h"

#include <dirent.h>
#include <limits.h>
#include <sys/fsuid.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/cgroup.h"

/* Levels below a job: each has a descriptor open while it is removed. */
#define TRIM_DEPTH_MAX 64

static struct cgroup *base;
static bool base_made;

/* The default of the parameter names the usual mount; cgroup v2 may be elsewhere beside v1. */
static void base_path(const char *wanted, char path[PATH_MAX])
{
	size_t usual = strlen(MTS_CGROUP_USUAL_MOUNT);

	if (!strncmp(wanted, MTS_CGROUP_USUAL_MOUNT "/", usual + 1) &&
	    strncmp(wanted, mts_cgroup_mount(), strlen(mts_cgroup_mount())))
		snprintf(path, PATH_MAX, "%s%s", mts_cgroup_mount(), wanted + usual);
	else
		snprintf(path, PATH_MAX, "%s", wanted);
}

/* Where there is no memory controller in v2, jobs are evicted without it. */
static void enable_memory(void)
{
	char has[256];

	if (mts_cgroup_read(base->parent, "cgroup.controllers", has, sizeof(has)) < 0 ||
	    !strstr(has, "memory"))
		return;
	mts_cgroup_write(base->parent, "cgroup.subtree_control", "+memory");
	mts_cgroup_write(base, "cgroup.subtree_control", "+memory");
}

int mts_cgroupfs_init(const char *wanted)
{
	char path[PATH_MAX];
	int err;

	base_path(wanted, path);
	base_made = !mkdir(path, 0755);
	if (!base_made && errno != EEXIST) {
		err = -errno;
		pr_err("cannot make the cgroup %s: %s\n", path, strerror(errno));
		if (err == -EACCES)
			pr_err("start it where cgroups are delegated to this user (systemctl --user "
			       "start mtsd), or name one of them: cgroup_base=\n");
		return err;
	}
	base = mts_cgroup_get(path);
	if (!IS_ERR(base) && !base->parent) {
		cgroup_put(base);
		base = ERR_PTR(-EINVAL);
	}
	if (IS_ERR(base)) {
		err = PTR_ERR(base);
		base = NULL;
		pr_err("cgroup_base=%s: not below the mount of cgroup v2, %s: %s\n", wanted,
		       mts_cgroup_mount(), strerror(-err));
		return err;
	}
	enable_memory();
	return 0;
}

void mts_cgroupfs_exit(void)
{
	if (!base)
		return;
	/* Fails if there are jobs left in it, which run on. */
	if (base_made)
		rmdir(base->path);
	cgroup_put(base);
	base = NULL;
}

struct cgroup *mts_cgroupfs_base(void)
{
	return base;
}

/* What a thread does to files goes by its file system's ids; and only that thread's are changed. */
static int act_as_owner(const struct cgroup *cgrp)
{
	struct stat st;

	if (fstat(cgrp->dir, &st))
		return -errno;
	setfsgid(st.st_gid);
	setfsuid(st.st_uid);
	return 0;
}

static void act_as_oneself(void)
{
	setfsuid(geteuid());
	setfsgid(getegid());
}

/* It belongs to the owner. */
static int mkdir_for_owner(const struct cgroup *above, const char *name)
{
	int err = act_as_owner(above);

	if (err)
		return err;
	if (mkdirat(above->dir, name, 0755))
		err = -errno;
	act_as_oneself();
	return err;
}

int mts_cgroupfs_mkdir(const struct path *place, const char *name, struct path *dir)
{
	const struct cgroup *above = place ? place->dentry : base;
	char path[PATH_MAX];
	struct cgroup *cgrp;
	int err, n = snprintf(path, sizeof(path), "%s/%s", above->path, name);

	if (n >= (int)sizeof(path))
		return -ENAMETOOLONG;
	err = mkdir_for_owner(above, name);
	if (err)
		return err;
	cgrp = mts_cgroup_get(path);
	if (IS_ERR(cgrp)) {
		unlinkat(above->dir, name, AT_REMOVEDIR);
		return PTR_ERR(cgrp);
	}
	dir->dentry = cgrp;
	return 0;
}

void mts_cgroupfs_above(const struct path *dir, struct path *above)
{
	above->dentry = mts_cgroup_ref(dir->dentry->parent);
}

int mts_cgroupfs_rmdir(const struct path *place, const char *name, const struct path *dir)
{
	const struct cgroup *above = place ? place->dentry : base;
	struct stat st;

	if (dir &&
	    (fstatat(above->dir, name, &st, AT_SYMLINK_NOFOLLOW) || st.st_ino != dir->dentry->id))
		return -ENOENT;
	return unlinkat(above->dir, name, AT_REMOVEDIR) ? -errno : 0;
}

/* Return: 0, or the error of the first rmdir(2) that failed. */
static int remove_below(int dir, int depth, u32 *most)
{
	struct dirent *entry;
	int fd, err = 0;
	DIR *stream;

	if (depth == TRIM_DEPTH_MAX)
		return -EBUSY;
	fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	stream = fdopendir(fd);
	if (!stream) {
		err = -errno;
		close(fd);
		return err;
	}
	while (!err && (entry = readdir(stream))) {
		if (!mts_is_cgroup_below(entry))
			continue;
		if (!*most) {
			err = -EBUSY;
			break;
		}
		--*most;
		fd = openat(dir, entry->d_name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (fd >= 0) {
			err = remove_below(fd, depth + 1, most);
			close(fd);
		}
		if (!err && unlinkat(dir, entry->d_name, AT_REMOVEDIR) && errno != ENOENT)
			err = -errno;
	}
	closedir(stream);
	return err;
}

int mts_cgroupfs_trim(const struct path *dir, struct cgroup *cgrp)
{
	u32 most = MTS_CGROUPS_MOST;

	return remove_below(cgrp->dir, 0, &most);
}

struct cgroup *mts_cgroupfs_get(const struct path *dir)
{
	if (!mts_cgroupfs_is_online(dir->dentry))
		return ERR_PTR(-ENODEV);
	return mts_cgroup_ref(dir->dentry);
}

int mts_cgroupfs_dir_of_fd(int fd, struct path *dir)
{
	char link[32], path[PATH_MAX];
	struct cgroup *cgrp;
	ssize_t length;
	struct stat st;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	length = readlink(link, path, sizeof(path) - 1);
	if (length < 0)
		return errno == ENOENT ? -EBADF : -errno;
	path[length] = '\0';
	/* The link names a directory of another namespace by another path. */
	if (strncmp(path, mts_cgroup_mount(), strlen(mts_cgroup_mount())))
		return -EINVAL;
	cgrp = mts_cgroup_get(path);
	if (IS_ERR(cgrp))
		return PTR_ERR(cgrp) == -ENOENT	 ? -ENODEV :
		       PTR_ERR(cgrp) == -ENOTDIR ? -EINVAL :
						   PTR_ERR(cgrp);
	/* The path of one that is removed is "x (deleted)", and another one may have that name. */
	if (fstat(fd, &st) || st.st_ino != cgrp->id) {
		cgroup_put(cgrp);
		return -ENODEV;
	}
	dir->dentry = cgrp;
	return 0;
}

void mts_cgroupfs_name(const struct path *dir, char *name, size_t size)
{
	strscpy(name, strrchr(dir->dentry->path, '/') + 1, size);
}

u32 mts_cgroupfs_owner(const struct path *dir)
{
	struct stat st;

	return fstat(dir->dentry->dir, &st) ? 0 : st.st_uid;
}

/* Without the controller a job is evicted by process_madvise(). */
bool mts_cgroupfs_has_memory(struct cgroup *cgrp)
{
	return true;
}

bool mts_cgroupfs_is_online(struct cgroup *cgrp)
{
	return !faccessat(cgrp->dir, "cgroup.procs", F_OK, 0);
}

bool mts_cgroupfs_is_populated(struct cgroup *cgrp)
{
	return mts_cgroup_event(cgrp, "populated");
}

struct file *mts_cgroupfs_open(const struct path *dir, const char *name, int flags)
{
	struct file *file = malloc(sizeof(*file));

	if (!file)
		return ERR_PTR(-ENOMEM);
	file->fd = openat(dir->dentry->dir, name, flags | O_CLOEXEC);
	if (file->fd < 0) {
		int err = -errno;

		free(file);
		return ERR_PTR(err);
	}
	return file;
}

void fput(struct file *file)
{
	close(file->fd);
	free(file);
}

void path_put(struct path *path)
{
	cgroup_put(path->dentry);
}

void path_get(struct path *path)
{
	mts_cgroup_ref(path->dentry);
}

ssize_t mts_cgroupfs_read(const struct path *dir, const char *file, char *buf, size_t size)
{
	return mts_cgroup_read(dir->dentry, file, buf, size);
}

int mts_cgroupfs_write(const struct path *dir, const char *file, const char *text)
{
	return mts_cgroup_write(dir->dentry, file, text);
}

int mts_cgroupfs_write_file(struct file *file, const char *text)
{
	return pwrite(file->fd, text, strlen(text), 0) < 0 ? -errno : 0;
}

int mts_cgroupfs_read_u64(const struct path *dir, const char *file, u64 *value)
{
	char buf[32], *end;
	ssize_t length = mts_cgroup_read(dir->dentry, file, buf, sizeof(buf));

	if (length < 0)
		return length;
	if (!strcmp(buf, "max\n")) {
		*value = U64_MAX;
		return 0;
	}
	*value = strtoull(buf, &end, 10);
	return end == buf ? -EINVAL : 0;
}

int mts_cgroupfs_write_u64(const struct path *dir, const char *file, u64 value)
{
	char text[24];

	if (value == U64_MAX)
		strcpy(text, "max");
	else
		snprintf(text, sizeof(text), "%llu", (unsigned long long)value);
	return mts_cgroup_write(dir->dentry, file, text);
}

/*
 * The process that asks: it waits for the answer, and executes its command in the job. A child does
 * not wait: its number may be another process's by now. It is done as the owner of the cgroup:
 * to that user the kernel refuses a process from elsewhere.
 */
int mts_cgroupfs_enter(const struct path *dir)
{
	const struct mts_user_caller *caller = mts_user_caller();
	char text[16];
	int err;

	snprintf(text, sizeof(text), "%d", caller->pid);
	if (!caller->from)
		return mts_cgroup_write(dir->dentry, "cgroup.procs", text);
	if (!mts_cgroup_holds(caller->from, caller->pid))
		return -ESRCH;
	err = act_as_owner(dir->dentry);
	if (err)
		return err;
	err = mts_cgroup_write(dir->dentry, "cgroup.procs", text);
	act_as_oneself();
	return err;
}

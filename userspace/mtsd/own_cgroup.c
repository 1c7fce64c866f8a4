// SPDX-License-Identifier: GPL-2.0
#define _GNU_SOURCE
#include "mtsd/own_cgroup.h"

#include <dirent.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "engine/cgroup.h"
#include "engine/process.h"
#include "mtsd/rights.h"

#define KERNFS_HANDLE 0xfe /* FILEID_KERNFS in linux/exportfs.h */
#define MAKER "trusted.mts.user"
#define MAKER_SIZE 64 /* three numbers of 32 bits and one of 64, with blanks and NUL */
/* What one request of a user may have mtsd look at. */
#define DEPTH_MAX 32
#define PARENTS_MAX 64

/* ---- descriptors ------------------------------------------------------------------------- */

static int mount_fd(void)
{
	static int mount = -1; /* under the lock of users.c */

	if (mount < 0)
		mount = open(mts_cgroup_mount(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return mount;
}

int own_cgroup_open(u64 id)
{
	union {
		struct file_handle handle;
		char room[sizeof(struct file_handle) + sizeof(id)];
	} h = { .handle = { .handle_bytes = sizeof(id), .handle_type = KERNFS_HANDLE } };
	int fd;

	memcpy(h.handle.f_handle, &id, sizeof(id));
	fd = open_by_handle_at(mount_fd(), &h.handle, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return errno == ESTALE ? -ENOENT : -errno;
	return fd;
}

u32 own_cgroup_uid(int cgroup)
{
	struct stat dir, freeze;

	if (fstat(cgroup, &dir) || fstatat(cgroup, "cgroup.freeze", &freeze, AT_SYMLINK_NOFOLLOW) ||
	    dir.st_uid != freeze.st_uid)
		return RIGHTS_NOBODY;
	return dir.st_uid;
}

/* ---- processes --------------------------------------------------------------------------- */

struct walk {
	u32 uid;
	pid_t alone;
	pid_t avoid[PARENTS_MAX]; /* the caller and its ancestors; ends with 0 */
	u32 cgroups, processes;
};

/* Its real, effective, saved and file system's user id. */
static int check_ids(pid_t pid, u32 uid)
{
	char file[32], buf[4096], *line;
	ssize_t length;
	u32 ids[4];

	snprintf(file, sizeof(file), "/proc/%d/status", pid);
	length = mts_read_at(AT_FDCWD, file, buf, sizeof(buf));
	/* It has ended meanwhile. */
	if (length == -ENOENT || length == -ESRCH)
		return 0;
	line = length > 0 ? strstr(buf, "\nUid:") : NULL;
	return line &&
			       sscanf(line, "\nUid: %u %u %u %u", &ids[0], &ids[1], &ids[2],
				      &ids[3]) == 4 &&
			       ids[0] == uid && ids[1] == uid && ids[2] == uid && ids[3] == uid ?
		       0 :
		       -EACCES;
}

static int check_process(struct walk *walk, pid_t pid)
{
	const pid_t *avoid = walk->avoid;
	int err;

	/* 0: of another PID namespace, where nothing is known of it */
	if (pid <= 0)
		return -EACCES;
	if (++walk->processes > MTS_PROCESSES_MOST)
		return -E2BIG;
	for (; *avoid; avoid++)
		if (*avoid == pid)
			return -EBUSY;
	err = check_ids(pid, walk->uid);
	return !err && walk->alone && pid != walk->alone ? -EBUSY : err;
}

static int check_processes(struct walk *walk, int dir)
{
	int pid, err = 0, fd = openat(dir, "cgroup.procs", O_RDONLY | O_CLOEXEC);
	FILE *file = fd < 0 ? NULL : fdopen(fd, "r");

	if (!file) {
		err = -errno;
		if (fd >= 0)
			close(fd);
		return err;
	}
	errno = 0;
	while (!err && fscanf(file, "%d", &pid) == 1)
		err = check_process(walk, pid);
	/* Of a threaded cgroup only the one above it lists the processes. */
	if (!err && ferror(file))
		err = errno == ENODEV ? -ENODEV : -EOPNOTSUPP;
	fclose(file);
	return err;
}

static bool is_threaded(int dir)
{
	char type[32];

	return mts_read_at(dir, "cgroup.type", type, sizeof(type)) > 0 &&
	       !strcmp(type, "threaded\n");
}

static int check_below(struct walk *walk, int dir, int depth)
{
	struct dirent *entry;
	DIR *stream;
	int fd, err;

	if (depth > DEPTH_MAX || ++walk->cgroups > MTS_CGROUPS_MOST)
		return -E2BIG;
	/* One below it, of which the processes are in the list of the cgroup above. */
	if (!depth || !is_threaded(dir)) {
		err = check_processes(walk, dir);
		if (err)
			return depth && err == -ENODEV ? 0 : err;
	}
	fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	stream = fd < 0 ? NULL : fdopendir(fd);
	if (!stream) {
		err = -errno;
		if (fd >= 0)
			close(fd);
		return err;
	}
	err = 0;
	while (!err && (entry = readdir(stream))) {
		if (!mts_is_cgroup_below(entry))
			continue;
		fd = openat(dir, entry->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (fd < 0 && errno == ENOENT)
			continue;
		err = fd < 0 ? -errno : check_below(walk, fd, depth + 1);
		if (fd >= 0)
			close(fd);
	}
	closedir(stream);
	return err;
}

int own_cgroup_check(int cgroup, u32 uid, pid_t caller, pid_t alone)
{
	struct walk walk = { .uid = uid, .alone = alone };
	u32 i = 0;

	for (; caller > 1 && i < PARENTS_MAX - 1; caller = mts_process_parent(caller))
		walk.avoid[i++] = caller;
	return check_below(&walk, cgroup, 0);
}

/* ---- who made a job of it ---------------------------------------------------------------- */

u32 own_cgroup_maker(int cgroup, u32 job, u64 instance, u32 *children)
{
	char text[MAKER_SIZE];
	ssize_t length = fgetxattr(cgroup, MAKER, text, sizeof(text) - 1);
	unsigned long long of;
	u32 uid, id;

	*children = 0;
	if (length <= 0)
		return RIGHTS_ROOT;
	text[length] = '\0';
	if (sscanf(text, "%u %u %llu %u", &uid, &id, &of, children) < 3 || id != job ||
	    of != instance) {
		*children = 0;
		return RIGHTS_ROOT;
	}
	return uid;
}

int own_cgroup_set_maker(int cgroup, u32 job, u64 instance, u32 uid, u32 children)
{
	char text[MAKER_SIZE];
	int length = snprintf(text, sizeof(text), "%u %u %llu %u", uid, job, instance, children);

	return fsetxattr(cgroup, MAKER, text, length, 0) ? -errno : 0;
}

void own_cgroup_clear_maker(int cgroup)
{
	fremovexattr(cgroup, MAKER);
}

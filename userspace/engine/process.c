// SPDX-License-Identifier: GPL-2.0
#define _GNU_SOURCE
#include "engine/process.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/cgroup.h"

#define KERNEL_THREAD 0x00200000 /* PF_KTHREAD, in field 9 of /proc/PID/stat */

/* Private memory that can be written, and shared memory: files of tmpfs have no block device. */
static bool is_swappable(const char *mode, const char *device, const char *path)
{
	if (mode[3] == 's')
		return !strncmp(path, "/dev/shm/", 9) || !strncmp(path, "/memfd:", 7) ||
		       !strncmp(path, "/SYSV", 5) || !strncmp(path, "/dev/zero", 9);
	/* Without any access there is nothing in it: what allocators reserve. */
	return mode[0] == 'r' || mode[1] == 'w';
}

/* Read-only private memory of a file is page cache, which the kernel drops by itself. */
static bool is_page_cache(const char *mode, const char *path)
{
	return mode[3] == 'p' && mode[1] != 'w' && *path == '/';
}

static bool add_range(struct mts_range **ranges, u32 *n, u32 *room, struct mts_range range)
{
	if (*n == *room) {
		u32 more = *room ? 2 * *room : 64;
		struct mts_range *at = realloc(*ranges, more * sizeof(*at));

		if (!at)
			return false;
		*ranges = at;
		*room = more;
	}
	(*ranges)[(*n)++] = range;
	return true;
}

u32 mts_process_ranges(pid_t pid, u64 *room, struct mts_range **ranges)
{
	unsigned long long start, end;
	char file[32], line[512], mode[8], device[16], path[256];
	u32 n = 0, allocated = 0;
	FILE *maps;

	*ranges = NULL;
	snprintf(file, sizeof(file), "/proc/%d/maps", pid);
	maps = fopen(file, "re");
	if (!maps)
		return 0;
	while (fgets(line, sizeof(line), maps)) {
		*path = '\0';
		if (sscanf(line, "%llx-%llx %7s %*s %15s %*s %255s", &start, &end, mode, device,
			   path) < 4)
			continue;
		/* The kernel's own: vsyscall, vdso. */
		if (start >> 63 || !strncmp(path, "[v", 2) || is_page_cache(mode, path) ||
		    !is_swappable(mode, device, path) || end - start > *room)
			continue;
		if (!add_range(ranges, &n, &allocated,
			       (struct mts_range){ start, end, mode[3] == 's' }))
			break;
		*room -= end - start;
	}
	fclose(maps);
	return n;
}

static bool read_status(pid_t pid, char *buf, size_t size)
{
	char file[32];

	snprintf(file, sizeof(file), "/proc/%d/status", pid);
	return mts_read_at(AT_FDCWD, file, buf, size) > 0;
}

u32 mts_process_user(pid_t pid)
{
	char buf[4096];

	return read_status(pid, buf, sizeof(buf)) ? mts_keyed_value(buf, "Uid") : 0;
}

u64 mts_process_resident(pid_t pid)
{
	char buf[4096];

	if (!read_status(pid, buf, sizeof(buf)))
		return 0;
	return (mts_keyed_value(buf, "RssAnon") + mts_keyed_value(buf, "RssShmem")) << 10;
}

/* The text of a stat file after the name, which may hold anything: "S 17 ..." */
static char *after_name(char *stat)
{
	char *end = strrchr(stat, ')');

	return end && end[1] == ' ' ? end + 2 : NULL;
}

static char *stat_of(pid_t pid, char *buf, size_t size)
{
	char file[32];

	snprintf(file, sizeof(file), "/proc/%d/stat", pid);
	return mts_read_at(AT_FDCWD, file, buf, size) > 0 ? after_name(buf) : NULL;
}

pid_t mts_process_parent(pid_t pid)
{
	char buf[1024], *text = stat_of(pid, buf, sizeof(buf));

	return text ? strtol(text + 1, NULL, 10) : 0;
}

bool mts_process_is_kernel(pid_t pid)
{
	char buf[1024], *text = stat_of(pid, buf, sizeof(buf));
	unsigned int flags;

	return text && sscanf(text, "%*c %*d %*d %*d %*d %*d %u", &flags) == 1 &&
	       flags & KERNEL_THREAD;
}

/* The field of this number in proc(5); the text begins with the third. */
static u64 field(const char *text, int number)
{
	for (; text && number > 3; number--) {
		text = strchr(text, ' ');
		text += !!text;
	}
	return text ? strtoull(text, NULL, 10) : 0;
}

/* /dev/null and its like answer by themselves, and /dev/shm has files. */
static bool is_device(const char *file)
{
	static const char *const others[] = { "null", "zero", "full", "random", "urandom" };
	size_t i;

	if (strncmp(file, "/dev/", 5) || !strncmp(file, "/dev/shm/", 9))
		return false;
	for (i = 0; i < sizeof(others) / sizeof(*others); i++)
		if (!strcmp(file + 5, others[i]))
			return false;
	return true;
}

static bool is_attending(const char *fd, const char *file)
{
	bool is_stream = fd[0] >= '0' && fd[0] <= '2' && !fd[1];

	return !strncmp(file, "socket:", 7) || is_device(file) ||
	       (is_stream && !strncmp(file, "pipe:", 5));
}

/* Return: it has files, or they cannot be read. A thread that has exited has none. */
static bool look_at_files(int tasks, const char *thread, u32 *most, bool *attended)
{
	bool has_files = false;
	char buf[1024];
	struct dirent *entry;
	DIR *files;
	int fd;

	snprintf(buf, sizeof(buf), "%s/fd", thread);
	fd = openat(tasks, buf, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	files = fd < 0 ? NULL : fdopendir(fd);
	if (!files) {
		*attended = errno != ENOENT && errno != ESRCH;
		if (fd >= 0)
			close(fd);
		return *attended;
	}
	while (!*attended && (entry = readdir(files))) {
		ssize_t n = readlinkat(fd, entry->d_name, buf, sizeof(buf) - 1);

		if (n <= 0)
			continue;
		buf[n] = '\0';
		has_files = true;
		*attended = !*most || is_attending(entry->d_name, buf);
		if (*most)
			--*most;
	}
	closedir(files);
	return has_files;
}

bool mts_process_is_attended(pid_t pid, u32 *files)
{
	char buf[1024], path[32], *text = stat_of(pid, buf, sizeof(buf));
	bool attended = field(text, 7); /* tty_nr */
	struct dirent *entry;
	DIR *tasks;

	if (attended)
		return true;
	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	tasks = opendir(path);
	if (!tasks)
		return errno != ENOENT && errno != ESRCH;
	/* Threads share their files as a rule. */
	while ((entry = readdir(tasks)))
		if (entry->d_name[0] != '.' &&
		    look_at_files(dirfd(tasks), entry->d_name, files, &attended))
			break;
	closedir(tasks);
	return attended;
}

/* Return: it could be read. */
static bool count_thread(int tasks, const char *name, u32 *awake, bool *realtime)
{
	char path[64], buf[1024], *text;
	u64 policy;

	snprintf(path, sizeof(path), "%s/stat", name);
	if (mts_read_at(tasks, path, buf, sizeof(buf)) <= 0)
		return false;
	text = after_name(buf);
	if (!text)
		return false;
	*awake += *text == 'R' || *text == 'D';
	policy = field(text, 41);
	if (realtime && (policy == SCHED_FIFO || policy == SCHED_RR || policy == SCHED_DEADLINE))
		*realtime = true;
	return true;
}

u32 mts_process_threads(pid_t pid, u32 *awake, bool *realtime)
{
	struct dirent *entry;
	char path[32];
	DIR *tasks;
	u32 n = 0;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	tasks = opendir(path);
	if (!tasks)
		return 0;
	while ((entry = readdir(tasks)))
		if (entry->d_name[0] != '.')
			n += count_thread(dirfd(tasks), entry->d_name, awake, realtime);
	closedir(tasks);
	return n;
}

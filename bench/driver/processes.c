// SPDX-License-Identifier: GPL-2.0
#include "processes.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util.h"

static struct process *table; /* by process id, as /proc lists them */
static size_t used, room;

void usage_add(struct usage *sum, const struct usage *more)
{
	sum->user += more->user;
	sum->system += more->system;
	sum->minor += more->minor;
	sum->major += more->major;
}

static double timeval_seconds(struct timeval time)
{
	return (double)time.tv_sec + (double)time.tv_usec / 1e6;
}

struct usage usage_of(const struct rusage *rusage)
{
	return (struct usage){
		.user = timeval_seconds(rusage->ru_utime),
		.system = timeval_seconds(rusage->ru_stime),
		.minor = (uint64_t)rusage->ru_minflt,
		.major = (uint64_t)rusage->ru_majflt,
	};
}

static bool parse(const char *line, struct process *process)
{
	const double tick = 1.0 / (double)sysconf(_SC_CLK_TCK);
	uint64_t minor, minor_children, major, major_children;
	uint64_t user, system;
	int64_t user_children, system_children;
	const char *rest = strrchr(line, ')'); /* the name may have anything in it */

	if (!rest ||
	    sscanf(rest + 1,
		   " %c %d %*d %d %*d %*d %*u %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64
		   " %" SCNu64 " %" SCNu64 " %" SCNd64 " %" SCNd64,
		   &process->state, &process->parent, &process->session, &minor, &minor_children,
		   &major, &major_children, &user, &system, &user_children, &system_children) != 11)
		return false;
	process->usage = (struct usage){
		.user = (double)(user + (uint64_t)user_children) * tick,
		.system = (double)(system + (uint64_t)system_children) * tick,
		.minor = minor + minor_children,
		.major = major + major_children,
	};
	return true;
}

bool process_read(pid_t pid, struct process *process)
{
	char path[32], line[1024];
	ssize_t length;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	length = read(fd, line, sizeof(line) - 1);
	close(fd);
	if (length <= 0)
		return false;
	line[length] = '\0';
	process->pid = pid;
	return parse(line, process);
}

const struct process *process_find(pid_t pid)
{
	for (size_t i = 0; i < used; i++)
		if (table[i].pid == pid)
			return &table[i];
	return NULL;
}

static bool descends(const struct process *process, pid_t from)
{
	/* bounded: a table that was read while it changed could hold a circle */
	for (size_t steps = 0; process && steps <= used; steps++) {
		if (process->parent == from)
			return true;
		process = process_find(process->parent);
	}
	return false;
}

static void read_all(void)
{
	DIR *proc = opendir("/proc");
	struct dirent *entry;

	if (!proc)
		fail("/proc: %s", strerror(errno));
	used = 0;
	while ((entry = readdir(proc))) {
		pid_t pid = (pid_t)atoi(entry->d_name);

		if (pid <= 0)
			continue;
		if (used == room) {
			room = room ? 2 * room : 1024;
			table = reallocarray(table, room, sizeof(*table));
			if (!table)
				fail("no memory for %zu processes", room);
		}
		used += process_read(pid, &table[used]);
	}
	closedir(proc);
}

size_t processes_read(const struct process **list)
{
	static bool *ours;
	static size_t ours_room;
	pid_t driver = getpid();
	size_t kept = 0;

	read_all();
	if (ours_room < room) {
		ours_room = room;
		ours = reallocarray(ours, room, sizeof(*ours));
		if (!ours)
			fail("no memory for %zu processes", room);
	}
	for (size_t i = 0; i < used; i++)
		ours[i] = descends(&table[i], driver);
	for (size_t i = 0; i < used; i++)
		if (ours[i])
			table[kept++] = table[i];
	used = kept;
	*list = table;
	return used;
}

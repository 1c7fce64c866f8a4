// SPDX-License-Identifier: GPL-2.0
#include "threads.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "processes.h"
#include "util.h"

/* The first line of a file; empty if there is no such file. */
static void read_line(const char *path, char *line, size_t size)
{
	ssize_t length = 0;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd >= 0) {
		length = read(fd, line, size - 1);
		close(fd);
	}
	line[length > 0 ? length : 0] = '\0';
	line[strcspn(line, "\n")] = '\0';
}

static uint64_t thread_ns(const char *directory, pid_t tid)
{
	char path[64], line[128];
	struct process process;
	uint64_t ns;

	snprintf(path, sizeof(path), "%s/schedstat", directory);
	read_line(path, line, sizeof(line));
	if (sscanf(line, "%" SCNu64, &ns) == 1)
		return ns;
	/* a kernel without CONFIG_SCHED_INFO counts in ticks */
	if (!process_read(tid, &process))
		return 0;
	return (uint64_t)((process.usage.user + process.usage.system) * 1e9);
}

static bool is_watched(const char *name, const char *const *prefixes, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!strncmp(name, prefixes[i], strlen(prefixes[i])))
			return true;
	return false;
}

static void look_at(pid_t pid, pid_t tid, const char *const *prefixes, size_t count,
		    struct threads *threads)
{
	struct thread *thread = &threads->list[threads->count];
	char directory[48], path[64];

	snprintf(directory, sizeof(directory), "/proc/%d/task/%d", (int)pid, (int)tid);
	snprintf(path, sizeof(path), "%s/comm", directory);
	read_line(path, thread->name, sizeof(thread->name));
	if (!is_watched(thread->name, prefixes, count))
		return;
	thread->tid = tid;
	thread->ns = thread_ns(directory, tid);
	threads->count++;
}

/* Calls look_at() for each thread of a process, until there is no more room. */
static void look_at_process(pid_t pid, const char *const *prefixes, size_t count,
			    struct threads *threads)
{
	struct dirent *entry;
	char path[32];
	DIR *tasks;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	tasks = opendir(path);
	if (!tasks)
		return; /* it has just ended */
	while (threads->count < MAX_THREADS && (entry = readdir(tasks)))
		if (atoi(entry->d_name) > 0)
			look_at(pid, (pid_t)atoi(entry->d_name), prefixes, count, threads);
	closedir(tasks);
}

void threads_read(const char *const *prefixes, size_t prefix_count, struct threads *threads)
{
	struct dirent *entry;
	DIR *proc;

	threads->count = 0;
	if (!prefix_count)
		return;
	proc = opendir("/proc");
	if (!proc)
		fail("/proc: %s", strerror(errno));
	while (threads->count < MAX_THREADS && (entry = readdir(proc)))
		if (atoi(entry->d_name) > 0)
			look_at_process((pid_t)atoi(entry->d_name), prefixes, prefix_count,
					threads);
	closedir(proc);
	if (threads->count == MAX_THREADS)
		warn("watch: more than %d threads: the rest is left out", MAX_THREADS - 1);
}

uint64_t thread_since(const struct thread *thread, const struct threads *before)
{
	for (size_t i = 0; i < before->count; i++)
		if (before->list[i].tid == thread->tid && before->list[i].ns <= thread->ns)
			return thread->ns - before->list[i].ns;
	return thread->ns;
}

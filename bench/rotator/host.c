// SPDX-License-Identifier: GPL-2.0
/* Reads /proc. */
#include <errno.h>
#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "rotator.h"

uint64_t now_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * NS_PER_S + (uint64_t)time.tv_nsec;
}

const char *host_path(const char *format, ...)
{
	static char path[PATH_MAX];
	int root = snprintf(path, sizeof(path), "%s", options.root);
	va_list args;

	va_start(args, format);
	vsnprintf(path + root, sizeof(path) - (size_t)root, format, args);
	va_end(args);
	return path;
}

ssize_t read_file(const char *path, char *buf, size_t size)
{
	size_t length = 0;
	ssize_t got = 0;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return -1;
	while (length < size - 1) {
		got = read(fd, buf + length, size - 1 - length);
		if (got <= 0)
			break;
		length += (size_t)got;
	}
	close(fd);
	if (got < 0)
		return -1;
	buf[length] = '\0';
	return (ssize_t)length;
}

uint64_t keyed_value(const char *text, const char *key)
{
	size_t length = strlen(key);

	for (const char *line = text; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (!strncmp(line, key, length) && (line[length] == ' ' || line[length] == ':'))
			return strtoull(line + length + 1, NULL, 10);
	}
	return 0;
}

static const char *read_proc(const char *name)
{
	static char buf[16384];

	if (read_file(host_path("/proc/%s", name), buf, sizeof(buf)) < 0) {
		fprintf(stderr, "rotator: /proc/%s: %s\n", name, strerror(errno));
		exit(EXIT_FAILURE);
	}
	return buf;
}

void host_read(struct host *host)
{
	const char *text = read_proc("meminfo");

	host->total = keyed_value(text, "MemTotal") << 10;
	host->available =
		mts_sub_floor(keyed_value(text, "MemAvailable"), keyed_value(text, "SReclaimable"))
		<< 10;
	host->free = keyed_value(text, "MemFree") << 10;
	host->swap_free = keyed_value(text, "SwapFree") << 10;
	text = read_proc("vmstat");
	host->scanned = keyed_value(text, "pgscan_kswapd") + keyed_value(text, "pgscan_direct");
	host->swapped_in = keyed_value(text, "pswpin");
}

/* The text of a stat file after the name, which may hold anything: "S 17 ..." */
static const char *after_name(const char *path)
{
	static char buf[1024];
	const char *end;

	if (read_file(path, buf, sizeof(buf)) < 0)
		return NULL;
	end = strrchr(buf, ')');
	return end && end[1] == ' ' ? end + 2 : NULL;
}

pid_t host_parent(pid_t pid)
{
	const char *text = after_name(host_path("/proc/%d/stat", (int)pid));

	return text ? (pid_t)strtol(text + 1, NULL, 10) : 0;
}

uint64_t host_faults(pid_t pid)
{
	const char *text = after_name(host_path("/proc/%d/stat", (int)pid));
	unsigned long long minor = 0, major = 0;

	/* state, 6 numbers, minor, those of children, major: proc(5) */
	if (!text || sscanf(text, "%*c %*d %*d %*d %*d %*d %*u %llu %*u %llu", &minor, &major) != 2)
		return 0;
	return minor + major;
}

bool host_can_run(pid_t pid)
{
	struct dirent *entry;
	bool can = false;
	DIR *tasks = opendir(host_path("/proc/%d/task", (int)pid));

	if (!tasks)
		return false;
	while (!can && (entry = readdir(tasks))) {
		const char *text;

		if (entry->d_name[0] == '.')
			continue;
		text = after_name(host_path("/proc/%d/task/%s/stat", (int)pid, entry->d_name));
		can = text && (*text == 'R' || *text == 'D');
	}
	closedir(tasks);
	return can;
}

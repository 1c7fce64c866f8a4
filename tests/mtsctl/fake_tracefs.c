// SPDX-License-Identifier: GPL-2.0
/*
 * An instance of tracefs as mtsctl watch makes it: the kernel fills a new directory of instances/
 * with files, and empties it again. Here mkdir() and rmdir() do, if MTS_FAKE_EVENTS names a file.
 * Its lines are in trace_pipe, and no others come.
 */
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *const files[] = { "trace_pipe", "trace_clock", "events/mts/enable" };
static const char *const folders[] = { "events/mts", "events" };

static int pipe_end = -1; /* so that trace_pipe has a writer: no end of file */

static bool is_instance(const char *path)
{
	return getenv("MTS_FAKE_EVENTS") && strstr(path, "/instances/mtsctl.");
}

static const char *inside(const char *path, const char *name)
{
	static char joined[PATH_MAX];

	snprintf(joined, sizeof(joined), "%s/%s", path, name);
	return joined;
}

static void fill(const char *path)
{
	FILE *lines = fopen(getenv("MTS_FAKE_EVENTS"), "r");
	char line[4096];

	mkdirat(AT_FDCWD, inside(path, "events"), 0700);
	mkdirat(AT_FDCWD, inside(path, "events/mts"), 0700);
	for (size_t i = 1; i < sizeof(files) / sizeof(files[0]); i++)
		close(open(inside(path, files[i]), O_CREAT | O_WRONLY, 0600));
	if (!lines || mkfifo(inside(path, "trace_pipe"), 0600))
		abort();
	pipe_end = open(inside(path, "trace_pipe"), O_RDWR | O_CLOEXEC);
	while (fgets(line, sizeof(line), lines))
		if (write(pipe_end, line, strlen(line)) < 0)
			abort();
	fclose(lines);
}

int __wrap_mkdir(const char *path, mode_t mode)
{
	int ret = mkdirat(AT_FDCWD, path, mode);

	if (!ret && is_instance(path))
		fill(path);
	return ret;
}

int __wrap_rmdir(const char *path)
{
	if (is_instance(path)) {
		close(pipe_end);
		for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
			unlink(inside(path, files[i]));
		for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++)
			unlinkat(AT_FDCWD, inside(path, folders[i]), AT_REMOVEDIR);
	}
	return unlinkat(AT_FDCWD, path, AT_REMOVEDIR);
}

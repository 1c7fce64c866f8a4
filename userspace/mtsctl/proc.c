// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host.h"
#include "proc.h"

static char buffer[16384];

int proc_open(const char *name)
{
	char path[PATH_MAX];
	int fd;

	if (snprintf(path, sizeof(path), "%s/%s", host_proc(), name) >= (int)sizeof(path))
		return -ENAMETOOLONG;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

const char *proc_read(int fd)
{
	size_t used = 0;
	ssize_t got;

	while (used < sizeof(buffer) - 1 &&
	       (got = pread(fd, buffer + used, sizeof(buffer) - 1 - used, used)) > 0)
		used += got;
	buffer[used] = '\0';
	return used ? buffer : NULL;
}

bool proc_value(const char *text, const char *name, u64 *value)
{
	size_t length = strlen(name);

	for (const char *line = text; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (strncmp(line, name, length) || !strchr(": ", line[length]) || !line[length])
			continue;
		*value = strtoull(line + length + 1, NULL, 10);
		return true;
	}
	return false;
}

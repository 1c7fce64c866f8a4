// SPDX-License-Identifier: GPL-2.0
#include "host_file.h"

#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "host.h"
#include "proc.h"

#define PROC "/proc"

/* The path where a file of the host is. Return: false: it is too long. */
static bool place_of(char path[PATH_MAX], const char *format, va_list args)
{
	char usual[PATH_MAX];
	int length = vsnprintf(usual, sizeof(usual), format, args);

	if (length >= PATH_MAX)
		return false;
	if (!strncmp(usual, PROC "/", strlen(PROC "/")))
		length = snprintf(path, PATH_MAX, "%s%s", host_proc(), usual + strlen(PROC));
	else if (!strncmp(usual, USUAL_CGROUPS "/", strlen(USUAL_CGROUPS "/")))
		length = snprintf(path, PATH_MAX, "%s%s", host_cgroups(),
				  usual + strlen(USUAL_CGROUPS));
	else
		length = snprintf(path, PATH_MAX, "%s%s", host_root(), usual);
	return length < PATH_MAX;
}

const char *host_file_read(const char *format, ...)
{
	char path[PATH_MAX];
	const char *text;
	va_list args;
	bool fits;
	int fd;

	va_start(args, format);
	fits = place_of(path, format, args);
	va_end(args);
	fd = fits ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	if (fd < 0)
		return NULL;
	text = proc_read(fd);
	close(fd);
	return text;
}

bool host_file_exists(const char *format, ...)
{
	char path[PATH_MAX];
	va_list args;
	bool fits;

	va_start(args, format);
	fits = place_of(path, format, args);
	va_end(args);
	return fits && !access(path, F_OK);
}

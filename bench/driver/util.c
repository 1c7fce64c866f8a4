// SPDX-License-Identifier: GPL-2.0
#include "util.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define WARNINGS 32

void (*fail_cleanup)(void);

static char warnings[WARNINGS][256];
static size_t warnings_used;

void fail(const char *format, ...)
{
	void (*cleanup)(void) = fail_cleanup;
	char message[1024];
	va_list args;

	va_start(args, format);
	vsnprintf(message, sizeof(message), format, args);
	va_end(args);
	fail_cleanup = NULL; /* which may fail itself */
	if (cleanup)
		cleanup();
	printf("drive: error %s\n", message);
	fflush(stdout);
	exit(EXIT_FAILURE);
}

void warn(const char *format, ...)
{
	va_list args;

	if (warnings_used == WARNINGS)
		return;
	va_start(args, format);
	vsnprintf(warnings[warnings_used++], sizeof(warnings[0]), format, args);
	va_end(args);
}

size_t warning_count(void)
{
	return warnings_used;
}

const char *warning(size_t index)
{
	return warnings[index];
}

void *allocate(size_t count, size_t size)
{
	void *memory = calloc(count ? count : 1, size);

	if (!memory)
		fail("no memory for %zu times %zu bytes", count, size);
	return memory;
}

char *text(const char *format, ...)
{
	va_list args;
	char *result;
	int length;

	va_start(args, format);
	length = vasprintf(&result, format, args);
	va_end(args);
	if (length < 0)
		fail("no memory for a text");
	return result;
}

int write_file(const char *path, const char *content)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	int ret = 0;

	if (fd < 0)
		return -errno;
	if (write(fd, content, strlen(content)) < 0)
		ret = -errno;
	close(fd);
	return ret;
}

void pause_ns(uint64_t ns)
{
	struct timespec left = { .tv_sec = (time_t)(ns / NS_PER_S),
				 .tv_nsec = (long)(ns % NS_PER_S) };

	while (clock_nanosleep(CLOCK_MONOTONIC, 0, &left, &left) == EINTR)
		;
}

// SPDX-License-Identifier: GPL-2.0
/* Recording the module's trace events. */
#include "guest.h"

#define INSTANCE "/sys/kernel/tracing/instances/guest-test/"

void read_whole(const char *path, char *text, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	size_t len = 0;
	ssize_t got;

	check(fd >= 0, "%s: %m", path);
	while ((got = read(fd, text + len, size - 1 - len)) > 0)
		len += got;
	close(fd);
	check(!got && len < size - 1, "%s is too long", path);
	text[len] = '\0';
}

void trace_begin(void)
{
	rmdir(INSTANCE); /* of a test that failed */
	check(!mkdir(INSTANCE, 0700), INSTANCE ": %m");
	expect(write_file(INSTANCE "trace_clock", "mono"), 0);
	expect(write_file(INSTANCE "buffer_size_kb", "8192"), 0);
	trace_go_on();
}

void trace_go_on(void)
{
	expect(write_file(INSTANCE "events/mts/enable", "1"), 0);
}

void trace_so_far(char *text, size_t size)
{
	read_whole(INSTANCE "trace", text, size);
}

void trace_end(char *text, size_t size)
{
	expect(write_file(INSTANCE "events/mts/enable", "0"), 0);
	trace_so_far(text, size);
	check(!rmdir(INSTANCE), INSTANCE ": %m");
}

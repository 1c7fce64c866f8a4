// SPDX-License-Identifier: GPL-2.0
#include "work.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static __attribute__((noreturn)) void die(const char *path, const char *why)
{
	fprintf(stderr, "LAB_WORK=%s: %s\n", path, why);
	exit(EXIT_FAILURE);
}

static struct work_file *map_file(const char *path)
{
	struct work_file *file;
	struct stat stat;
	int fd = open(path, O_RDWR | O_CLOEXEC);

	if (fd < 0)
		die(path, strerror(errno));
	if (fstat(fd, &stat) || stat.st_size != sizeof(*file))
		die(path, "not a work file: wrong size");
	file = mmap(NULL, sizeof(*file), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (file == MAP_FAILED)
		die(path, strerror(errno));
	close(fd);
	if (file->magic != WORK_MAGIC)
		die(path, "not a work file");
	return file;
}

static struct work_file *map_private(void)
{
	struct work_file *file = mmap(NULL, sizeof(*file), PROT_READ | PROT_WRITE,
				      MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (file == MAP_FAILED)
		die("(private)", strerror(errno));
	return file;
}

static struct work_file *work_file(void)
{
	static struct work_file *file;
	const char *path = getenv("LAB_WORK");

	if (!file)
		file = path ? map_file(path) : map_private();
	return file;
}

struct work_slot *work_join(const char *name, uint64_t goal)
{
	struct work_file *file = work_file();
	uint32_t index = __atomic_fetch_add(&file->used, 1, __ATOMIC_RELAXED);
	struct work_slot *slot;

	if (index >= WORK_SLOTS)
		die(getenv("LAB_WORK") ?: "(private)", "no slot is left");
	slot = &file->slots[index];
	snprintf(slot->name, sizeof(slot->name), "%s", name);
	__atomic_store_n(&slot->goal, goal, __ATOMIC_RELEASE);
	return slot;
}

// SPDX-License-Identifier: GPL-2.0
#define _GNU_SOURCE
#include "mtsd/record.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAGIC 0x31647374726f636dull

int record_open(const char *path, bool create)
{
	int fd = open(path, O_RDWR | O_CLOEXEC | (create ? O_CREAT : 0), 0600);
	struct stat st;

	if (fd < 0)
		return -1;
	/* A sparse file: what is not used takes no memory. */
	if (!fstat(fd, &st) && st.st_size != sizeof(struct record) &&
	    (!create || ftruncate(fd, 0) || ftruncate(fd, sizeof(struct record)))) {
		close(fd);
		errno = ENODATA;
		return -1;
	}
	return fd;
}

struct record *record_map(int fd)
{
	struct record *record = mmap(NULL, sizeof(*record), PROT_READ | PROT_WRITE, MAP_SHARED, fd,
				     0);

	return record == MAP_FAILED ? NULL : record;
}

void record_clear(struct record *record)
{
	uint32_t i, n = record->magic == MAGIC ? record->used : RECORD_ENTRIES;

	for (i = 0; i < n && i < RECORD_ENTRIES; i++)
		record->entries[i].state = RECORD_FREE;
	record->used = 0;
	record->frozen = 0;
	record->beat = 0;
	record->magic = MAGIC;
}

void record_set(struct record *record, uint32_t slot, enum record_state state)
{
	struct record_entry *entry = &record->entries[slot];
	uint32_t before = __atomic_exchange_n(&entry->state, state, __ATOMIC_SEQ_CST);

	if (state == RECORD_FROZEN && before != RECORD_FROZEN)
		__atomic_add_fetch(&record->frozen, 1, __ATOMIC_SEQ_CST);
	else if (state != RECORD_FROZEN && before == RECORD_FROZEN)
		__atomic_sub_fetch(&record->frozen, 1, __ATOMIC_SEQ_CST);
}

/* Return: it is thawed, or gone with its tasks. */
static bool thaw(const struct record_entry *entry, int fd)
{
	char path[RECORD_PATH + 32];
	bool done;
	int own = -1;

	if (fd < 0) {
		snprintf(path, sizeof(path), "%.*s/cgroup.freeze", RECORD_PATH - 1, entry->path);
		own = fd = open(path, O_WRONLY | O_CLOEXEC);
		if (fd < 0)
			return errno == ENOENT || errno == ENODEV;
	}
	done = pwrite(fd, "0", 1, 0) == 1 || errno == ENODEV;
	if (own >= 0)
		close(own);
	return done;
}

unsigned int record_thaw(struct record *record, const int *fds, unsigned int *thawed)
{
	unsigned int left = 0;
	uint32_t i, n;

	*thawed = 0;
	if (record->magic != MAGIC)
		return 0;
	n = record->used < RECORD_ENTRIES ? record->used : RECORD_ENTRIES;
	for (i = 0; i < n; i++) {
		struct record_entry *entry = &record->entries[i];

		if (__atomic_load_n(&entry->state, __ATOMIC_SEQ_CST) != RECORD_FROZEN)
			continue;
		if (thaw(entry, fds ? fds[i] : -1)) {
			record_set(record, i, RECORD_KNOWN);
			++*thawed;
		} else {
			left++;
		}
	}
	return left;
}

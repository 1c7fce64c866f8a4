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
	struct record *record =
		mmap(NULL, sizeof(*record), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

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

/* The state is in the lowest bits; each freeze has another number above them. */
#define STATE(word) ((word)&3)
#define NUMBER 4

static bool change(struct record *record, uint32_t slot, uint32_t before, enum record_state state)
{
	uint32_t word = (before & ~3u) + (state == RECORD_FROZEN ? NUMBER : 0) + state;

	if (!__atomic_compare_exchange_n(&record->entries[slot].state, &before, word, false,
					 __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
		return false;
	if (state == RECORD_FROZEN && STATE(before) != RECORD_FROZEN)
		__atomic_add_fetch(&record->frozen, 1, __ATOMIC_SEQ_CST);
	else if (state != RECORD_FROZEN && STATE(before) == RECORD_FROZEN)
		__atomic_sub_fetch(&record->frozen, 1, __ATOMIC_SEQ_CST);
	return true;
}

static uint32_t word_of(const struct record *record, uint32_t slot)
{
	return __atomic_load_n(&record->entries[slot].state, __ATOMIC_SEQ_CST);
}

void record_set(struct record *record, uint32_t slot, enum record_state state)
{
	while (!change(record, slot, word_of(record, slot), state))
		;
}

/* An administrator may have thawed it. */
static bool is_thawed(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	char state = 0;
	bool gone =
		(fd < 0 ? -1 : pread(fd, &state, 1, 0)) < 0 && (errno == ENOENT || errno == ENODEV);

	if (fd >= 0)
		close(fd);
	return gone || state == '0';
}

/* Return: it is thawed, or gone with its tasks. */
static bool thaw(const struct record_entry *entry, int fd)
{
	char path[RECORD_PATH + 32];
	bool done;

	if (fd >= 0)
		return pwrite(fd, "0", 1, 0) == 1 || errno == ENODEV;
	snprintf(path, sizeof(path), "%.*s/cgroup.freeze", RECORD_PATH - 1, entry->path);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	done = fd >= 0 && pwrite(fd, "0", 1, 0) == 1;
	if (fd >= 0)
		close(fd);
	return done || is_thawed(path);
}

static bool is_left(uint32_t word, bool ended)
{
	return STATE(word) == RECORD_FROZEN || (ended && STATE(word) == RECORD_THAWED);
}

static uint32_t entries(const struct record *record)
{
	uint32_t n = record->magic == MAGIC ? record->used : 0;

	return n < RECORD_ENTRIES ? n : RECORD_ENTRIES;
}

unsigned int record_thaw(struct record *record, const int *fds, bool ended, unsigned int *thawed)
{
	unsigned int left = 0;
	uint32_t i;

	*thawed = 0;
	for (i = 0; i < entries(record); i++) {
		uint32_t word = word_of(record, i);

		if (!is_left(word, ended))
			continue;
		if (thaw(&record->entries[i], fds ? fds[i] : -1)) {
			/* If a mtsd that stood still has frozen it again, the entry stays. */
			change(record, i, word, ended ? RECORD_KNOWN : RECORD_THAWED);
			*thawed += STATE(word) == RECORD_FROZEN;
		} else {
			left++;
		}
	}
	return left;
}

const char *record_left(const struct record *record, uint32_t *i)
{
	while (*i < entries(record)) {
		uint32_t at = (*i)++;

		if (is_left(word_of(record, at), true))
			return record->entries[at].path;
	}
	return NULL;
}

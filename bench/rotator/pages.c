// SPDX-License-Identifier: GPL-2.0
/*
 * Bulk bring-back of a frozen process: proc(5) says which of its pages are swapped,
 * process_madvise(MADV_WILLNEED) reads them into the swap cache without waiting, in the order
 * of addresses. What it cannot do: read in the order of the swap device, and map the pages, so
 * that each costs a minor fault when the process runs.
 *
 * And the other way: MADV_PAGEOUT evicts in the order of addresses, where memory.reclaim goes by
 * the order of the first touch.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "rotator.h"

#define SWAPPED (1ull << 62) /* Documentation/admin-guide/mm/pagemap.rst */
/* Pages in memory between two runs that are not worth another call. */
#define GAP 16u
#define BATCH 64u

struct reader {
	int pidfd;
	int pagemap;
	int advice; /* MADV_WILLNEED: what is swapped; MADV_PAGEOUT: all */
	uint64_t budget; /* bytes */
	uint64_t asked; /* the same */
	struct iovec ranges[BATCH];
	unsigned int count;
};

static void ask(struct reader *reader)
{
	if (reader->count)
		syscall(SYS_process_madvise, reader->pidfd, reader->ranges, (long)reader->count,
			reader->advice, 0);
	reader->count = 0;
}

/* Pages first..last, of which so many are swapped. */
static void add_run(struct reader *reader, uint64_t first, uint64_t last, uint64_t swapped)
{
	reader->ranges[reader->count++] = (struct iovec){
		.iov_base = (void *)(uintptr_t)(first * PAGE),
		.iov_len = (last - first + 1) * PAGE,
	};
	reader->asked += swapped * PAGE;
	if (reader->count == BATCH)
		ask(reader);
}

static void read_area(struct reader *reader, uint64_t start, uint64_t end)
{
	static uint64_t entries[4096];
	uint64_t page = start / PAGE, stop = end / PAGE;
	uint64_t first = 0, last = 0, swapped = 0;

	while (page < stop && reader->asked + swapped * PAGE < reader->budget) {
		size_t want = (stop - page) * sizeof(*entries);
		ssize_t got;

		if (want > sizeof(entries))
			want = sizeof(entries);
		got = pread(reader->pagemap, entries, want, (off_t)(page * sizeof(*entries)));
		if (got < (ssize_t)sizeof(*entries))
			break;
		for (size_t i = 0; i < (size_t)got / sizeof(*entries); i++, page++) {
			if (!(entries[i] & SWAPPED))
				continue;
			if (swapped && page - last > GAP) {
				add_run(reader, first, last, swapped);
				swapped = 0;
			}
			if (!swapped)
				first = page;
			last = page;
			swapped++;
		}
	}
	if (swapped)
		add_run(reader, first, last, swapped);
}

static void read_areas(struct reader *reader, FILE *maps)
{
	unsigned long long start, end;
	char line[512], mode[5];

	while (reader->asked < reader->budget && fgets(line, sizeof(line), maps)) {
		/* kernel addresses, which are no process's own: vsyscall */
		if (sscanf(line, "%llx-%llx %4s", &start, &end, mode) != 3 || start >> 63 ||
		    mode[3] != 'p')
			continue;
		if (reader->advice == MADV_WILLNEED)
			read_area(reader, start, end);
		else if (mode[1] == 'w')
			add_run(reader, start / PAGE, end / PAGE - 1, (end - start) / PAGE);
	}
}

static uint64_t advise(pid_t pid, int advice, uint64_t budget)
{
	struct reader reader = { .advice = advice, .budget = budget };
	FILE *maps;

	if (*options.root)
		return 0; /* the numbers of a fake host's processes are others' here */
	reader.pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	if (reader.pidfd < 0)
		return 0;
	reader.pagemap = open(host_path("/proc/%d/pagemap", (int)pid), O_RDONLY | O_CLOEXEC);
	maps = fopen(host_path("/proc/%d/maps", (int)pid), "re");
	if (reader.pagemap >= 0 && maps) {
		read_areas(&reader, maps);
		ask(&reader);
	}
	if (maps)
		fclose(maps);
	if (reader.pagemap >= 0)
		close(reader.pagemap);
	close(reader.pidfd);
	return reader.asked;
}

uint64_t pages_bring_back(pid_t pid, uint64_t budget)
{
	return advise(pid, MADV_WILLNEED, budget);
}

void pages_page_out(pid_t pid, uint64_t want)
{
	advise(pid, MADV_PAGEOUT, want);
}

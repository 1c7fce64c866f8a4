// SPDX-License-Identifier: GPL-2.0
#include "pin.h"

#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "util.h"

#define TRIES 16
#define STACK_USED (128 * KIB)

/*
 * MemAvailable moves by a few pages all the time, and on a host with gigabytes, on which other
 * programs run, by more.
 */
#define MARGIN (256 * KIB)
#define MARGIN_PART 1024

/* Below 1024 KiB off, as the README promises, whatever happens between two looks. */
_Static_assert(MARGIN < MIB, "the margin is within the promise");

static struct {
	char *start; /* address space for all of the memory; nothing is in it at first */
	size_t size;
	size_t used; /* from start, locked */
} pinned;

/* The stack has its pages from now on. */
static __attribute__((noinline)) void touch_stack(void)
{
	volatile char stack[STACK_USED];

	for (size_t i = 0; i < sizeof(stack); i += 4096)
		stack[i] = 0;
}

void pin_self(void)
{
	const struct sched_param param = { .sched_priority = 1 };

	touch_stack();
	if (mlockall(MCL_CURRENT | MCL_FUTURE))
		fail("cannot lock memory: %s", strerror(errno));
	if (sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &param))
		fail("cannot be SCHED_FIFO: %s", strerror(errno));
}

/* A line of /proc/meminfo, in bytes. */
static int64_t meminfo(const char *name)
{
	size_t length = strlen(name);
	int64_t kib = -1;
	char line[128];
	FILE *file = fopen("/proc/meminfo", "re");

	if (!file)
		fail("/proc/meminfo: %s", strerror(errno));
	while (kib < 0 && fgets(line, sizeof(line), file))
		if (!strncmp(line, name, length) && line[length] == ':')
			sscanf(line + length + 1, "%" SCNd64, &kib);
	fclose(file);
	if (kib < 0)
		fail("/proc/meminfo: no %s", name);
	return kib * KIB;
}

/* Of all zones together, in bytes: below it a zone's memory is reclaimed. */
static int64_t low_watermarks(void)
{
	int64_t pages, sum = 0;
	char line[128];
	FILE *file = fopen("/proc/zoneinfo", "re");

	if (!file)
		fail("/proc/zoneinfo: %s", strerror(errno));
	while (fgets(line, sizeof(line), file))
		if (sscanf(line, " low %" SCNd64, &pages) == 1)
			sum += pages * sysconf(_SC_PAGESIZE);
	fclose(file);
	return sum;
}

/*
 * The kernel takes what of its slab could be reclaimed for available, less half of it or the low
 * watermarks (si_mem_available(), mm/page_alloc.c). What is left when all caches have been
 * dropped cannot be reclaimed: most of it are the inodes of tracefs, 8 MiB in Debian's kernels.
 * A host does not notice, but it is much of the memory of a guest.
 */
static int64_t slab_taken_for_available(void)
{
	int64_t slab = meminfo("KReclaimable"), low = low_watermarks();

	return slab - (low < slab / 2 ? low : slab / 2);
}

static int64_t available(void)
{
	return meminfo("MemAvailable") - slab_taken_for_available();
}

double pin_available_mib(void)
{
	return (double)available() / MIB;
}

static int64_t available_after_drop(void)
{
	int ret;

	sync();
	ret = write_file("/proc/sys/vm/drop_caches", "3");
	if (ret)
		fail("/proc/sys/vm/drop_caches: %s", strerror(-ret));
	return available();
}

static void reserve(void)
{
	pinned.size = (size_t)meminfo("MemTotal");
	pinned.start = mmap(NULL, pinned.size, PROT_NONE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (pinned.start == MAP_FAILED)
		fail("no address space: %s", strerror(errno));
	/* Huge pages could be given back only whole; and children need none of it. */
	if ((madvise(pinned.start, pinned.size, MADV_NOHUGEPAGE) && errno != EINVAL) ||
	    madvise(pinned.start, pinned.size, MADV_DONTFORK))
		fail("madvise: %s", strerror(errno));
}

static void grow(size_t bytes)
{
	char *end = pinned.start + pinned.used;

	if (bytes > pinned.size - pinned.used)
		fail("cannot pin %zu MiB: more than there is", (pinned.used + bytes) / MIB);
	if (mprotect(end, bytes, PROT_READ | PROT_WRITE) || mlock(end, bytes))
		fail("cannot pin %zu MiB: %s", (pinned.used + bytes) / MIB, strerror(errno));
	pinned.used += bytes;
}

/* MADV_DONTNEED is refused for locked memory. */
static void shrink(size_t bytes)
{
	char *end;

	if (bytes > pinned.used)
		bytes = pinned.used;
	pinned.used -= bytes;
	end = pinned.start + pinned.used;
	if (munlock(end, bytes) || madvise(end, bytes, MADV_DONTNEED) ||
	    mprotect(end, bytes, PROT_NONE))
		fail("cannot give memory back: %s", strerror(errno));
}

static void escape_oom_killer(void)
{
	int ret = write_file("/proc/self/oom_score_adj", "-1000");

	if (ret)
		fail("/proc/self/oom_score_adj: %s: CAP_SYS_RESOURCE is needed for a balloon",
		     strerror(-ret));
}

double pin_rest(double free_mib)
{
	const int64_t target = (int64_t)(free_mib * MIB), part = target / MARGIN_PART;
	const int64_t margin = part > MARGIN ? part : MARGIN;
	int64_t now;

	/* It will be the largest process of all. */
	escape_oom_killer();
	now = available_after_drop();
	if (now < target - margin)
		fail("free_mib %g: only %.1f MiB are available, %.1f MiB too little", free_mib,
		     (double)now / MIB, (double)(target - now) / MIB);
	reserve();
	for (int i = 0; i < TRIES; i++) {
		int64_t excess = (now - target) / 4096 * 4096;

		if (excess >= -margin && excess <= margin)
			return (double)pinned.used / MIB;
		if (excess > 0)
			grow((size_t)excess);
		else
			shrink((size_t)-excess);
		now = available_after_drop();
	}
	fail("free_mib %g: %.1f MiB are available after %d tries: something else takes and gives",
	     free_mib, (double)now / MIB, TRIES);
}

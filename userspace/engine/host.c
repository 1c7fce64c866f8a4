// SPDX-License-Identifier: GPL-2.0
/* memory/memory.h in user space: what /proc says of the host's memory. */
#define _GNU_SOURCE
#include "memory/memory.h"

#include <unistd.h>

#include "engine/cgroup.h"
#include "engine/swapcache.h"
#include "policy/pure.h"

/* A reading is good for so long, ns: one look asks for several figures. */
#define FRESH_NS (NSEC_PER_MSEC)

struct figures {
	const char *file;
	int fd;
	u64 at;
	char text[16384];
};

static DEFINE_MUTEX(host_lock); /* innermost */
static struct figures meminfo = { .file = "/proc/meminfo", .fd = -1 };
static struct figures vmstat = { .file = "/proc/vmstat", .fd = -1 };

static u64 figure(struct figures *f, const char *key)
{
	u64 now = ktime_get_ns(), value;

	mutex_lock(&host_lock);
	if (f->fd < 0)
		f->fd = open(f->file, O_RDONLY | O_CLOEXEC);
	if (!f->at || now - f->at > FRESH_NS) {
		if (mts_read_open(f->fd, f->text, sizeof(f->text)) < 0)
			*f->text = '\0';
		f->at = now;
	}
	value = mts_keyed_value(f->text, key);
	mutex_unlock(&host_lock);
	return value;
}

static u64 memory(const char *key)
{
	return figure(&meminfo, key) << 10;
}

u64 mts_memory_listed(void)
{
	return 0;
}

u64 mts_memory_free(void)
{
	return memory("MemFree");
}

/* Its threads are in the root cgroup: without a walk over all processes their state is unknown. */
bool mts_memory_kswapd_sleeps(void)
{
	return true;
}

/*
 * MADV_PAGEOUT unmaps pages and has them written, but it is a later reclaim that frees them. So
 * they are available, as clean page cache is. MemAvailable does not count them.
 */
u64 mts_memory_available(void)
{
	u64 cached = min(memory("SwapCached"), mts_swapcache_most());

	return mts_sub_floor(memory("MemAvailable") + cached, memory("SReclaimable"));
}

u64 mts_memory_swapins(void)
{
	return figure(&vmstat, "pswpin") + figure(&vmstat, "zswpin");
}

u64 mts_memory_reclaimed(void)
{
	return figure(&vmstat, "pgsteal_kswapd") + figure(&vmstat, "pgsteal_direct");
}

u64 mts_memory_written(void)
{
	return figure(&vmstat, "nr_writeback");
}

u64 mts_memory_swapouts(void)
{
	return figure(&vmstat, "pswpout");
}

u64 mts_memory_zswapped(void)
{
	return figure(&vmstat, "zswpout");
}

unsigned long totalram_pages(void)
{
	return memory("MemTotal") >> PAGE_SHIFT;
}

long get_nr_swap_pages(void)
{
	return memory("SwapFree") >> PAGE_SHIFT;
}

unsigned int num_online_cpus(void)
{
	long n = sysconf(_SC_NPROCESSORS_ONLN);

	return n > 0 ? n : 1;
}

// SPDX-License-Identifier: GPL-2.0
#include "memory/memory.h"

#include <linux/mm.h>
#include <linux/mmzone.h>
#include <linux/vmstat.h>
#include <linux/wait.h>

#include "compat/compat.h"
#include "policy/pure.h"

static u64 listed_in_zone(struct zone *zone)
{
	u64 pages = 0;
	int cpu;

	for_each_online_cpu(cpu)
		pages += READ_ONCE(per_cpu_ptr(zone->per_cpu_pageset, cpu)->count);
	return pages;
}

/* Not for_each_populated_zone(): it uses symbols that are not exported. */
u64 mts_memory_listed(void)
{
	u64 pages = 0;
	int node, i;

	for_each_online_node(node) {
		struct zone *zones = NODE_DATA(node)->node_zones;

		for (i = 0; i < MAX_NR_ZONES; i++)
			if (populated_zone(&zones[i]))
				pages += listed_in_zone(&zones[i]);
	}
	return pages << PAGE_SHIFT;
}

u64 mts_memory_free(void)
{
	return ((u64)global_zone_page_state(NR_FREE_PAGES) << PAGE_SHIFT) + mts_memory_listed();
}

bool mts_memory_kswapd_sleeps(void)
{
	int node;

	/* Nodes without memory have no kswapd. */
	for_each_node_state(node, N_MEMORY)
		if (!wq_has_sleeper(&NODE_DATA(node)->kswapd_wait))
			return false;
	return true;
}

/* all_vm_events() is not exported. */
static u64 events(enum vm_event_item item)
{
	u64 sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += per_cpu(vm_event_states, cpu).event[item];
	return sum;
}

#ifdef MTS_NODES_COUNT_RECLAIM
u64 mts_memory_reclaimed(void)
{
	return global_node_page_state(PGSTEAL_KSWAPD) + global_node_page_state(PGSTEAL_DIRECT);
}
#else
u64 mts_memory_reclaimed(void)
{
	return events(PGSTEAL_KSWAPD) + events(PGSTEAL_DIRECT);
}
#endif

u64 mts_memory_written(void)
{
	return global_node_page_state(NR_WRITEBACK);
}

u64 mts_memory_swapouts(void)
{
	return events(PSWPOUT);
}

/* PSWPIN does not include pages from zswap. */
#ifdef CONFIG_ZSWAP
u64 mts_memory_swapins(void)
{
	return events(PSWPIN) + events(ZSWPIN);
}

u64 mts_memory_zswapped(void)
{
	return events(ZSWPOUT);
}
#else
u64 mts_memory_swapins(void)
{
	return events(PSWPIN);
}

u64 mts_memory_zswapped(void)
{
	return 0;
}
#endif

u64 mts_memory_available(void)
{
	u64 slab = (u64)global_node_page_state_pages(NR_SLAB_RECLAIMABLE_B) << PAGE_SHIFT;
	u64 available = (u64)max(si_mem_available(), 0L) << PAGE_SHIFT;

	return mts_sub_floor(available + mts_memory_listed(), slab);
}

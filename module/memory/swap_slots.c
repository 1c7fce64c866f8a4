// SPDX-License-Identifier: GPL-2.0
#include "memory/swap_slots.h"

#include <linux/memcontrol.h>
#include <linux/page_counter.h>
#include <linux/spinlock.h>

#include "compat/compat.h"

/* Serialises workers that set swap.high. */
static DEFINE_SPINLOCK(slots_lock);

/* Without a memory controller of its own, the cgroup shares its memcg with others: return NULL. */
static struct mem_cgroup *own_memcg(struct cgroup *cgrp)
{
	struct cgroup_subsys_state *css = cgroup_get_e_css(cgrp, &memory_cgrp_subsys);

	if (css->cgroup == cgrp)
		return mem_cgroup_from_css(css);
	css_put(css);
	return NULL;
}

void mts_swap_slots_begin(struct mts_swap_slots *slots, struct cgroup *cgrp)
{
	*slots = (struct mts_swap_slots){ 0 };
	if (!MTS_WRITE_FAULT_KEEPS_SLOT)
		return;
	slots->memcg = own_memcg(cgrp);
	if (!slots->memcg)
		return;
	slots->found = READ_ONCE(slots->memcg->swap.high);
	slots->high = slots->found;
}

static void set_high(struct mts_swap_slots *slots, unsigned long pages)
{
	if (cmpxchg(&slots->memcg->swap.high, slots->high, pages) == slots->high)
		WRITE_ONCE(slots->high, pages);
	else
		slots->lost = true;
}

/* The value to set; 0: leave it. The condition is that of mem_cgroup_swap_full(). */
static unsigned long wanted_high(const struct mts_swap_slots *slots, bool lose)
{
	unsigned long high = READ_ONCE(slots->high), swapped;

	if (!lose)
		return high == slots->found ? 0 : slots->found;
	swapped = page_counter_read(&slots->memcg->swap);
	/*
	 * Half as much again: tasks that allocate memory above swap.high are throttled, and so
	 * would we be.
	 */
	return swapped * 2 >= high ? 0 : swapped + swapped / 2;
}

void mts_swap_slots_lose(struct mts_swap_slots *slots, bool lose)
{
	unsigned long high;

	if (!slots->memcg || !wanted_high(slots, lose))
		return;
	spin_lock(&slots_lock);
	high = wanted_high(slots, lose);
	if (high && !slots->lost)
		set_high(slots, high);
	spin_unlock(&slots_lock);
}

void mts_swap_slots_end(struct mts_swap_slots *slots)
{
	if (!slots->memcg)
		return;
	mts_swap_slots_lose(slots, false);
	css_put(&slots->memcg->css);
	slots->memcg = NULL;
}

// SPDX-License-Identifier: GPL-2.0
#include "memory/swap_slots.h"

#include <linux/memcontrol.h>
#include <linux/page_counter.h>
#include <linux/spinlock.h>

#include "compat/compat.h"

/* Workers set it one after the other. */
static DEFINE_SPINLOCK(places_lock);

/* A cgroup may have no memory controller of its own: what it has then is others' too. */
static struct mem_cgroup *own_memcg(struct cgroup *cgrp)
{
	struct cgroup_subsys_state *css = cgroup_get_e_css(cgrp, &memory_cgrp_subsys);

	if (css->cgroup == cgrp)
		return mem_cgroup_from_css(css);
	css_put(css);
	return NULL;
}

void mts_places_begin(struct mts_places *places, struct cgroup *cgrp)
{
	*places = (struct mts_places){ 0 };
	if (!MTS_WRITE_FAULT_KEEPS_PLACE)
		return;
	places->memcg = own_memcg(cgrp);
	if (!places->memcg)
		return;
	places->found = READ_ONCE(places->memcg->swap.high);
	places->high = places->found;
}

static void set_high(struct mts_places *places, unsigned long pages)
{
	if (cmpxchg(&places->memcg->swap.high, places->high, pages) == places->high)
		WRITE_ONCE(places->high, pages);
	else
		places->lost = true;
}

/* What is to be set; 0: it is good as it is. As mem_cgroup_swap_full() has it. */
static unsigned long wanted_high(const struct mts_places *places, bool lose)
{
	unsigned long high = READ_ONCE(places->high), swapped;

	if (!lose)
		return high == places->found ? 0 : places->found;
	swapped = page_counter_read(&places->memcg->swap);
	/* Half as much again: above it who allocates memory is slowed down, which we do here. */
	return swapped * 2 >= high ? 0 : swapped + swapped / 2;
}

void mts_places_lose(struct mts_places *places, bool lose)
{
	unsigned long high;

	if (!places->memcg || !wanted_high(places, lose))
		return;
	spin_lock(&places_lock);
	high = wanted_high(places, lose);
	if (high && !places->lost)
		set_high(places, high);
	spin_unlock(&places_lock);
}

void mts_places_end(struct mts_places *places)
{
	if (!places->memcg)
		return;
	mts_places_lose(places, false);
	css_put(&places->memcg->css);
	places->memcg = NULL;
}

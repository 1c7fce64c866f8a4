// SPDX-License-Identifier: GPL-2.0
#include "memory/limits.h"

#include <linux/memcontrol.h>
#include <linux/page_counter.h>

#include "job.h"

static u64 bytes_of(unsigned long pages)
{
	return pages >= PAGE_COUNTER_MAX ? U64_MAX : (u64)pages << PAGE_SHIFT;
}

static void cut_by_memory(struct mts_mem_limits *limits, const struct cgroup_subsys_state *css,
			  struct page_counter *counter, bool above)
{
	u64 most = bytes_of(min(READ_ONCE(counter->high), READ_ONCE(counter->max)));
	u64 used = (u64)page_counter_read(counter) << PAGE_SHIFT;

	if (most == U64_MAX)
		return;
	limits->most = min(limits->most, most);
	limits->room = min(limits->room, mts_sub_floor(most, used));
	limits->reached |= mts_limit_is_reached(used, most);
	if (above && limits->n < MTS_LIMITS_ABOVE)
		limits->above[limits->n++] = (struct mts_limit){
			.id = cgroup_id(css->cgroup),
			.depth = css->cgroup->level,
			.bytes = most,
		};
}

static void cut_by_swap(struct mts_mem_limits *limits, struct page_counter *counter, u64 own)
{
	u64 most = bytes_of(READ_ONCE(counter->max));
	u64 used = (u64)page_counter_read(counter) << PAGE_SHIFT;

	if (most != U64_MAX)
		limits->swap = min(limits->swap, mts_sub_floor(most, used) + own);
}

void mts_limits_read(struct mts_job *job, struct mts_mem_limits *limits)
{
	struct cgroup_subsys_state *own, *css;
	struct mem_cgroup *memcg;
	u64 swapped = 0;

	*limits = (struct mts_mem_limits){ .most = U64_MAX, .room = U64_MAX, .swap = U64_MAX };
	rcu_read_lock();
	own = rcu_dereference(job->cgrp->subsys[memory_cgrp_id]);
	if (own)
		swapped = (u64)page_counter_read(&mem_cgroup_from_css(own)->swap) << PAGE_SHIFT;
	/* The root cgroup has no limits. */
	for (css = own; css && css->parent; css = css->parent) {
		memcg = mem_cgroup_from_css(css);
		cut_by_memory(limits, css, &memcg->memory, css != own);
		cut_by_swap(limits, &memcg->swap, swapped);
	}
	rcu_read_unlock();
}

int mts_limits_low(struct cgroup *cgrp, u64 *low)
{
	struct cgroup_subsys_state *css;
	int err = -ENODEV;

	rcu_read_lock();
	css = rcu_dereference(cgrp->subsys[memory_cgrp_id]);
	if (css && css->flags & CSS_VISIBLE) {
		*low = bytes_of(READ_ONCE(mem_cgroup_from_css(css)->memory.low));
		err = 0;
	}
	rcu_read_unlock();
	return err;
}

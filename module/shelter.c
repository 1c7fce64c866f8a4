// SPDX-License-Identifier: GPL-2.0
/*
 * Jobs that nearly fit. Where all share the lists of the kernel's reclaim it takes what was used
 * longest ago; so one of them loses the little that is lacking, and the others run. With a cgroup
 * for each it takes from each by its size (shrink_node_memcgs(), mm/vmscan.c), so that all of them
 * wait for pages. So when they do, and no turns are taken, the memory of all but a few is protected
 * (memory.low). These give what is lacking, and after a while others do; until the kernel does
 * not reclaim any more. Not before: what nobody uses goes first, whose ever it is.
 */
#include "mts.h"

#include <linux/swap.h>

#include "config.h"
#include "memory.h"
#include "rotor.h"
#include "rotor_private.h"
#include "sched_hooks/hooks.h"

/* So long after kswapd was woken memory is taken to be short. */
#define SHORT_NS (10 * (u64)NSEC_PER_SEC)
/* So many pages that come back in a second are not what nobody uses. */
#define MANY_PAGES 1000u
/* So long the same ones give: what they have lost comes back page by page. */
#define GIVE_NS (60 * (u64)NSEC_PER_SEC)

/* The first one of them: no smaller id. The roster is in order of ids. */
static u32 first_id;
static u64 since;
static bool gives;

static bool is_short(void)
{
	u64 last = mts_hooks_last_reclaim();

	return last && ktime_get_ns() - last < SHORT_NS;
}

/* One window of the admission tells it, too; but by the second one turns begin. */
static bool are_waiting(void)
{
	static u64 counted_at, counted;
	u64 now = ktime_get_ns(), pages = mts_memory_swapins() - counted;
	u64 seconds = div_u64(now - counted_at, NSEC_PER_SEC);
	bool many = pages >= MANY_PAGES * max(seconds, 1ULL);

	if (seconds) {
		counted_at = now;
		counted += pages;
	}
	return many || mts_admission_waits(&mts_rotor.admission, now);
}

/* Only what is automatic. Without swap what was read from files alone would go. */
static bool may_shelter(void)
{
	const struct mts_config *config;
	bool may;

	mutex_lock(&mts_lock);
	config = mts_config();
	may = config->mode == MTS_MODE_AUTO && !config->bin_bytes;
	mutex_unlock(&mts_lock);
	return may && is_short() && get_nr_swap_pages() > 0;
}

/* Where in the roster of @n whoever gives first is; the next one's turn comes with time. */
static u32 find_first(u32 n)
{
	u64 now = ktime_get_ns();
	u32 i;

	if (now - since >= GIVE_NS) {
		first_id++;
		since = now;
	}
	for (i = 0; i < n; i++)
		if (mts_rotor.roster[i]->id >= first_id)
			break;
	if (i == n)
		i = 0;
	first_id = mts_rotor.roster[i]->id;
	return i;
}

bool mts_shelter_gives(void)
{
	return gives;
}

void mts_shelter_choose(void)
{
	u32 i, first, n = mts_rotor.roster_size;
	u64 demand = 0, given = 0, lacks = 0;

	for (i = 0; i < n; i++)
		if (!mts_round_is_resident(mts_rotor.roster[i]))
			demand = mts_add_sat(demand, mts_rotor.roster[i]->demand);
	gives = n >= 2 && may_shelter() && (are_waiting() || gives) &&
		mts_policy_nearly_fits(demand, mts_rotor.plan.capacity, &lacks);
	/* They keep a third: with nothing left to take the kernel tries all, again and again. */
	lacks += lacks / 2;
	first = gives ? find_first(n) : 0;
	for (i = 0; i < n; i++) {
		struct mts_job *job = mts_rotor.roster[(first + i) % n];

		job->sheltered = gives && given >= lacks && !mts_round_is_resident(job);
		if (!job->sheltered && !mts_round_is_resident(job))
			given = mts_add_sat(given, job->demand);
	}
}

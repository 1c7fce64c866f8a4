// SPDX-License-Identifier: GPL-2.0
/*
 * Jobs that nearly fit. Where all share the lists of the kernel's reclaim it takes what was used
 * longest ago; so one of them loses the little that is lacking, and the others run. With a cgroup
 * for each it takes from each by its size (shrink_node_memcgs(), mm/vmscan.c), so that all of them
 * wait for pages. So when they do, and no turns are taken, the memory of all but a few is protected
 * (memory.low). These give what is lacking, and after a while others do; until the kernel does
 * not reclaim any more, or nobody has waited for a while. Not before they wait: what nobody uses
 * goes first, whose ever it is.
 */
#include "mts.h"

#include "context.h"
#include "rotor/rotor.h"
#include "rotor/rotor_private.h"

static bool shelter;
module_param(shelter, bool, 0644);
MODULE_PARM_DESC(shelter,
		 "jobs that nearly fit lose what is lacking one after the other (default: no)");

/* So long the same ones give: what they have lost comes back page by page. */
#define GIVE_NS (60 * (u64)NSEC_PER_SEC)

/* The first one of them: no smaller id. The roster is in order of ids. */
static u32 first_id;
static u64 since;
/* When they last waited for memory, ktime, ns; 0: not since turns were taken */
static u64 waited;
static bool gives;

/* For as long as the same ones give it holds that they did. */
static bool have_waited(void)
{
	u64 now = ktime_get_ns();

	if (mts_admission_waits(&mts_rotor.admission, now))
		waited = now;
	return waited && now - waited < GIVE_NS;
}

/* Only what is automatic. */
static bool is_wanted(void)
{
	const struct mts_config *config;
	bool automatic;

	mutex_lock(&mts_lock);
	config = mts_rotor_config();
	automatic = config->mode == MTS_MODE_AUTO && !config->bin_bytes;
	mutex_unlock(&mts_lock);
	return automatic && READ_ONCE(shelter);
}

/* Without swap what was read from files alone would go. */
static bool may_shelter(void)
{
	return have_waited() && mts_round_reclaims() && get_nr_swap_pages() > 0;
}

/* Some can be taken from it, and it has its turn at giving. */
static bool may_give(const struct mts_job *job)
{
	return !mts_round_is_resident(job) && !job->stays;
}

/* Where in the roster the first one with no smaller id is that may give; its size: nowhere. */
static u32 find_from(u32 id)
{
	u32 i;

	for (i = 0; i < mts_rotor.roster_size; i++)
		if (mts_rotor.roster[i]->id >= id && may_give(mts_rotor.roster[i]))
			break;
	return i;
}

/* Where whoever gives first is; the next one's turn comes with time. */
static u32 find_first(void)
{
	u64 now = ktime_get_ns();
	u32 i;

	if (now - since >= GIVE_NS) {
		first_id++;
		since = now;
	}
	i = find_from(first_id);
	if (i == mts_rotor.roster_size)
		i = find_from(0);
	if (i == mts_rotor.roster_size)
		return 0;
	first_id = mts_rotor.roster[i]->id;
	return i;
}

bool mts_shelter_gives(void)
{
	return gives;
}

void mts_shelter_end(void)
{
	gives = false;
	waited = 0;
}

/*
 * Protection counts as far as the cgroups above have it (mem_cgroup_calculate_protection(),
 * mm/memcontrol.c), which we give to our base only: others' cgroups would always be those who give.
 */
static bool are_ours(void)
{
	u32 i;

	for (i = 0; i < mts_rotor.roster_size; i++)
		if (!mts_rotor.roster[i]->created)
			return false;
	return true;
}

void mts_shelter_choose(void)
{
	u32 i, first, n = mts_rotor.roster_size;
	u64 given = 0, left = 0, lacks = 0;
	bool wanted = is_wanted();

	if (!wanted)
		mts_shelter_end();
	gives = n >= 2 && wanted && are_ours() && may_shelter() &&
		mts_policy_nearly_fits(mts_rotor.plan.demand, mts_rotor.plan.capacity, &lacks);
	first = gives ? find_first() : 0;
	for (i = 0; i < n; i++) {
		struct mts_job *job = mts_rotor.roster[(first + i) % n];

		job->sheltered = false;
		if (!may_give(job))
			continue;
		/*
		 * They keep a third: with nothing left to take the kernel tries all, again and
		 * again. What is lacking was reckoned too low if they have lost nearly all.
		 */
		job->sheltered = gives && given >= lacks + lacks / 2 && left >= lacks / 4;
		if (job->sheltered)
			continue;
		given = mts_add_sat(given, job->demand);
		left = mts_add_sat(left, job->resident);
	}
}

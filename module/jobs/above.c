// SPDX-License-Identifier: GPL-2.0
#include "jobs/above.h"

#include "jobs/ops.h"

/*
 * 256 lists of 16 cgroups at most: 4096 jobs (MTS_MAX_JOBS), each in a slice of its own. Usually a
 * host has some tens. A list is walked twice for each protected job of a look, file access aside.
 */
#define ID_BITS 8

/**
 * struct above - a cgroup above protected jobs, or one whose own value is still to be put back
 * @below: bytes that these jobs have got
 * @own: its memory.low without mts
 * @given: what mts wrote last, as the kernel rounds it; @own: nothing
 * @late: there was no memory to write what it should have
 */
struct above {
	struct hlist_node by_id;
	u64 id;
	u64 below;
	u64 own;
	u64 given;
	bool late;
};

static DEFINE_HASHTABLE(aboves, ID_BITS); /* under protect_lock */
static u32 nlate; /* written under it */

static struct above *find(u64 id)
{
	struct above *above;

	hash_for_each_possible(aboves, above, by_id, id)
		if (above->id == id)
			return above;
	return NULL;
}

/* The cgroup so far above the job, with the value that it has now. Return: 0 or an error. */
static int make(struct mts_job *job, u32 up, u64 id)
{
	/* No reclaim: the rotor's thread ends the shortage. */
	struct above *above = kzalloc(sizeof(*above), GFP_NOWAIT | __GFP_NOWARN);
	int err;

	if (!above)
		return -ENOMEM;
	err = mts_ops->get(job, up, MTS_SETTING_LOW, &above->own);
	if (err) {
		kfree(above);
		return err;
	}
	above->id = id;
	above->given = above->own;
	hash_add(aboves, &above->by_id, id);
	return 0;
}

/* All cgroups above the job that have the setting, before any of them is changed. */
static bool make_all(struct mts_job *job)
{
	u32 up;
	u64 id;

	for (up = 1; (id = mts_ops->above(job, up)); up++)
		if (!find(id) && make(job, up, id) == -ENOMEM)
			return false;
	return true;
}

/* Has it what it should have? While it protects, a file is written for an eighth and more. */
static bool is_settled(const struct above *above, u64 wanted)
{
	u64 apart = mts_max(above->given, wanted) - mts_min(above->given, wanted);

	return !apart || (above->below && apart <= wanted / 8);
}

static int write(struct mts_job *job, u32 up, struct above *above, u64 wanted)
{
	int err = mts_ops->set(job, up, MTS_SETTING_LOW, wanted);

	if (err)
		return err;
	/* Read it back: the kernel rounds it, and the next comparison needs that value. */
	if (mts_ops->get(job, up, MTS_SETTING_LOW, &above->given))
		above->given = wanted;
	return 0;
}

static void forget(struct above *above)
{
	WRITE_ONCE(nlate, nlate - above->late);
	hash_del(&above->by_id);
	kfree(above);
}

/* Return: false: there was no memory for it */
static bool try_to_settle(struct mts_job *job, u32 up, struct above *above)
{
	u64 now, wanted;
	int err = mts_ops->get(job, up, MTS_SETTING_LOW, &now);

	if (err)
		return err != -ENOMEM;
	/* Another process has written it: that is the cgroup's own value from now on. */
	if (now != above->given) {
		above->own = now;
		above->given = now;
	}
	wanted = above->below ? mts_add_sat(above->own, above->below) : above->own;
	return is_settled(above, wanted) || write(job, up, above, wanted) != -ENOMEM;
}

static void settle(struct mts_job *job, u32 up, struct above *above)
{
	bool late = !try_to_settle(job, up, above);

	WRITE_ONCE(nlate, nlate - above->late + late);
	above->late = late;
	if (!late && !above->below)
		forget(above);
}

/* "max" of one job must not overflow the sum, or it could not be subtracted again. */
static u64 share_of(u64 low)
{
	return mts_min(low, U64_MAX / (2 * MTS_MAX_JOBS));
}

void mts_above_set(struct mts_job *job, u64 bytes)
{
	u64 id, after = share_of(bytes);
	struct above *above;
	u32 up;

	if (after && !make_all(job))
		return;
	for (up = 1; (id = mts_ops->above(job, up)); up++) {
		above = find(id);
		if (!above)
			continue;
		/* It may not have been readable when the job got its share. */
		above->below -= mts_min(above->below, job->above);
		above->below += after;
		settle(job, up, above);
	}
	job->above = after;
}

bool mts_above_is_late(void)
{
	return READ_ONCE(nlate);
}

void mts_above_exit(void)
{
	struct above *above;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(aboves); i++) {
		while (aboves[i].first) {
			above = container_of(aboves[i].first, struct above, by_id);
			pr_warn("memory.low of cgroup %llu stays %llu: it was %llu\n", above->id,
				above->given, above->own);
			forget(above);
		}
	}
}

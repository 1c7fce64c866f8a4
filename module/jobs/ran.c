// SPDX-License-Identifier: GPL-2.0
#include "jobs/ran.h"

#include "context.h"
#include "jobs/ops.h"

/* Innermost. A job may end while the rotor reads its time. */
static DEFINE_SPINLOCK(ran_lock);
static u64 ended; /* of jobs that have ended, ns; under ran_lock */

/* The job has run for so long. Return: how much of that is new. */
static u64 advance(struct mts_job *job, u64 user)
{
	u64 since = mts_sub_floor(user, job->user);

	lockdep_assert_held(&ran_lock);
	job->user = max(job->user, user);
	return since;
}

void mts_ran_begin(struct mts_job *job)
{
	struct mts_ran ran;

	if (!mts_ops->ran(job, &ran))
		job->user = ran.user_ns;
}

void mts_ran_end(struct mts_job *job)
{
	struct mts_ran ran;

	if (mts_ops->ran(job, &ran))
		return;
	spin_lock(&ran_lock);
	ended = mts_add_sat(ended, advance(job, ran.user_ns));
	spin_unlock(&ran_lock);
}

u64 mts_ran_since(struct mts_job *job)
{
	struct mts_ran ran;
	u64 since;

	if (mts_ops->ran(job, &ran))
		return 0;
	spin_lock(&ran_lock);
	since = advance(job, ran.user_ns);
	spin_unlock(&ran_lock);
	return since;
}

u64 mts_ran_take_ended(void)
{
	u64 taken;

	spin_lock(&ran_lock);
	taken = ended;
	ended = 0;
	spin_unlock(&ran_lock);
	return taken;
}

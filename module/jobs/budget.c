// SPDX-License-Identifier: GPL-2.0
#include "jobs/budget.h"

#include "context.h"
#include "jobs/ops.h"

/* How often the processor time of a job that runs out of turn is read: a reading takes 0.1 ms. */
#define READ_NS (1 * (u64)NSEC_PER_SEC)

/* Innermost. The watchdog and the rotor take it, with or without a job's freeze_lock. */
static DEFINE_SPINLOCK(budget_lock);
static u64 limit; /* bytes; under budget_lock, as the next two */
static u64 held; /* bytes: the sum of job->lent */
static bool displaced; /* input was granted beyond the limit since the last plan */

bool mts_budget_is_spent(const struct mts_job *job)
{
	return READ_ONCE(job->account.empty);
}

static void take(struct mts_job *job)
{
	u64 bytes = max_t(u64, READ_ONCE(job->demand), PAGE_SIZE);

	lockdep_assert_held(&budget_lock);
	/* The rotor may look at a job that is removed meanwhile: no thread would return it. */
	if (READ_ONCE(job->retired))
		return;
	job->oversize = bytes > mts_sub_floor(limit, held);
	held = mts_add_sat(held, bytes);
	WRITE_ONCE(job->lent, bytes);
}

static bool has_room(const struct mts_job *job)
{
	return !held || READ_ONCE(job->demand) <= mts_sub_floor(limit, held);
}

bool mts_budget_lend(struct mts_job *job, bool input)
{
	bool fits, lends;

	if (mts_budget_is_spent(job))
		return false;
	spin_lock(&budget_lock);
	fits = job->lent || has_room(job);
	lends = fits || (input && !displaced);
	displaced |= lends && !fits;
	if (lends && !job->lent)
		take(job);
	spin_unlock(&budget_lock);
	return lends;
}

void mts_budget_hold(struct mts_job *job)
{
	spin_lock(&budget_lock);
	if (!job->lent)
		take(job);
	spin_unlock(&budget_lock);
}

void mts_budget_return(struct mts_job *job)
{
	/* Of a job that is retired just now take() may not have seen that yet. */
	if (!READ_ONCE(job->lent) && !READ_ONCE(job->retired))
		return;
	spin_lock(&budget_lock);
	held = mts_sub_floor(held, job->lent);
	WRITE_ONCE(job->lent, 0);
	spin_unlock(&budget_lock);
}

void mts_budget_set_limit(u64 bytes)
{
	spin_lock(&budget_lock);
	limit = bytes;
	displaced = false;
	spin_unlock(&budget_lock);
}

void mts_budget_look(struct mts_job *job, bool out_of_turn, struct mts_share share)
{
	u64 now = ktime_get_ns(), ran = job->ran;
	struct mts_ran read;

	share.threads = job->threads;
	mts_account_earn(&job->account, now, &share);
	if (out_of_turn == job->was_out && (!out_of_turn || now - job->ran_at < READ_NS))
		return;
	if (!mts_ops->ran(job, &read))
		ran = read.user_ns + read.system_ns;
	/* A job without room beside the running bin slows the others down all the time it runs. */
	if (job->was_out)
		mts_account_spend(&job->account,
				  job->oversize ? now - job->ran_at : mts_sub_floor(ran, job->ran));
	job->was_out = out_of_turn;
	job->ran = ran;
	job->ran_at = now;
}

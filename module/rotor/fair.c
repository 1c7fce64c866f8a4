// SPDX-License-Identifier: GPL-2.0
#include "rotor/fair.h"

#include "events/promise.h"
#include "events/stats.h"
#include "jobs/freezer.h"
#include "jobs/ops.h"
#include "policy/fair.h"
#include "rotor/freeze.h"
#include "rotor/roster.h"
#include "rotor/state.h"
#include "rotor/users.h"

/*
 * @judged: when the accounts were last judged; ktime, ns; 0: not since the policy acts
 * @since: the delay under way began then; ktime, ns; 0: there is none
 * @next: no other one begins before, whatever wakes the rotor: what a delay took, the jobs run; ns
 */
static struct {
	u64 judged;
	u64 since;
	u64 next;
} fair;

/* An interactive job is never delayed, as with turns. */
static bool may_delay(const struct mts_job *job)
{
	return !mts_roster_is_resident(job) && mts_freeze_may(job);
}

static void thaw(struct mts_job *job)
{
	u64 since = READ_ONCE(job->frozen_since);

	if (!READ_ONCE(job->frozen))
		return;
	mts_promise_step("jobs are thawed");
	mts_freezer_thaw(job);
	mts_stats_add(delay_ns, mts_sub_floor(ktime_get_ns(), since));
}

void mts_fair_rest(void)
{
	u64 now;
	u32 i;

	if (!fair.since)
		return;
	for (i = 0; i < mts_rotor.roster.n; i++)
		thaw(mts_rotor.roster.jobs[i]);
	now = ktime_get_ns();
	fair.next = now + (now - fair.since);
	fair.since = 0;
}

void mts_fair_end(void)
{
	u32 i;

	mts_fair_rest();
	for (i = 0; i < mts_rotor.roster.n; i++) {
		mts_rotor.roster.jobs[i]->fair = (struct mts_fair_job){ 0 };
		WRITE_ONCE(mts_rotor.roster.jobs[i]->delayed, false);
	}
	fair.judged = 0;
	fair.next = 0;
}

/* @users: each user has a share */
static void read_waits(struct mts_job *job, struct mts_fair_job *account, bool users)
{
	struct mts_swap_waits waits;

	mts_ops->swap_waits(job, &waits);
	account->recent_ns = mts_sub_floor(waits.waited_ns, job->swap_waited);
	account->waits = account->recent_ns || waits.waiting;
	account->may_delay = may_delay(job);
	account->entitled = job->entitled;
	account->user = users ? job->owner : 0;
	/* What it waited before the policy acted is not accounted. */
	if (!fair.judged)
		account->recent_ns = 0;
	job->swap_waited = waits.waited_ns;
	job->swap_wait_ns += account->recent_ns;
}

static void delay(struct mts_job *job)
{
	mts_promise_step("jobs are frozen");
	if (mts_freezer_freeze(job))
		return;
	job->delays++;
	mts_stats_inc(delays);
}

static u32 judge(u64 now)
{
	struct mts_fair_job *accounts = mts_rotor.scratch;
	u32 i, n = mts_rotor.roster.n, delayed;
	bool users = mts_users_have_shares();

	for (i = 0; i < n; i++) {
		accounts[i] = mts_rotor.roster.jobs[i]->fair;
		read_waits(mts_rotor.roster.jobs[i], &accounts[i], users);
	}
	delayed = mts_fair_step(accounts, n, fair.judged ? now - fair.judged : 0,
				mts_users_weights(), accounts + n);
	fair.judged = now;
	for (i = 0; i < n; i++) {
		mts_rotor.roster.jobs[i]->fair = accounts[i];
		WRITE_ONCE(mts_rotor.roster.jobs[i]->delayed, accounts[i].delay);
	}
	return delayed;
}

u64 mts_fair_step_all(u64 now)
{
	u32 i;

	if (fair.since && now < fair.since + MTS_FAIR_DELAY_NS)
		return fair.since + MTS_FAIR_DELAY_NS - now;
	mts_fair_rest();
	now = ktime_get_ns();
	if (now < fair.next)
		return fair.next - now;
	if (!judge(now))
		return 2 * MTS_FAIR_DELAY_NS;
	for (i = 0; i < mts_rotor.roster.n; i++)
		if (mts_rotor.roster.jobs[i]->fair.delay)
			delay(mts_rotor.roster.jobs[i]);
	fair.since = now;
	return MTS_FAIR_DELAY_NS;
}

// SPDX-License-Identifier: GPL-2.0
#include "rotor/choice.h"

#include "events/trace.h"
#include "jobs/ops.h"
#include "policy/admission.h"
#include "policy/forecast.h"
#include "policy/verdict.h"
#include "rotor/roster.h"
#include "rotor/state.h"
#include "rotor/users.h"

bool mts_auto_is_on(void)
{
	return READ_ONCE(mts_rotor.order.config.policy) == MTS_POLICY_AUTO;
}

/* With MTS_MODE_SHADOW the policy in force does not act, nor before the next plan. */
static u32 acting(void)
{
	if (mts_rotor.round.nbins >= 2)
		return MTS_POLICY_TURNS;
	if (mts_rotor.phase.reason == MTS_REASON_FAIR)
		return MTS_POLICY_FAIR;
	return mts_rotor.phase.reason == MTS_REASON_TOKEN ? MTS_POLICY_TOKEN : MTS_POLICY_NONE;
}

/* How it did in this window. Return: time for which it waited for swap, ns. */
static u64 read_job(struct mts_job *job, struct mts_forecast_job *its)
{
	bool is_exempt = mts_roster_is_resident(job);
	struct mts_swap_waits waits;

	mts_ops->swap_waits(job, &waits);
	*its = (struct mts_forecast_job){
		.user_ns = job->look.user_ns,
		.waited_ns = mts_sub_floor(waits.waited_ns, job->window_waited),
		.wants = mts_admission_awake(&job->look),
		.rss = job->rss,
		.lacks = mts_sub_floor(job->demand, job->rss),
		.entitled = job->entitled,
		.user = mts_users_have_shares() ? job->owner : 0,
		.may_hold = !is_exempt && !job->limited,
		.may_delay = !is_exempt,
	};
	job->window_waited = waits.waited_ns;
	return its->waited_ns;
}

size_t mts_auto_scratch(void)
{
	return MTS_MAX_JOBS * sizeof(struct mts_forecast_job) +
	       mts_forecast_fair_scratch(MTS_MAX_JOBS);
}

void mts_auto_foretell(struct mts_choice_window *window, u64 could_run, u64 swapins)
{
	struct mts_forecast_job *jobs = mts_rotor.scratch;
	struct mts_forecast_host host = {
		.elapsed_ns = window->elapsed_ns,
		.could_run = could_run,
		.memory = mts_add_sat(mts_rotor.round.plan.capacity,
				      mts_rotor.round.plan.resident_demand),
	};
	u64 waited = 0;
	u32 i, n = 0;

	for (i = 0; i < mts_rotor.roster.n; i++)
		if (!mts_rotor.roster.jobs[i]->confined)
			waited =
				mts_add_sat(waited, read_job(mts_rotor.roster.jobs[i], &jobs[n++]));
	host.fault_ns = swapins ? div64_u64(waited, swapins) : 0;
	window->forecast[MTS_POLICY_NONE] = MTS_FORECAST_UNKNOWN;
	window->forecast[MTS_POLICY_TOKEN] =
		mts_forecast_token(&host, jobs, n, &window->token_takes_ns);
	/* Behind these in the scratch. */
	window->forecast[MTS_POLICY_FAIR] =
		mts_forecast_fair(&host, jobs, n, mts_users_weights(), &jobs[n]);
}

/* As of the last plan: memory is short, and a policy may act. */
static bool is_to_choose(void)
{
	switch (mts_rotor.phase.reason) {
	case MTS_REASON_NONE:
	case MTS_REASON_NO_JOBS:
	case MTS_REASON_FITS:
	case MTS_REASON_NO_SWAP:
	case MTS_REASON_NO_PRESSURE:
		return false;
	}
	return true;
}

void mts_auto_choose(struct mts_choice_window *window, bool may_turn)
{
	struct mts_choice *choice = &mts_rotor.choosing.choice;
	u32 before = choice->policy;
	bool was_on_trial = choice->on_trial;

	if (!is_to_choose())
		return;
	window->acted = acting();
	window->may[MTS_POLICY_TURNS] = may_turn;
	window->may[MTS_POLICY_NONE] = true;
	window->may[MTS_POLICY_FAIR] = true;
	window->may[MTS_POLICY_TOKEN] = true;
	mutex_lock(&mts_lock);
	mts_choice_step(choice, window);
	if (choice->policy != before || choice->on_trial != was_on_trial)
		trace_mts_policy(before, choice);
	mutex_unlock(&mts_lock);
}

void mts_auto_take(u32 policy)
{
	struct mts_choice *choice = &mts_rotor.choosing.choice;
	u32 before = choice->policy;

	lockdep_assert_held(&mts_lock);
	mts_choice_take(choice, policy, ktime_get_ns());
	if (policy != before)
		trace_mts_policy(before, choice);
}

void mts_auto_review(const struct mts_grounds *grounds)
{
	struct mts_choice *choice = &mts_rotor.choosing.choice;
	u32 before = choice->policy;

	lockdep_assert_held(&mts_lock);
	if (mts_choice_review(choice, grounds, ktime_get_ns()) && choice->policy != before)
		trace_mts_policy(before, choice);
}

void mts_auto_forget(void)
{
	lockdep_assert_held(&mts_lock);
	mts_choice_forget(&mts_rotor.choosing.choice);
}

/* What is held against turns is the admission's. */
static const struct mts_verdict *verdict_of(u32 policy)
{
	return policy == MTS_POLICY_TURNS ? &mts_rotor.admission.verdict :
					    &mts_rotor.choosing.choice.of[policy].verdict;
}

void mts_auto_info(struct mts_policy_info *info)
{
	const struct mts_choice *choice = &mts_rotor.choosing.choice;
	u64 now = ktime_get_ns();
	u32 i;

	mutex_lock(&mts_lock);
	*info = (struct mts_policy_info){ .policy = mts_rotor_config()->policy };
	if (info->policy != MTS_POLICY_AUTO)
		goto out_unlock;
	info->policy = choice->policy;
	info->on_trial = choice->on_trial;
	info->since_ns = choice->since;
	for (i = 0; i < MTS_POLICIES; i++)
		info->of[i] = (struct mts_policy_gives){
			.permille = choice->of[i].share,
			.how = choice->of[i].how,
			.age_ns = choice->of[i].how ? mts_sub_floor(now, choice->of[i].at) : 0,
			.barred_ns = mts_sub_floor(verdict_of(i)->until, now),
		};

out_unlock:
	mutex_unlock(&mts_lock);
}

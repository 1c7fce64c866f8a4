// SPDX-License-Identifier: GPL-2.0
#include "policy/choice.h"

#include "policy/forecast.h"

static u64 share_of(u64 user_ns, u64 elapsed_ns)
{
	return mts_min(mul_u64_u64_div_u64(user_ns, 1000, mts_max(elapsed_ns, 1)), U32_MAX);
}

static void note(struct mts_gives *gives, u64 share, u32 how, u64 now)
{
	gives->share = share;
	gives->how = how;
	gives->at = now;
}

static bool is_barred(const struct mts_gives *gives, u64 now)
{
	return mts_verdict_holds(&gives->verdict, now);
}

/* What a policy gave is forgotten when its verdict holds no more: it may be tried again. */
static void foretell(struct mts_choice *choice, const struct mts_choice_window *window, u32 policy)
{
	struct mts_gives *gives = &choice->of[policy];
	u64 share = window->forecast[policy];

	if (is_barred(gives, window->now))
		return;
	if (share == MTS_FORECAST_UNKNOWN)
		note(gives, 0, MTS_GIVES_UNKNOWN, window->now);
	else
		note(gives, share, MTS_GIVES_FORECAST, window->now);
}

static void forget_others(struct mts_choice *choice, u64 since, u64 now)
{
	u32 i;

	for (i = 0; i < MTS_POLICIES; i++)
		if (i != choice->policy && choice->of[i].at < since)
			note(&choice->of[i], 0, MTS_GIVES_UNKNOWN, now);
}

static void update(struct mts_choice *choice, const struct mts_choice_window *window)
{
	forget_others(choice, mts_sub_floor(window->now, MTS_CHOICE_EXPIRES_NS), window->now);
	note(&choice->of[window->acted], share_of(window->user_ns, window->elapsed_ns),
	     MTS_GIVES_MEASURED, window->now);
	if (window->acted != MTS_POLICY_TURNS)
		foretell(choice, window, MTS_POLICY_TURNS);
	if (window->acted != MTS_POLICY_NONE)
		return;
	foretell(choice, window, MTS_POLICY_FAIR);
	foretell(choice, window, MTS_POLICY_TOKEN);
	choice->of[MTS_POLICY_TOKEN].takes_ns = window->token_takes_ns;
}

void mts_choice_take(struct mts_choice *choice, u32 policy, u64 now)
{
	u32 i;

	if (choice->policy == policy)
		return;
	/* Turns go by other demands: what was measured before is of the same jobs all the same. */
	if (choice->policy == MTS_POLICY_TURNS)
		choice->grounds = (struct mts_grounds){ 0 };
	choice->before = choice->of[choice->policy].share;
	choice->promised = choice->of[policy].share;
	choice->policy = policy;
	choice->since = now;
	choice->on_trial = policy == MTS_POLICY_FAIR || policy == MTS_POLICY_TOKEN;
	choice->user_ns = 0;
	choice->elapsed_ns = 0;
	choice->poor = 0;
	for (i = 0; i < MTS_POLICIES; i++)
		choice->of[i].better = 0;
}

/* What was measured before expires, so a trial is no longer than that. */
static u64 trial_ns(const struct mts_gives *gives)
{
	return mts_min(mts_max(gives->takes_ns, MTS_CHOICE_TRIAL_NS), MTS_CHOICE_EXPIRES_NS);
}

/* Return: is it to go on? */
static bool try_on(struct mts_choice *choice, const struct mts_choice_window *window)
{
	struct mts_gives *gives = &choice->of[choice->policy];

	choice->user_ns = mts_add_sat(choice->user_ns, window->user_ns);
	choice->elapsed_ns = mts_add_sat(choice->elapsed_ns, window->elapsed_ns);
	note(gives, share_of(choice->user_ns, choice->elapsed_ns), MTS_GIVES_MEASURED, window->now);
	if (choice->elapsed_ns < trial_ns(gives))
		return true;
	choice->on_trial = false;
	if (mts_forecast_is_better(gives->share, choice->before)) {
		mts_verdict_forget(&gives->verdict);
		return true;
	}
	mts_verdict_give(&gives->verdict, MTS_REASON_NO_GAIN, window->now);
	return false;
}

/* Is it as good as it was found to be? */
static bool holds_good(struct mts_choice *choice)
{
	choice->poor = choice->of[choice->policy].share < choice->before ? choice->poor + 1 : 0;
	return choice->poor < MTS_FORECAST_WINDOWS;
}

/* Is the policy that acts to go on, as far as it is known what it brings? */
static bool is_worth_it(struct mts_choice *choice, const struct mts_choice_window *window)
{
	if (choice->policy == MTS_POLICY_NONE || choice->policy == MTS_POLICY_TURNS)
		return true;
	return choice->on_trial ? try_on(choice, window) : holds_good(choice);
}

/* Is it more? A forecast of fair or token is rough: it has to be better by what errors are. */
static bool is_more(const struct mts_choice *choice, u32 policy, u64 share)
{
	const struct mts_gives *gives = &choice->of[policy];

	if (gives->how == MTS_GIVES_FORECAST && policy != MTS_POLICY_TURNS)
		return mts_forecast_is_better(gives->share, share);
	return gives->share > share;
}

/* What is in force gives. While it is on trial, what was measured so far says little. */
static u64 present_share(const struct mts_choice *choice)
{
	return choice->on_trial ? choice->promised : choice->of[choice->policy].share;
}

static bool may_replace(const struct mts_choice *choice, const struct mts_choice_window *window,
			u32 policy)
{
	const struct mts_gives *gives = &choice->of[policy];

	return policy != choice->policy && window->may[policy] && gives->how != MTS_GIVES_UNKNOWN &&
	       !is_barred(gives, window->now) && (policy == MTS_POLICY_NONE || window->loses) &&
	       mts_forecast_is_better(gives->share, present_share(choice));
}

/* Return: what gives most, of what was better in enough windows; what is in force, if none was. */
static u32 find_best(const struct mts_choice *choice)
{
	u32 i, best = choice->policy;
	u64 most = present_share(choice);

	for (i = 0; i < MTS_POLICIES; i++) {
		if (choice->of[i].better >= MTS_FORECAST_WINDOWS && is_more(choice, i, most)) {
			best = i;
			most = choice->of[i].share;
		}
	}
	return best;
}

static void compare(struct mts_choice *choice, const struct mts_choice_window *window)
{
	u32 i, best;

	for (i = 0; i < MTS_POLICIES; i++)
		choice->of[i].better =
			may_replace(choice, window, i) ? choice->of[i].better + 1 : 0;
	best = find_best(choice);
	if (best != choice->policy)
		mts_choice_take(choice, best, window->now);
}

void mts_choice_step(struct mts_choice *choice, const struct mts_choice_window *window)
{
	bool acted = window->acted == choice->policy;

	update(choice, window);
	if (acted && !is_worth_it(choice, window))
		mts_choice_take(choice, MTS_POLICY_NONE, window->now);
	else
		compare(choice, window);
}

static void review_under_turns(struct mts_choice *choice, const struct mts_grounds *grounds,
			       u64 now)
{
	struct mts_grounds then = *grounds;

	then.jobs = choice->grounds.jobs;
	then.processors = choice->grounds.processors;
	if (!choice->grounds.capacity || !mts_grounds_differ(&then, grounds))
		return;
	forget_others(choice, U64_MAX, now);
	choice->grounds = *grounds;
}

bool mts_choice_review(struct mts_choice *choice, const struct mts_grounds *grounds, u64 now)
{
	u32 i, better[MTS_POLICIES];

	if (choice->policy == MTS_POLICY_TURNS) {
		review_under_turns(choice, grounds, now);
		return false;
	}
	if (choice->grounds.capacity && !mts_grounds_differ(&choice->grounds, grounds))
		return false;
	if (!choice->grounds.capacity) {
		choice->grounds = *grounds;
		return false;
	}
	for (i = 0; i < MTS_POLICIES; i++)
		better[i] = choice->policy == MTS_POLICY_NONE ? choice->of[i].better : 0;
	mts_choice_forget(choice);
	/* Jobs that grow lose by memory all the same: what was better in the last window counts. */
	for (i = 0; i < MTS_POLICIES; i++)
		choice->of[i].better = better[i];
	choice->since = now;
	choice->grounds = *grounds;
	return true;
}

void mts_choice_forget(struct mts_choice *choice)
{
	*choice = (struct mts_choice){ .policy = MTS_POLICY_NONE };
}

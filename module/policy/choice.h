/* SPDX-License-Identifier: GPL-2.0 */
/*
 * MTS_POLICY_AUTO: which policy is in force. Times are ns of ktime, shares per mille of one
 * processor. Pure code (pure.h).
 */
#ifndef _MTS_POLICY_CHOICE_H
#define _MTS_POLICY_CHOICE_H

#include "policy/verdict.h"
#include "uapi/mts.h"

/*
 * A policy that was forecast to be better is measured for this time at least before it is compared,
 * ns: the waits by which jobs are delayed (fair.h) are those of this time.
 */
#define MTS_CHOICE_TRIAL_NS (10ull * 1000000000)

/*
 * What a policy gave counts for this time, ns: as long as the longest verdict (verdict.h). Jobs are
 * in other phases by then.
 */
#define MTS_CHOICE_EXPIRES_NS (600ull * 1000000000)

/**
 * struct mts_gives - what the jobs get under a policy
 * @share: user time of all jobs
 * @how: enum mts_gives_how
 * @at: when it was measured, or forecast
 * @takes_ns: until it gives what was forecast; 0: not known
 * @better: windows in a row, up to the last one, in which it was better than that in force
 * @verdict: it was tried, and did not give enough. While it holds, @share is what was measured
 */
struct mts_gives {
	u64 share;
	u32 how;
	u64 at;
	u64 takes_ns;
	u32 better;
	struct mts_verdict verdict;
};

/**
 * struct mts_choice - all zero but for @policy, which is MTS_POLICY_NONE, at first
 * @policy: enum mts_policy in force
 * @since: it came into force; 0: never did another
 * @of: by enum mts_policy
 * @before: what the jobs got before it came into force
 * @promised: what was forecast of it, or measured, then
 * @on_trial: it has not been found better than that; until then the policy counts as forecast
 * @user_ns, @elapsed_ns: of the trial, so far
 * @poor: windows in a row, up to the last one, in which the jobs got less than before
 * @grounds: verdict.h; as of the first plan without turns; capacity is 0 until then
 */
struct mts_choice {
	u32 policy;
	u64 since;
	struct mts_gives of[MTS_POLICIES];
	u64 before;
	u64 promised;
	bool on_trial;
	u64 user_ns;
	u64 elapsed_ns;
	u32 poor;
	struct mts_grounds grounds;
};

/**
 * struct mts_choice_window - what was measured in a window, or in a round of turns
 * @now: its end
 * @elapsed_ns: its length
 * @user_ns: user time of all jobs
 * @acted: enum mts_policy that did act: with MTS_MODE_SHADOW it is NONE
 * @loses: the jobs waited for memory
 * @may: by enum mts_policy: it may be chosen
 * @forecast: by enum mts_policy; MTS_FORECAST_UNKNOWN
 * @token_takes_ns: until a job with the token has fetched its memory, and held it
 */
struct mts_choice_window {
	u64 now;
	u64 elapsed_ns;
	u64 user_ns;
	u32 acted;
	bool loses;
	bool may[MTS_POLICIES];
	u64 forecast[MTS_POLICIES];
	u64 token_takes_ns;
};

/**
 * mts_choice_step() - a window is over: which policy is in force from now on
 *
 * One account judges all: the user time that the jobs got. What acted has just been measured. The
 * others count as last measured, or as forecast. Forecasts of fair and token are made while none
 * acts, as these policies change what they are made of; that of turns in each window.
 *
 * - Another policy comes into force if it is better, by forecast.h, in two windows in a row, and
 *   the jobs lose by memory. For none they need not.
 * - Forecasts of fair and token are rough. So these have to promise as much more than turns do, and
 *   come on trial for MTS_CHOICE_TRIAL_NS, or for a holding, as a job that fetches its memory gets
 *   little done, and so do the others. If the jobs got no more then, by the same measure, than
 *   before, a verdict bars the policy for 30 s and more (verdict.h). Turns are judged by rounds
 *   (admission.h).
 * - Proven, they go on until something is better; or until the jobs got less than before in two
 *   windows in a row: then none is in force, for a fresh look.
 */
void mts_choice_step(struct mts_choice *choice, const struct mts_choice_window *window);

/* @policy is in force, whatever it gives: turns that begin before memory is full, or that end. */
void mts_choice_take(struct mts_choice *choice, u32 policy, u64 now);

/**
 * mts_choice_review() - forget what was measured if one of its grounds has changed by an eighth
 * @grounds: as of a plan
 *
 * Then none is in force. Turns stay in force: while jobs take turns they have other demands, and
 * before that they were chosen by what jobs lose now. What the others gave is forgotten if there
 * are other numbers of jobs or processors. Return: is another policy in force?
 */
bool mts_choice_review(struct mts_choice *choice, const struct mts_grounds *grounds, u64 now);

/* For a new configuration. */
void mts_choice_forget(struct mts_choice *choice);

#endif /* _MTS_POLICY_CHOICE_H */

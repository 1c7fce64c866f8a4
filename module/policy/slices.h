/* SPDX-License-Identifier: GPL-2.0 */
/* How long each bin of a plan runs: ns. Pure code (pure.h). */
#ifndef _MTS_POLICY_SLICES_H
#define _MTS_POLICY_SLICES_H

#include "policy/bins.h"

/*
 * Derive both pause limits, less the margin, from a configured @max_pause_ns. 0: automatic (struct
 * mts_config).
 */
void mts_plan_limit_pause(struct mts_plan_conf *conf, u64 max_pause_ns);

/*
 * Longer pauses, for jobs that are not attended where the limit is automatic: they double as long
 * as that gives a tenth more.
 */

/* The limit after @limit_ns; 0: the first one. The last one is MTS_PAUSE_UNATTENDED_NS. */
u64 mts_plan_longer_pause(u64 limit_ns);

/* Slices that the limits above cut keep this one instead. 0: they do not. */
void mts_plan_allow_pause(struct mts_plan_conf *conf, u64 limit_ns);

/* May more get done with longer pauses than the plan's limit, or is it not kept? */
bool mts_plan_wants_long_pauses(const struct mts_plan *plan);

/* What the jobs get done by the plan, as forecast.h foretells it; 0: not planned so. */
u64 mts_plan_work(const struct mts_plan *plan);

/* Does it get more done than the plan with shorter ones, or keep its limit where that does not? */
bool mts_plan_long_pauses_pay(const struct mts_plan *plan, const struct mts_plan *before);

/*
 * Does a pause exceed both the plan's limit and the configured one? No job is frozen beyond the
 * limit: groups that are due before there is room for them run all the same. If these would have
 * too much of the memory, or would be slow, the plan breaks the limit (mts_plan.breaks_limit).
 */
bool mts_plan_pauses_too_long(const struct mts_plan *plan);

/*
 * Does the plan break the limit even if switches take no time? Then there is nothing that has to be
 * measured first.
 */
bool mts_plan_slices_too_long(const struct mts_plan_bin *bins, const struct mts_plan *plan);

/* Recompute slices, pauses and the length of the round: the same bins, other settings. */
void mts_plan_slices(const struct mts_plan_conf *measured, struct mts_plan_bin *bins,
		     struct mts_plan *plan);

/**
 * mts_plan_cut() - longest slice with which each bin gets its turn in time
 * @bins: this round's bins
 * @running: the bin whose slice it is
 * @order: the bins that follow, in the order of their turns
 * @n: how many
 * @left: for each bin, ns until its switch must begin; U64_MAX: no job of it waits, and it gets no
 *	turn
 * @switch_ns: duration of a switch
 *
 * Before each bin but the next one lie other turns: their slices and their switches. Those slices
 * are taken to shrink as much as this one. The first slices of a round are planned before the
 * duration of a switch is known, so the slices to come must not bear the correction alone.
 *
 * Return: ns, at most the slice as planned.
 */
u64 mts_plan_cut(const struct mts_plan_bin *bins, u32 running, const u32 *order, u32 n,
		 const u64 *left, u64 switch_ns);

#endif /* _MTS_POLICY_SLICES_H */

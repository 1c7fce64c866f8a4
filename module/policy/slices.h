/* SPDX-License-Identifier: GPL-2.0 */
/* How long each bin of a plan runs: nanoseconds. Pure code (pure.h). */
#ifndef _MTS_POLICY_SLICES_H
#define _MTS_POLICY_SLICES_H

#include "policy/bins.h"

/* The two limits, less the margin, of a user's @max_pause_ns. 0: automatic (struct mts_config). */
void mts_plan_limit_pause(struct mts_plan_conf *conf, u64 max_pause_ns);

/* Is a pause longer than it was to be, and than the user allows? */
bool mts_plan_pauses_too_long(const struct mts_plan *plan);

/* The slices, pauses and the round's length of such a plan anew: the same bins, another conf. */
void mts_plan_slices(const struct mts_plan_conf *conf, struct mts_plan_bin *bins,
		     struct mts_plan *plan);

/**
 * mts_plan_cut() - how long a slice may last so that nobody waits too long for a turn
 * @bins: this round's
 * @nbins: how many
 * @running: the bin whose slice it is, below @nbins
 * @left: of each bin: how long it may still wait for its switch to begin, in ns; U64_MAX: it
 *	waits for none, and has no turn; that of @running does not matter
 * @switch_ns: what a switch takes
 *
 * The turns of others lie before all but the next one's: slices as planned, which shrink with
 * this one, and their switches. A round's first slices are planned before anybody knows how
 * long switches take; those to come must not pay for it alone.
 *
 * Return: ns, at most the slice as planned.
 */
u64 mts_plan_cut(const struct mts_plan_bin *bins, u32 nbins, u32 running, const u64 *left,
		 u64 switch_ns);

#endif /* _MTS_POLICY_SLICES_H */

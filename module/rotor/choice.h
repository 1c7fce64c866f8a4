/* SPDX-License-Identifier: GPL-2.0 */
/*
 * MTS_POLICY_AUTO: which policy is in force (policy/choice.h). In the rotor's thread, but for
 * mts_auto_info().
 */
#ifndef _MTS_ROTOR_CHOICE_H
#define _MTS_ROTOR_CHOICE_H

#include "context.h"
#include "policy/choice.h"

/* Is it configured? */
bool mts_auto_is_on(void);

/**
 * mts_auto_foretell() - what policies without turns would give, by the jobs in a window
 * @window: .elapsed_ns is given, .forecast is filled but for turns
 * @could_run: as in struct mts_window
 * @swapins: pages that the host has swapped in meanwhile
 *
 * Before the looks at the jobs are forgotten. Jobs that are confined do not count.
 */
void mts_auto_foretell(struct mts_choice_window *window, u64 could_run, u64 swapins);

/* Bytes that it takes of mts_rotor.scratch for MTS_MAX_JOBS. */
size_t mts_auto_scratch(void);

/*
 * The window is over, or a round of turns: choose. @window: all but .acted and .may. @may_turn:
 * nothing is held against turns. Takes mts_lock.
 */
void mts_auto_choose(struct mts_choice_window *window, bool may_turn);

/* As mts_choice_take(). Under mts_lock. */
void mts_auto_take(u32 policy);

/* A plan without turns is made by these. Under mts_lock. */
void mts_auto_review(const struct mts_grounds *grounds);

/* A new configuration. Under mts_lock. */
void mts_auto_forget(void);

/* The policy in force, and what each gives. Takes mts_lock; in any thread. */
void mts_auto_info(struct mts_policy_info *info);

#endif /* _MTS_ROTOR_CHOICE_H */

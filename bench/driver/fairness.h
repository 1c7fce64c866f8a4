/* SPDX-License-Identifier: GPL-2.0 */
/*
 * labdrive: Jain's index of fairness over work counters: (sum x)^2 / (n sum x^2). 1: all have
 * the same; 1/n: one has everything. Jain, Chiu & Hawe, DEC-TR-301, 1984; Goichon et al.
 * use it over the rounds of swappers.
 */
#ifndef LABDRIVE_FAIRNESS_H
#define LABDRIVE_FAIRNESS_H

#include "jobs.h"

/* What there is no index of: no slot, or no progress in any. */
#define NO_INDEX (-1.0)

/* A slot of any job has reached its goal. */
bool fairness_first_goal(const struct jobs *jobs);

/**
 * fairness_index() - over what all slots have done until now
 *
 * Of slots with a goal the fraction counts. Those without one count, by what they have done, only
 * if no slot has a goal.
 */
double fairness_index(const struct jobs *jobs);

/* An interval begins: slots that are alive (of a running job, the goal not reached) take part. */
void fairness_begin(struct jobs *jobs);

/* It ends: the index over the progress of the slots that took part and are still alive. */
double fairness_end(const struct jobs *jobs);

#endif

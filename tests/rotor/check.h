/* SPDX-License-Identifier: GPL-2.0 */
/*
 * check: tests the invariants of the design after each turn of a thread and at each event. A
 * violation ends the run and prints the log, the seed and the time.
 */
#ifndef CHECK_H
#define CHECK_H

#include <stdio.h>

#include "host.h"

/* Coverage: summed up over runs, and printed. */
struct coverage {
	u64 runs;
	u64 turns;
	u64 switches;
	u64 rounds;
	u64 ns;
	u64 states[8];
	u64 transitions[8][8];
	u64 reasons[20];
	u64 choices[MTS_POLICIES][MTS_POLICIES];
	u64 slice_ends[16];
	u64 thaws[16];
	u64 mishaps[OPS][8][MISHAPS];
	u64 actions[40];
};

extern struct coverage coverage;

/* Begin a run. @gentle: no mishaps and few changes, so that shares can be compared. */
void check_begin(bool gentle);
void check_end(void);

/* From now on jobs may be frozen for @ns at most; 0: for the automatic limit. */
void check_limit(u64 ns);

/* After a run without changes: every job that takes turns had as many slices as the others. */
void check_shares(void);

/* Record the last action of the world. */
void check_note(const char *what);

/* Switches of this run so far. */
u64 check_switches(void);

void check_print(FILE *to);

#endif /* CHECK_H */

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * check: the invariants of the design, looked at after each turn of a thread and at each event. A
 * breach ends the run: the log, the seed, and the time are printed.
 */
#ifndef CHECK_H
#define CHECK_H

#include <stdio.h>

#include "host.h"

/* What a run has come through: added up over runs, and printed. */
struct coverage {
	u64 runs;
	u64 turns;
	u64 switches;
	u64 rounds;
	u64 ns;
	u64 states[8];
	u64 transitions[8][8];
	u64 reasons[20];
	u64 slice_ends[16];
	u64 thaws[16];
	u64 mishaps[OPS][8][MISHAPS];
	u64 actions[40];
};

extern struct coverage coverage;

/* A new run. @gentle: fair weather and few changes, so that shares can be compared. */
void check_begin(bool gentle);
void check_end(void);

/* The configuration may leave jobs frozen for so long from now on, ns; 0: as is automatic. */
void check_limit(u64 ns);

/* Nothing has happened to the jobs: each that takes turns has had as many as the others. */
void check_shares(void);

/* The last thing that the world did. */
void check_note(const char *what);

/* Switches of this run so far. */
u64 check_switches(void);

void check_print(FILE *to);

#endif /* CHECK_H */

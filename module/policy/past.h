/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What commands needed and how long they ran, to foretell their next run. Pure code (pure.h).
 *
 * The last two runs count. Run time: their mean, which predicts better than what users say
 * (Tsafrir, Etsion & Feitelson 2007, "Backfilling using system-generated predictions rather than
 * user runtime estimates", section 3). Memory: the larger one, because a job that needs more than
 * was foretold makes the host swap, and one that needs less only leaves room.
 */
#ifndef _MTS_POLICY_PAST_H
#define _MTS_POLICY_PAST_H

#include "policy/pure.h"

/* Commands that are remembered: 28 KiB, and a search takes microseconds, once for each job. */
#define MTS_PAST_COMMANDS 512

/**
 * struct mts_past_run - one run, or what the next one is expected to be
 * @need: the most memory that it needed, bytes
 * @ran_ns: from its first instruction to its end, without the time that it was frozen
 */
struct mts_past_run {
	u64 need;
	u64 ran_ns;
};

/**
 * struct mts_past_command
 * @command: which; 0: the entry is free
 * @noted: order of the last note, to replace the entry that was not used for longest
 * @runs: how many of @last and @before there are, 2 at most
 */
struct mts_past_command {
	u64 command;
	u64 noted;
	u32 runs;
	struct mts_past_run last;
	struct mts_past_run before;
};

/* All zero: nothing is remembered. */
struct mts_past {
	struct mts_past_command commands[MTS_PAST_COMMANDS];
	u64 notes;
};

/* A run has ended. @command: not 0 */
void mts_past_note(struct mts_past *past, u64 command, const struct mts_past_run *run);

/* What its next run is expected to be. Return: false: the command is not known. */
bool mts_past_expect(const struct mts_past *past, u64 command, struct mts_past_run *run);

#endif /* _MTS_POLICY_PAST_H */

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Jobs that arrive during a round: what each will need, and in which bin it has room. A storm of
 * births brings thousands at once, under the rotor's lock: n jobs and bins cost O(n log n) in all.
 * Pure code (pure.h).
 */
#ifndef _MTS_POLICY_NEWCOMERS_H
#define _MTS_POLICY_NEWCOMERS_H

#include "policy/bins.h"

/* The jobs of one parent: how many, and the sum of their demands. An entry of a hash table. */
struct mts_family {
	u32 parent;
	u32 n; /* 0: the entry is free */
	u64 demand;
};

/**
 * struct mts_newcomers - one pass over newcomers
 * @families: the hash table, of @slots entries, a power of two
 * @room: a binary tree: the leaves have the room of each bin and 1, or 0 for an overfull bin; an
 *	inner node has the larger value of its two children
 * @capacity: of all bins that run, where they overlap
 * @running: what those that run need
 */
struct mts_newcomers {
	struct mts_family *families;
	u32 slots;
	u64 *room;
	u32 leaves;
	u64 capacity;
	u64 running;
};

/* Scratch memory for @n jobs and as many bins at most, bytes. */
size_t mts_newcomers_scratch(u32 n);

/*
 * Begin a pass. @njobs: jobs to be noted at most; @scratch: of mts_newcomers_scratch(the larger of
 * @njobs and @nbins) bytes, aligned for u64.
 */
void mts_newcomers_begin(struct mts_newcomers *all, const struct mts_plan_bin *bins, u32 nbins,
			 u64 capacity, u32 njobs, void *scratch);

/* A job that has a bin. @parent: id of its parent; 0: none */
void mts_newcomers_note(struct mts_newcomers *all, u32 parent, u64 demand);

/* What a newcomer will need that has @demand now: as its siblings on average, if it has any. */
u64 mts_newcomers_demand(const struct mts_newcomers *all, u32 parent, u64 demand);

/**
 * mts_newcomers_bin() - choose a bin for a newcomer
 * @running: index of the running bin; if it is no bin, the search begins at bin 0
 * @demand: of the new job, known or expected
 *
 * Tries the running bin, then the others in the order of their turns; after the last bin comes the
 * first, whose turn is in the next round. An overfull bin has no room, not even for 0 bytes.
 *
 * Return: the first bin with room. MTS_BIN_NONE: the job waits for the next round (Reuven & Wiseman
 * section 4.1).
 */
u32 mts_newcomers_bin(const struct mts_newcomers *all, u32 running, u64 demand);

/* It goes there: a result of mts_newcomers_bin() that is no MTS_BIN_NONE. */
void mts_newcomers_take(struct mts_newcomers *all, u32 bin, u64 demand);

/* Of overlapping bins: does a new one fit beside all that run? */
bool mts_newcomers_fits_beside(const struct mts_newcomers *all, u64 demand);

/* It runs beside them. */
void mts_newcomers_take_beside(struct mts_newcomers *all, u64 demand);

#endif /* _MTS_POLICY_NEWCOMERS_H */

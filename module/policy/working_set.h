/* SPDX-License-Identifier: GPL-2.0 */
/* What a job does not use: bytes. Pure code (pure.h). */
#ifndef _MTS_POLICY_WORKING_SET_H
#define _MTS_POLICY_WORKING_SET_H

#include "policy/pure.h"

/**
 * struct mts_slice_use - how a job used its private memory in a slice
 * @used: bytes that were used, in this slice or the one before
 * @unused: the rest, in memory or in swap
 * @grown: bytes of both that it did not have when the slice began
 * @left: pages that were left in swap when the slice began, as not used
 * @missed: of these, pages that it has used
 */
struct mts_slice_use {
	u64 used;
	u64 unused;
	u64 grown;
	u64 left;
	u64 missed;
};

/* What is known of it; zero: nothing. */
struct mts_working_set {
	u64 used;
	u64 unused;
	u32 mistakes; /* of the last slices */
	u32 distrusted; /* so many slices more is all brought back */
};

/*
 * Did the job fill memory in that slice, an eighth of what it has or more? What it has filled it
 * does not use meanwhile, and is about to: the slice tells nothing, nor do those before.
 */
bool mts_working_set_fills(const struct mts_slice_use *use);

/* A slice is over. */
void mts_working_set_note(struct mts_working_set *ws, const struct mts_slice_use *use);

/*
 * Bytes of @demand that the job can do without: its last slices did not use them, and
 * what it was left without lately it has not missed. 0 if that is hardly any.
 *
 * Pages shared by several processes are counted for each of them: never more than
 * what the job has beyond that which it used.
 */
u64 mts_working_set_spare(const struct mts_working_set *ws, u64 demand);

#endif /* _MTS_POLICY_WORKING_SET_H */

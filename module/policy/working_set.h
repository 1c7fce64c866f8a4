/* SPDX-License-Identifier: GPL-2.0 */
/* What a job does not use: bytes. Pure code (pure.h). */
#ifndef _MTS_POLICY_WORKING_SET_H
#define _MTS_POLICY_WORKING_SET_H

#include "policy/pure.h"

/**
 * struct mts_slice_use - how a job used its private memory in a slice
 * @used: bytes used in this slice or in the one before
 * @unused: the rest, in memory or in swap
 * @grown: part of @used + @unused that did not exist when the slice began
 * @left: pages left in swap as unused when the slice began
 * @missed: the part of @left that the job used after all
 */
struct mts_slice_use {
	u64 used;
	u64 unused;
	u64 grown;
	u64 left;
	u64 missed;
};

/* The working set of a job, bytes; zero: not known. */
struct mts_working_set {
	u64 used;
	u64 unused;
	u32 mistakes; /* recent slices that missed too many pages */
	u32 distrusted; /* backoff: number of slices in which everything comes back */
};

/*
 * Did the job fill at least an eighth of its memory in that slice? It does not use the new memory
 * while it fills, but soon will. So neither this slice nor earlier ones describe its working set.
 */
bool mts_working_set_fills(const struct mts_slice_use *use);

/* Record a finished slice. */
void mts_working_set_note(struct mts_working_set *ws, const struct mts_slice_use *use);

/*
 * Bytes of @demand that the job can do without: its last slices did not use them, and it did not
 * miss such pages lately. 0 if that is too little to pay.
 *
 * A page shared by several processes is counted for each of them. So the result never exceeds
 * @demand less what the job used.
 */
u64 mts_working_set_spare(const struct mts_working_set *ws, u64 demand);

#endif /* _MTS_POLICY_WORKING_SET_H */

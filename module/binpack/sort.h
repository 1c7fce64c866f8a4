/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _MTS_BINPACK_SORT_H
#define _MTS_BINPACK_SORT_H

#include "policy/pure.h"

/* A sort key, and the index of its item. */
struct mts_key {
	u64 value;
	u32 index;
};

/**
 * mts_keys_sort() - sort keys, the largest value first; equal keys keep their order
 * @keys: sorted in place
 * @n: MTS_MAX_JOBS at most
 * @spare: room for @n keys
 */
void mts_keys_sort(struct mts_key *keys, u32 n, struct mts_key *spare);

#endif /* _MTS_BINPACK_SORT_H */

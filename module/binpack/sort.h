/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _MTS_BINPACK_SORT_H
#define _MTS_BINPACK_SORT_H

#include "policy/pure.h"

/* Something to sort by, and what it belongs to. */
struct mts_key {
	u64 value;
	u32 index;
};

/**
 * mts_keys_sort() - sort keys, the largest value first; equal ones keep their order
 * @n: MTS_MAX_JOBS at most
 * @spare: room for as many
 */
void mts_keys_sort(struct mts_key *keys, u32 n, struct mts_key *spare);

#endif /* _MTS_BINPACK_SORT_H */

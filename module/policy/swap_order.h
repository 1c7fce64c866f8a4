/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _MTS_SWAP_ORDER_H
#define _MTS_SWAP_ORDER_H

#include "policy/pure.h"

/* A page in swap: its sort key, and its address. swapped.h defines the encoding. */
struct mts_swapped {
	u64 place;
	u64 where;
};

/**
 * mts_swap_order() - sort pages by place, the lowest first
 * @pages: the pages, sorted in place
 * @n: number of pages
 * @go_on: called every few thousand pages; may sleep; false aborts the sort
 *
 * Pages with the same place end up in any order. The time grows with @n and with the number of bits
 * in which places differ.
 *
 * Return: false if @go_on returned false. The array then still holds all pages, not in order.
 */
bool mts_swap_order(struct mts_swapped *pages, u32 n, bool (*go_on)(void));

#endif /* _MTS_SWAP_ORDER_H */

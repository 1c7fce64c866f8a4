/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _MTS_SWAP_ORDER_H
#define _MTS_SWAP_ORDER_H

#include "policy/pure.h"

/* A page in swap: what it is ordered by, and where it belongs; what these mean: swapped.h. */
struct mts_swapped {
	u64 place;
	u64 where;
};

/**
 * mts_swap_order() - sort pages by place, the lowest first
 * @go_on: asked every few thousand pages that are looked at; it may sleep
 *
 * In place, whatever their number, in a time that grows with it and with the bits in which their
 * places differ. Pages of one place: in any order.
 *
 * Return: false if @go_on did; all of the pages are still there.
 */
bool mts_swap_order(struct mts_swapped *pages, u32 n, bool (*go_on)(void));

#endif /* _MTS_SWAP_ORDER_H */

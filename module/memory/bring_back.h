/* SPDX-License-Identifier: GPL-2.0 */
/* Reading a bin's swapped pages back at the speed of the disk. */
#ifndef _MTS_BRING_BACK_H
#define _MTS_BRING_BACK_H

#include "memory/move.h"

/**
 * mts_bring_back() - bring back what is swapped of jobs
 * @move: which jobs; those that nothing is to be done for are taken out
 *
 * All of their memory, private or shared, in the order in which it lies in swap:
 * that is what makes long requests of single pages. Stops when memory gets short, when
 * the move is to be aborted or to yield, or when there is no memory for the list; what is not
 * back by then, the jobs fault back themselves. Pages come back read-only and
 * keep their slots, so that what the job does not write is not written again
 * at its next eviction.
 *
 * A process that dies is let go of at once, as is one of which a page cannot
 * be read: whether that kills it is seen when it asks for the page.
 *
 * Only for the rotor's thread. Return: pages brought back.
 */
u64 mts_bring_back(struct mts_move *move);

#endif /* _MTS_BRING_BACK_H */

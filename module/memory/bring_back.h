/* SPDX-License-Identifier: GPL-2.0 */
/* Reads a bin's swapped pages back at the speed of the disk. */
#ifndef _MTS_BRING_BACK_H
#define _MTS_BRING_BACK_H

#include "memory/move.h"

/* Bring-back leaves 1/64 of the memory: it must not push out what runs. */
#define MTS_BRING_BACK_LEAVES_PART 64

/**
 * mts_bring_back() - bring back the swapped pages of jobs
 * @move: the jobs; jobs with nothing to bring back are removed from it
 *
 * Private and shared memory comes back in the order of swap, so that single pages merge into long
 * requests. It stops when memory gets short, when the move should abort or yield, or when the list
 * cannot be allocated. The jobs fault back the rest themselves.
 *
 * Pages come back read-only and keep their slots, so that clean pages are not written again at the
 * next eviction. Pages marked MTS_SWAPPED_LOSE_SLOT (swapped.h) are the exception.
 *
 * The address space of a process that dies is released at once. Behind an unreadable page some
 * pages of its process are passed over. The process is killed only if it uses that page.
 *
 * Context: the rotor's thread. Return: pages brought back.
 */
u64 mts_bring_back(struct mts_move *move);

#endif /* _MTS_BRING_BACK_H */

/* SPDX-License-Identifier: GPL-2.0 */
/* The address spaces of the jobs in a move. */
#ifndef _MTS_MMS_H
#define _MTS_MMS_H

#include <linux/mm_types.h>

#include "memory/move.h"

/* Limit of address spaces: an index must fit into the low bits of a page's address. */
#define MTS_MAX_MMS PAGE_SIZE

/**
 * mts_mms_get() - take references to the address spaces of jobs
 * @move: the jobs
 *
 * An address space that processes share is taken once. Kernel threads have none. One set at a time.
 *
 * Context: the rotor's thread. Return: number of address spaces.
 */
u32 mts_mms_get(const struct mts_move *move);

/* The job of an address space; if jobs share it, one of them. Valid even after its release. */
struct mts_job *mts_mms_job(u32 index);

/* Bytes of that job that need not come back (struct mts_moved). */
u64 mts_mms_skips(u32 index);

/* The address space, or NULL if it was released. */
struct mm_struct *mts_mms_at(u32 index);

/* Release all address spaces. */
void mts_mms_put(void);

/* Skip an address space from now on: mts_mms_lock() fails for it. Any thread. */
void mts_mms_give_up(u32 index);
bool mts_mms_is_given_up(u32 index);

/*
 * Check @n address spaces from @from on, modulo their number. Release those that were given up, or
 * whose processes have all exited: otherwise a killed process keeps its memory until mts_mms_put().
 * If one is locked, unlocking it frees the memory. Any thread.
 */
void mts_mms_drop_dead(u32 from, u32 n);

/**
 * mts_mms_lock() - lock an address space for reading
 * @move: the move of mts_mms_get()
 * @index: below the result of mts_mms_get()
 *
 * Any thread, while the rotor's thread holds the set. mts_mms_unlock() it.
 *
 * Return: NULL if it was released or given up, if its processes have exited, if the move should
 * abort, or if a task outside the frozen jobs keeps it write-locked for 200 ms: that task may sleep
 * for long.
 */
struct mm_struct *mts_mms_lock(const struct mts_move *move, u32 index);
void mts_mms_unlock(struct mm_struct *mm);

#endif /* _MTS_MMS_H */

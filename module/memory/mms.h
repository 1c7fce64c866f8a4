/* SPDX-License-Identifier: GPL-2.0 */
/* The address spaces of jobs. */
#ifndef _MTS_MMS_H
#define _MTS_MMS_H

#include <linux/mm_types.h>

#include "memory/move.h"

/* Address spaces that are looked at; an index fits into the low bits of an address. */
#define MTS_MAX_MMS PAGE_SIZE

/**
 * mts_mms_get() - hold the address spaces of jobs
 * @move: it is for
 *
 * Each once, though processes may share it. Kernel threads have none. Only for
 * the rotor's thread, and one set at a time. Return: how many there are.
 */
u32 mts_mms_get(const struct mts_move *move);

/* The job that one of them is of; of several the first. It may have been dropped since. */
struct mts_job *mts_mms_job(u32 index);

/* Bytes of that job that need not come back, as the move says. */
u64 mts_mms_skips(u32 index);

/* One of them, or NULL if it has been dropped. */
struct mm_struct *mts_mms_at(u32 index);

/* Let go of them all. */
void mts_mms_put(void);

/* One has nothing more to be looked at: nobody gets its lock any more. For any thread. */
void mts_mms_give_up(u32 index);
bool mts_mms_is_given_up(u32 index);

/*
 * Of the next @n from @from on, which may be past the last one, let go of those that were given
 * up, or all of whose processes have exited, before the others: the memory of a process that was
 * killed is freed only then, and when it is unlocked. For any thread.
 */
void mts_mms_drop_dead(u32 from, u32 n);

/**
 * mts_mms_lock() - one of them, locked for reading
 * @move: the one of mts_mms_get()
 * @index: 0 to what that returned
 *
 * Return: NULL if it has been dropped, if its processes have exited, if the move
 * is to be aborted, or if somebody writes it for a fifth of a second: that is no frozen
 * task, and it may sleep for long. Else mts_mms_unlock() it. For any thread while the rotor's
 * holds them.
 */
struct mm_struct *mts_mms_lock(const struct mts_move *move, u32 index);
void mts_mms_unlock(struct mm_struct *mm);

#endif /* _MTS_MMS_H */

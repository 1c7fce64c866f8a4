/* SPDX-License-Identifier: GPL-2.0 */
/* The address spaces of jobs. */
#ifndef _MTS_MMS_H
#define _MTS_MMS_H

#include <linux/mm_types.h>

#include "job.h"

/* Address spaces that are looked at; an index fits into the low bits of an address. */
#define MTS_MAX_MMS PAGE_SIZE

/**
 * mts_mms_get() - hold the address spaces of jobs
 * @jobs: in order of id
 * @n: how many
 *
 * Each once, though processes may share it. Kernel threads have none. Only for
 * the rotor's thread, and one set at a time. Return: how many there are.
 */
u32 mts_mms_get(struct mts_job **jobs, u32 n);

/* The job that one of them is of; of several the first. It may have been dropped since. */
struct mts_job *mts_mms_job(u32 index);

/* One of them, or NULL if it has been dropped. */
struct mm_struct *mts_mms_at(u32 index);

/* Let go of them all. */
void mts_mms_put(void);

/*
 * Let go of one, before the others. The memory of a process that was killed is
 * freed only then.
 */
void mts_mms_drop(u32 index);

/* Is it still held, though all its processes have exited? */
bool mts_mms_is_dead(u32 index);

/**
 * mts_mms_lock() - one of them, locked for reading
 * @index: 0 to what mts_mms_get() returned
 *
 * Return: NULL if it has been dropped, if its processes have exited, if the rotor
 * is hurried, or if somebody writes it for more than some ticks: that is no frozen
 * task, and it may sleep for long. Else mmap_read_unlock() it.
 */
struct mm_struct *mts_mms_lock(u32 index);

#endif /* _MTS_MMS_H */

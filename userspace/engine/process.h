/* SPDX-License-Identifier: GPL-2.0 */
/* What /proc says of a process. */
#ifndef MTS_ENGINE_PROCESS_H
#define MTS_ENGINE_PROCESS_H

#include "context.h"

/**
 * struct mts_range - a part of an address space that swap can hold
 * @shared: shared memory; else private memory of the process
 */
struct mts_range {
	u64 start;
	u64 end;
	bool shared;
};

/*
 * Bytes that the ranges of one job have at most, for a walk over them takes time for holes, too: 10
 * minutes for the 128 TiB that each process can map.
 */
#define MTS_RANGES_MOST (16ull * totalram_pages() << PAGE_SHIFT)

/*
 * Ranges of a process, in order of address, without those that are larger than what is left of
 * *@room. Return: how many; *@ranges is to be freed.
 */
u32 mts_process_ranges(pid_t pid, u64 *room, struct mts_range **ranges);

/* Bytes in memory that swap could hold, private and shared. Cheap. 0: it is gone. */
u64 mts_process_resident(pid_t pid);

/* Its real user; 0: root, or it is gone. */
u32 mts_process_user(pid_t pid);

/* Parent; 0: it is gone, or has none. */
pid_t mts_process_parent(pid_t pid);

/* May it become a job of its own, as far as its kind counts? Return: 0 or -EBUSY: tasks.c. */
int mts_process_check(pid_t pid);

/* Is it a thread of the kernel? */
bool mts_process_is_kernel(pid_t pid);

/**
 * mts_process_threads() - count threads of a process
 * @awake: add: threads that run, or wait for a disk or for memory
 * @realtime: set to true if a thread has a real-time policy; may be NULL
 *
 * Return: threads that could be read. A user does not see those of others (hidepid).
 */
u32 mts_process_threads(pid_t pid, u32 *awake, bool *realtime);

/*
 * Is it attended (jobs/tasks.h)? True also if that cannot be read, or if it has more files open
 * than @files, from which those that are looked at are taken off. A FIFO with a name, and a device
 * outside /dev, are not seen: a look at them could wait for a file system of the user's own.
 */
bool mts_process_is_attended(pid_t pid, u32 *files);

#endif /* MTS_ENGINE_PROCESS_H */

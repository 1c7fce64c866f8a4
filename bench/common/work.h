/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A workload reports its progress while it runs: it adds to counters in a
 * file that it shares with the laboratory's driver (bench/driver), which has
 * locked that memory, so that neither side faults for it.
 *
 * The driver makes one such file for each job and names it in $LAB_WORK. A job
 * may have as many counters as it has processes or threads that take turns;
 * fairness and pauses are measured between counters. Without $LAB_WORK the
 * counters are private, and a workload runs as well as with it.
 */
#ifndef LAB_WORK_H
#define LAB_WORK_H

#include <stdint.h>

#define WORK_MAGIC 0x574f524bu /* "WORK" */
#define WORK_SLOTS 1023 /* one file is 64 KiB */

struct work_slot {
	uint64_t done; /* only grows; any unit, but the same in all slots of a suite */
	uint64_t goal; /* the value of `done` at the end; 0: there is no end */
	char name[48]; /* of the process, NUL-terminated */
};

struct work_file {
	uint32_t magic;
	uint32_t used; /* slots handed out; atomic */
	uint64_t reserved[7];
	struct work_slot slots[WORK_SLOTS];
};

_Static_assert(sizeof(struct work_file) == 65536, "one file is 64 KiB");

/**
 * work_join() - get a counter
 * @name: the name of the process; cut off at 47 bytes
 * @goal: see struct work_slot
 *
 * Call it before fork() for each child, or in the child. Ends the program with
 * a message if $LAB_WORK names no file of this kind, or one that is full.
 */
struct work_slot *work_join(const char *name, uint64_t goal);

static inline void work_add(struct work_slot *slot, uint64_t amount)
{
	__atomic_fetch_add(&slot->done, amount, __ATOMIC_RELAXED);
}

static inline uint64_t work_done(const struct work_slot *slot)
{
	return __atomic_load_n(&slot->done, __ATOMIC_RELAXED);
}

#endif /* LAB_WORK_H */

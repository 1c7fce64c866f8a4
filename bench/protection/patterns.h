/* SPDX-License-Identifier: GPL-2.0 */
/* Programs with known patterns of memory access: declarations that their files share. */
#ifndef PATTERNS_H
#define PATTERNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "random.h"
#include "work.h"

#define PAGE_WORDS 512u /* of 8 bytes: a unit of work is about a page read and written */
#define PAGE_BYTES (PAGE_WORDS * sizeof(uint64_t))

/* One run of a pattern. */
struct run {
	uint64_t size; /* bytes at its largest */
	uint64_t work; /* units to do */
	uint64_t done; /* units done */
	uint64_t random; /* state of the random numbers */
	uint64_t check; /* depends on all that was read: the same for the same options */
	struct work_slot *slot;
};

struct pattern {
	const char *name;
	const char *what; /* for the usage */
	void (*run)(struct run *run);
};

extern const struct pattern pattern_lu, pattern_mm; /* matrix.c */
extern const struct pattern pattern_bitr, pattern_sort, pattern_records; /* moves.c */
extern const struct pattern pattern_gcc, pattern_blocks; /* phases.c */

/* Memory that was not touched yet; ends the program if there is none. */
void *run_memory(uint64_t bytes);

/* True once a signal asked for the end, or all work is done. */
bool run_over(const struct run *run);

static inline void run_did(struct run *run, uint64_t units)
{
	run->done += units;
	work_add(run->slot, units);
}

static inline void run_check(struct run *run, uint64_t value)
{
	run->check = random_mix(run->check ^ value);
}

#endif /* PATTERNS_H */

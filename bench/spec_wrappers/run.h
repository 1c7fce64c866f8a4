/* SPDX-License-Identifier: GPL-2.0 */
/* What the stand-ins that are our own programs share: `PROGRAM [--seed N] [--runs N] SIZE`. */
#ifndef SPEC_RUN_H
#define SPEC_RUN_H

#include <stdint.h>

struct run {
	uint64_t random; /* state of the random numbers */
	uint64_t runs;
	uint64_t size; /* in the program's own unit */
};

/**
 * run_parse() - the command line of a stand-in
 * @name: of the program
 * @usage: what --help prints
 * @most: the largest size
 *
 * Ends the program with status 2 on an error.
 */
struct run run_parse(const char *name, const char *usage, uint64_t most, int argc, char **argv);

/* Memory, zeroed, or the end of the program. */
void *run_calloc(uint64_t count, uint64_t size);

#endif /* SPEC_RUN_H */

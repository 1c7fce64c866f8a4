/* SPDX-License-Identifier: GPL-2.0 */
/* Asks another program, without a shell, and not for longer than its time. */
#ifndef MTSCTL_PROGRAM_H
#define MTSCTL_PROGRAM_H

#include <stddef.h>

#include "policy/pure.h"

#define PROGRAM_OUTPUT_MAX (1 << 20)
#define PROGRAM_COMPLAINT 256

struct program_answer {
	char *output; /* with a NUL behind it; the caller frees it */
	size_t size;
	char complaint[PROGRAM_COMPLAINT]; /* the last line that it wrote to standard error */
	int status; /* as of waitpid(2) */
};

/*
 * Runs argv[0], which is looked for in PATH, and takes what it writes. Its standard input is empty,
 * and it has a session of its own, without a terminal, which is killed when the time is over.
 *
 * Return: 0, whatever its status is, or -errno; then @answer->output is NULL. ENOENT: there is no
 * such program; ETIMEDOUT: it has not ended in time; EFBIG: it has written PROGRAM_OUTPUT_MAX;
 * EBUSY: one of these two, and it has not ended 2 s after it was killed: it is left.
 */
int program_ask(char *const argv[], u64 limit_ns, struct program_answer *answer);

#endif /* MTSCTL_PROGRAM_H */

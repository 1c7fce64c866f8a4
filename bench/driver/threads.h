/* SPDX-License-Identifier: GPL-2.0 */
/* labdrive: processor time of threads that are watched by name. */
#ifndef LABDRIVE_THREADS_H
#define LABDRIVE_THREADS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define MAX_THREADS 256 /* that are found; more are not looked at, with a warning */

struct thread {
	pid_t tid;
	char name[16];
	uint64_t ns; /* processor time since it was born */
};

struct threads {
	struct thread list[MAX_THREADS];
	size_t count;
};

/* All threads of the host whose name begins with one of the prefixes, also kernel threads. */
void threads_read(const char *const *prefixes, size_t prefix_count, struct threads *threads);

/* What the thread has run since it was in `before`, ns; from its birth if it was not. */
uint64_t thread_since(const struct thread *thread, const struct threads *before);

#endif

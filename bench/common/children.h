/* SPDX-License-Identifier: GPL-2.0 */
/* Tools whose parts are processes: workers, and one that watches them to their end. */
#ifndef LAB_CHILDREN_H
#define LAB_CHILDREN_H

#include <sys/types.h>

/* As fork(), which ends the program if it fails. The child gets `death` when its parent dies. */
pid_t children_fork(int death);

/*
 * Waits until all workers have ended, and then ends the watcher by SIGTERM. A signal that comes
 * meanwhile (signals.h) is passed on to the workers. Returns the exit status: of the first worker,
 * or else the watcher, that failed, and 1 if a signal killed it.
 */
int children_wait(const pid_t *workers, unsigned int count, pid_t watcher);

#endif /* LAB_CHILDREN_H */

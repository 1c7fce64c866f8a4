/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Forks, as the kernel's process connector tells them (linux/cn_proc.h): root, in the initial
 * namespaces. The message is sent before the child runs, but mtsd hears it when it is scheduled.
 * What the child touches before it is moved stays charged to its parent's cgroup.
 */
#ifndef MTS_ENGINE_FORKS_H
#define MTS_ENGINE_FORKS_H

#include "context.h"

/* Return: 0: children of EACH jobs are noticed. */
int mts_forks_init(void);
void mts_forks_exit(void);
bool mts_forks_are_seen(void);

#endif /* MTS_ENGINE_FORKS_H */

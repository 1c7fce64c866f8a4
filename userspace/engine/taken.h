/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Jobs of one running process: MTS_IOC_JOB_TAKE of uapi/mts.h.
 *
 * The new cgroup lies below that of the process. So a process stays in its session, its unit and
 * their limits, also in the eyes of systemd, which looks for the first unit in the path. Of its
 * memory nothing is charged to the new cgroup: the job is measured and evicted by its processes.
 */
#ifndef MTS_ENGINE_TAKEN_H
#define MTS_ENGINE_TAKEN_H

#include "context.h"

struct cgroup;

/*
 * Make the cgroup, and move the process there. Return: it, with a reference; or ERR_PTR, and
 * nothing has changed.
 */
struct cgroup *mts_taken_make(pid_t pid);

/* Move all processes back to the cgroup above, and remove this one. Of other cgroups: nothing. */
void mts_taken_give_back(struct cgroup *cgrp);

#endif /* MTS_ENGINE_TAKEN_H */

/* SPDX-License-Identifier: GPL-2.0 */
/* The guardian of this process: see mtsd/guardian.h. The program that has the engine brings it. */
#ifndef MTS_ENGINE_OWN_H
#define MTS_ENGINE_OWN_H

#include "context.h"

/* Its process; 0: there is none. */
pid_t mts_own_guardian(void);

struct cgroup;

/* Before a job is first frozen: give the guardian what it needs to thaw it. Sets cgrp->slot. */
int mts_guardian_learn(struct cgroup *cgrp);

/* The job will not be frozen any more. */
void mts_guardian_forget(struct cgroup *cgrp);

/*
 * Before mts freezes a job, and after it has thawed it. Return: 0, or -ECANCELED: there is no
 * guardian, so that nothing may be frozen.
 */
int mts_guardian_note(struct cgroup *cgrp, bool frozen);

#endif /* MTS_ENGINE_OWN_H */

/* SPDX-License-Identifier: GPL-2.0 */
/* Jobs that ended although what was in them may go on: where they were, for MTS_IOC_GONE. */
#ifndef _MTS_GONE_H
#define _MTS_GONE_H

#include "job.h"

/*
 * A job has ended: its last process has left it, or its cgroup is gone. Log, count and remember it
 * if its processes go on elsewhere, or if its cgroup may get new ones. Under mts_lock.
 */
void mts_gone_note(struct mts_job *job);

/* Fill up to @n elements, the latest first. Return: how many there are. Under mts_lock. */
u32 mts_gone_list(struct mts_gone_info *infos, u32 n);

#endif /* _MTS_GONE_H */

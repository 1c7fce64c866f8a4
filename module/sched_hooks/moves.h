/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Moves of tasks between cgroups. The tracepoint cgroup_attach_task tells the destination when the
 * move is over. A kprobe on the function of that name sees the source. All moves hold cgroup_mutex,
 * so there is one at a time. Without the kprobe the source is not known.
 */
#ifndef _MTS_MOVES_H
#define _MTS_MOVES_H

#include "context.h"

struct cgroup;
struct kprobe;
struct mts_job;
struct pt_regs;

/* Kprobe on cgroup_attach_task(cgrp, task, threadgroup): the current task begins a move. */
int mts_hook_move(struct kprobe *probe, struct pt_regs *regs);

/* In the tracepoint: was the moved task in this job before? Ends the move. Under RCU. */
bool mts_moves_end(const struct mts_job *job);

/* A job has lost its last process: has the current task just moved it? Note where to. Under RCU. */
void mts_moves_emptied(struct mts_job *job);

/* A cgroup has got a process: if it is a job's, the job goes on. */
void mts_moves_filled(struct cgroup *cgrp);

#endif /* _MTS_MOVES_H */

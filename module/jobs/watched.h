/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Processes for whose sake a process outside waits for their job: they have come into it, or are
 * to end. The call (calls.h) lasts as long as they need.
 */
#ifndef _MTS_WATCHED_H
#define _MTS_WATCHED_H

#include "jobs/calls.h"

struct task_struct;

/* Under RCU, as long as that lasts. Any context. */
struct mts_caller mts_caller_of(struct task_struct *task);

/**
 * mts_watched_task() - a call that lasts as long as a task of the job needs
 * @job: the task is in it, or comes into it
 * @kind: MTS_CALL_TASK: created in the job, or moved into it; MTS_CALL_SIGNAL: it got a signal
 *	that is to end it
 * @task: that task; its process is watched
 * @by: the process outside
 * @vfork: @by stands still until @task has called exec or has exited
 *
 * A task that came is young for 10 s; one that is to end has 90 s. The call ends before that with
 * the process. Under RCU; any context.
 */
void mts_watched_task(struct mts_job *job, enum mts_call kind, struct task_struct *task,
		      struct task_struct *by, bool vfork);

/*
 * A task of a job has started a process. If it came from outside itself, and is young, so is the
 * child: a container engine moves a helper into the container, which starts what is wanted there
 * and exits. Any context.
 */
void mts_watched_forked(struct task_struct *parent, struct task_struct *child);

/* Are there calls that have not ended? Any context. */
bool mts_watched_are_any(void);

/* The watchdog: end calls whose process has gone, keep those of which a parent still waits. */
void mts_watched_look(void);

#endif /* _MTS_WATCHED_H */

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Watched processes: processes of a job for which a process outside waits. They have just come into
 * the job, or were asked to end. The call (calls.h) lasts until they are ready, or have ended.
 */
#ifndef _MTS_WATCHED_H
#define _MTS_WATCHED_H

#include "jobs/calls.h"

struct task_struct;

/* The result is valid under RCU only. Any context. */
struct mts_caller mts_caller_of(struct task_struct *task);

/**
 * mts_watched_task() - record a call for a task, and watch its process
 * @job: the task is in it, or is being moved into it
 * @kind: MTS_CALL_TASK: @task was created in the job, or moved into it; MTS_CALL_SIGNAL: @task got
 *	a signal that asks it to end
 * @task: its process is watched
 * @by: the process outside
 * @vfork: @by sleeps until @task has called exec or has exited
 *
 * The call lasts for 10 s for a task that has come, 90 s for a task that was asked to end. It ends
 * earlier if the process ends. Under RCU; any context.
 */
void mts_watched_task(struct mts_job *job, enum mts_call kind, struct task_struct *task,
		      struct task_struct *by, bool vfork);

/*
 * A task of a job has started a process. If the parent is watched because it came from outside, the
 * child is watched for the rest of that time, too: a container engine moves a helper process into
 * the container, and the helper starts the real program and exits. Any context.
 */
void mts_watched_forked(struct task_struct *parent, struct task_struct *child);

/* Are there calls that have not ended? Any context. */
bool mts_watched_are_any(void);

/* For the watchdog: end calls whose process has ended; extend those for which a vfork waits. */
void mts_watched_look(void);

#endif /* _MTS_WATCHED_H */

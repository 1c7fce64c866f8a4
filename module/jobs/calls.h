/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Calls: a process outside a job waits for it, and would wait until the job's next turn if the job
 * were frozen. Hooks and the lookout (waits.h) record calls; the watchdog thaws the job within
 * 100 ms, and whatever freezes jobs asks here first. The one owner of what is recorded.
 *
 * PID 1's own waits are always honoured. All others are within the budget (budget.h), so that no
 * user keeps his jobs running by calls.
 */
#ifndef _MTS_CALLS_H
#define _MTS_CALLS_H

#include "job.h"

struct task_struct;

/**
 * mts_calls_task() - a call that lasts as long as a task of the job needs
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
void mts_calls_task(struct mts_job *job, enum mts_call kind, struct task_struct *task,
		    struct task_struct *by, bool vfork);

/*
 * A task of a job has started a process. If it came from outside itself, and is young, so is the
 * child: a container engine moves a helper into the container, which starts what is wanted there
 * and exits. Any context.
 */
void mts_calls_forked(struct task_struct *parent, struct task_struct *child);

/**
 * mts_calls_seen() - a process outside is seen to wait for the job
 * @kind: MTS_CALL_WRITE, MTS_CALL_LOCK
 *
 * Lasts for a second; the caller looks again before that. Under RCU; any context.
 */
void mts_calls_seen(struct mts_job *job, enum mts_call kind, struct task_struct *by);

/* Does a process outside wait for it, budget or not? Any context. */
bool mts_job_has_call(const struct mts_job *job);

/* Must it not be frozen now for a call? Any context. */
bool mts_job_is_called(const struct mts_job *job);

/*
 * If the job has a call, let it run if the budget does. Process context. Return: it must not be
 * frozen now for a call.
 */
bool mts_calls_admit(struct mts_job *job);

/* A frozen job is to run, or may: the watchdog looks at it. Any context. */
void mts_calls_ask(struct mts_job *job);

/* It has been frozen: its calls are over, or have been refused. Under its freeze_lock. */
void mts_calls_frozen(struct mts_job *job);

/* Are there calls that have not ended? Any context. */
bool mts_calls_are_open(void);

/* The watchdog: end calls whose process has gone, keep those of which a parent still waits. */
void mts_calls_look(void);

/* It has been thawed for a call; under its freeze_lock. */
void mts_calls_thawed(struct mts_job *job);

#endif /* _MTS_CALLS_H */

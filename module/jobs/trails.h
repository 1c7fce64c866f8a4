/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Trails: input is followed from task to task. Hooks note which task has input, and to which tasks
 * it sends requests (policy/interactive.h has the rules). interactive.c turns this into credit.
 */
#ifndef _MTS_TRAILS_H
#define _MTS_TRAILS_H

#include <linux/types.h>

struct task_struct;

/**
 * mts_trails_give() - a task has input from a person
 * @task: a task of any job, or of none
 * @step: number of programs between the person and the task
 *
 * If its job is frozen, the watchdog thaws it at once. Under RCU; any context.
 */
void mts_trails_give(struct task_struct *task, u32 step);

/*
 * Number of programs between the person and this task; more than MTS_STEP_MAX: no person waits for
 * it. Under RCU; any context.
 */
u32 mts_trails_step(struct task_struct *task);

/**
 * mts_trails_hand_on() - a task for which a person waits sends a request to another task
 * @from: the task that sends
 * @to: the task for which the person waits now
 * @step: number of programs between the person and @to
 *
 * Does nothing within a process or within a job. Under RCU; any context.
 */
void mts_trails_hand_on(struct task_struct *from, struct task_struct *to, u32 step);

#endif /* _MTS_TRAILS_H */

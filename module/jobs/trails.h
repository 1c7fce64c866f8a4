/* SPDX-License-Identifier: GPL-2.0 */
/*
 * From task to task: hooks note at which one a person types, and what that asks of others
 * (policy/interactive.h has the rules). What it makes of a job is interactive.c's.
 */
#ifndef _MTS_TRAILS_H
#define _MTS_TRAILS_H

#include <linux/types.h>

struct task_struct;

/**
 * mts_trails_give() - somebody types at this task, or points, or waits for it
 * @task: of whatever job, or of none
 * @step: how many programs lie in between
 *
 * If its job is frozen the watchdog thaws it at once. Under RCU; any context.
 */
void mts_trails_give(struct task_struct *task, u32 step);

/*
 * How many programs lie between this task and the person; more than MTS_STEP_MAX: nobody
 * waits for it. Under RCU; any context.
 */
u32 mts_trails_step(struct task_struct *task);

/**
 * mts_trails_hand_on() - a task asks something of another one
 * @from: somebody waits for it
 * @to: it is this one that is waited for now
 * @step: how many programs lie between it and the person
 *
 * Under RCU; any context.
 */
void mts_trails_hand_on(struct task_struct *from, struct task_struct *to, u32 step);

#endif /* _MTS_TRAILS_H */

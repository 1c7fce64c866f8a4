/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Tasks that have had input are followed from program to program by hooks on hot paths, which
 * hooks.c switches on for that, and off when there is no more input. Here is what asks for it,
 * and whom to look at once they are on.
 */
#ifndef _MTS_FOLLOW_H
#define _MTS_FOLLOW_H

#include <linux/types.h>

struct pid;
struct task_struct;

/* At load, before any hook: @begin is called when it is asked for, in any context but an NMI. */
void mts_follow_init(void (*begin)(void));

/*
 * This task has had input. What the task asks of others before the hooks are on is looked for
 * then (mts_follow_take()). Under RCU; any context.
 */
void mts_follow(struct task_struct *task);

/* Look again which hooks are to be on. Any context. */
void mts_follow_again(void);

/* The hooks are on, or off. Return: they were on. */
bool mts_follow_set(bool on);

/* A process that had input while they were off, with a reference; NULL: there are no more. */
struct pid *mts_follow_take(void);

/* When no hook runs: nobody is about to call @begin. */
void mts_follow_sync(void);

/* When nothing follows any more. */
void mts_follow_exit(void);

#endif /* _MTS_FOLLOW_H */

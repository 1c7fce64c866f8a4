/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Some hooks follow requests from a task that had input to other programs. They are on hot paths,
 * so that hooks.c switches them on only while there is input. This file asks for that, and
 * remembers the processes that had input before the hooks were on.
 */
#ifndef _MTS_FOLLOW_H
#define _MTS_FOLLOW_H

#include <linux/types.h>

struct pid;
struct task_struct;

/* At load, before any hook: @begin is called to switch the hooks on, in an irq_work. */
void mts_follow_init(void (*begin)(void));

/*
 * The task has had input: have the hooks switched on. Until they are, remember its process, so that
 * requests which it sends before are found then (mts_follow_take()). Under RCU; any context.
 */
void mts_follow(struct task_struct *task);

/* Have hooks.c check again which hooks must be on. Any context. */
void mts_follow_again(void);

/* hooks.c says whether the hooks are on. Return: they were on before. */
bool mts_follow_set(bool on);

/* Take a process that had input while the hooks were off, with a reference; NULL: no more. */
struct pid *mts_follow_take(void);

/* When no hook runs any more: waits until @begin has returned. */
void mts_follow_sync(void);

/* After the hooks are removed and the work of hooks.c has ended: drop the references. */
void mts_follow_exit(void);

#endif /* _MTS_FOLLOW_H */

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a sleeping task waits for: the object that its system call names, in a table of all objects
 * that tasks wait for. One look (waits.c) fills the table and then searches it for what a job
 * holds.
 */
#ifndef _MTS_BLOCKED_H
#define _MTS_BLOCKED_H

#include <linux/types.h>

#include "events/words.h"
#include "jobs/files.h"

struct mts_job;
struct task_struct;

/* How a process that holds the object is recognised. */
enum mts_awaited_kind {
	MTS_AWAITED_INODE, /* it has this pipe's inode open */
	MTS_AWAITED_FILE, /* it has this struct file open */
	MTS_AWAITED_SOCKET, /* it has this socket open */
	MTS_AWAITED_PROCESS, /* its process id is this one */
	MTS_AWAITED_MEMORY, /* it has mapped this inode, shared */
};

/**
 * struct mts_awaited - an object that a task waits for
 * @id: the address of the object, or a process id
 * @kind: what @id is
 * @what: for the trace
 * @mode: a holder has it open for this; 0: for anything
 * @waiter: the job of @task; NULL: @task is in no bin
 * @task: the task that waits
 */
struct mts_awaited {
	unsigned long id;
	enum mts_awaited_kind kind;
	enum mts_wait_for what;
	fmode_t mode;
	struct mts_job *waiter;
	struct task_struct *task;
};

/*
 * Work in this look: each thread, file, mapping and comparison is a step. The limit bounds the time
 * for which a look holds rcu_read_lock().
 */
extern u32 mts_look_steps;
#define MTS_LOOK_MAX_STEPS (64 * 1024)

/* Call @fn for each file of the task, unless the look has done too many steps. */
void mts_look_files(struct task_struct *task, mts_file_fn fn, void *arg);

/* A new look: forget all objects. */
void mts_blocked_clear(void);

/* Note what @task waits for. @job: its job; NULL: it is in no bin. Under RCU. */
void mts_blocked_look(struct task_struct *task, struct mts_job *job);

/* All waiting tasks have been seen: prepare the search. Return: false: there is no object. */
bool mts_blocked_sort(void);

/* Is there an object of one of these kinds? @mask: BIT(kind), or several. */
bool mts_blocked_has_kind(u32 mask);

/* Objects with this @id: the first, and the one after @last; NULL: no more. Other kinds, too. */
const struct mts_awaited *mts_blocked_first(enum mts_awaited_kind kind, unsigned long id);
const struct mts_awaited *mts_blocked_next(const struct mts_awaited *last);

#endif /* _MTS_BLOCKED_H */

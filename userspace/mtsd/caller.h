/* SPDX-License-Identifier: GPL-2.0 */
/* A connection, and the thread that answers its requests. */
#ifndef MTSD_CALLER_H
#define MTSD_CALLER_H

#include <stdbool.h>
#include <sys/types.h>

#include "context.h"

/*
 * @fd: shut down at the end, which wakes the thread; closed by the thread that reaps it.
 * @answers: it carries out a command. Else it may be stuck for as long as its caller likes: a
 * descriptor that came with a request is dropped, and that may wait. So nothing waits for such a
 * thread but for a moment.
 *
 * A caller may be frozen while it reads the reply: a job in the queue is for a day, and one that
 * takes turns for a minute. So one that asks nothing keeps no other one out: it leaves.
 */
struct mts_caller {
	struct task_struct *thread; /* NULL: the place is free */
	int fd;
	uid_t uid; /* that it counts as; RIGHTS_NOBODY: of a user without an account */
	bool waited; /* in vain, for its end: it is not waited for again */
	bool leaves; /* another one needs its place: it carries out no further command */
	bool answers;
	u64 since; /* it asks nothing */
	bool done;
};

/* Begin to answer. Return: 0 or -errno: then @fd is left. */
int mts_caller_start(struct mts_caller *caller, int fd, uid_t uid);

/* Tell one to leave that asks nothing. */
void mts_caller_leave(struct mts_caller *caller);

/* Its thread is done: free the place. */
void mts_caller_reap(struct mts_caller *caller);

uid_t mts_caller_user(const struct mts_caller *caller);
bool mts_caller_answers(const struct mts_caller *caller);
bool mts_caller_is_done(const struct mts_caller *caller);

/* It leaves, or has closed its end, and its thread may not have had a processor since. */
bool mts_caller_is_leaving(const struct mts_caller *caller);

#endif /* MTSD_CALLER_H */

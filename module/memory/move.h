/* SPDX-License-Identifier: GPL-2.0 */
/* What the rotor tells the mechanism: whose memory, until when, and when to stop. */
#ifndef _MTS_MOVE_H
#define _MTS_MOVE_H

#include "context.h"

struct mts_job;

/**
 * struct mts_moved - a job of a move
 * @job: with a reference of the caller's
 * @skip_bytes: of its memory that it does not use, and that need not come back
 */
struct mts_moved {
	struct mts_job *job;
	u64 skip_bytes;
};

/**
 * struct mts_move - memory of jobs that is moved, or looked at
 * @jobs: in order of id; who is told may take some out
 * @n: how many
 * @deadline: ktime, ns; what has not been done by then is left; 0: no limit
 * @threads: that may work at it, at most
 * @urgent: the jobs run, and somebody waits for them: by this thread alone. Else they are frozen
 * @brief: there is little time: no long preparations
 * @should_abort: what is done may be out of date: get it over with. Process context, any thread
 * @should_yield: the caller has something to do that is more urgent: come back. NULL: it has not.
 *	Process context, any thread
 * @left: pages that are still to come; 0 before the first call
 * @again: result: come back with the same move, there is more to be done
 */
struct mts_move {
	struct mts_moved *jobs;
	u32 n;
	u64 deadline;
	u32 threads;
	bool urgent;
	bool brief;
	bool (*should_abort)(void);
	bool (*should_yield)(void);
	u64 left;
	bool again;
};

static inline bool mts_move_is_late(const struct mts_move *move)
{
	return move->deadline && ktime_get_ns() >= move->deadline;
}

static inline bool mts_move_should_yield(const struct mts_move *move)
{
	return move->should_yield && move->should_yield();
}

#endif /* _MTS_MOVE_H */

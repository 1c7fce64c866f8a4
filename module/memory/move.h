/* SPDX-License-Identifier: GPL-2.0 */
/* What the rotor tells the mechanism: which memory, until when, and when to stop. */
#ifndef _MTS_MOVE_H
#define _MTS_MOVE_H

#include "context.h"

struct mts_job;

/**
 * struct mts_moved - a job in a move
 * @job: the caller holds a reference
 * @skip_bytes: memory that the job does not use and that need not come back
 */
struct mts_moved {
	struct mts_job *job;
	u64 skip_bytes;
};

/**
 * struct mts_move - memory of jobs that is moved or scanned
 * @jobs: in order of id; the callee may remove jobs
 * @n: number of jobs
 * @deadline: ktime, ns; the rest is left after it; 0: none
 * @threads: upper limit of threads that work on it
 * @urgent: the jobs run and wait for their pages: only the calling thread works. Else they are
 *	frozen
 * @brief: little time is left: no long preparations
 * @should_abort: the work may be out of date: finish soon. Process context, any thread
 * @should_yield: the caller has more urgent work: return. NULL: never. Process context, any thread
 * @request_ns: struct mts_disk; 0: not known. Then it is measured, if there are enough pages
 * @left: pages that should still come back; 0 before the first call
 * @again: result: call again with the same move, as there is more to do
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
	u64 request_ns;
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

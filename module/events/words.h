/* SPDX-License-Identifier: GPL-2.0 */
/* Words of the trace events. */
#ifndef _MTS_WORDS_H
#define _MTS_WORDS_H

#include "context.h"
#include "mts.h"

#define MTS_TRACE_BIN_NONE (-1)
#define MTS_TRACE_BIN_EVERY (-2)

/* MTS_BIN_NONE and MTS_BIN_EVERY have these values if signed. */
static_assert((s32)MTS_BIN_NONE == MTS_TRACE_BIN_NONE);
static_assert((s32)MTS_BIN_EVERY == MTS_TRACE_BIN_EVERY);

/* Why a slice ended. */
enum mts_slice_end {
	MTS_SLICE_GOES_ON, /* it did not */
	/* the next bin follows: */
	MTS_SLICE_OVER, /* its time is over */
	MTS_SLICE_ASLEEP, /* none of its jobs could run */
	MTS_SLICE_EMPTY, /* its jobs are gone */
	/* the bins are out of date: */
	MTS_SLICE_OUTGROWN, /* the bin needs more than the capacity */
	MTS_SLICE_SWAPS, /* the bin swaps, although it should fit */
	MTS_SLICE_ATTENDED, /* a job has become attended, and its next pause would be too long */
	MTS_SLICE_ALONE, /* no job is left that waits for its turn */
	MTS_SLICE_FITS, /* all jobs fit into one bin: jobs ended, or an early round showed it */
	MTS_SLICE_CONFIG, /* the configuration changed */
	/* the gate closed, or the module is unloaded: */
	MTS_SLICE_STOP,
};

/* Why a job is thawed. userspace/kernelshark has the values of this enum and of mts_job_what. */
enum mts_thaw_why {
	MTS_THAW_ROTOR, /* its turn, it must not be frozen, or it did not freeze */
	MTS_THAW_WANTED, /* input, a real-time thread, or a process outside waits for it */
	MTS_THAW_OVERDUE, /* it would exceed max_pause */
	MTS_THAW_ALL, /* everything is thawed */
	MTS_THAW_FORGOTTEN, /* it is no longer a job */
	MTS_THAW_FOREIGN, /* another process thawed it */
	MTS_THAW_KEPT, /* another process froze it, too: it stays frozen */
	MTS_THAW_BEGINS, /* it was in the queue, and fits now */
};

/* Is a job exempt because of its input? */
enum mts_interactive_what {
	MTS_INTERACTIVE_NO,
	MTS_INTERACTIVE_YES,
	MTS_INTERACTIVE_CROWDED_OUT, /* it should be, but jobs with later input fill the share */
	MTS_INTERACTIVE_STAYS, /* no longer, but its memory stays in every bin for a grace period */
};

/* What a job holds that another job waits for. */
enum mts_wait_for {
	MTS_WAIT_PIPE, /* the other end of a pipe */
	MTS_WAIT_SOCKET, /* the other end of a unix socket */
	MTS_WAIT_EVENT, /* an eventfd or similar */
	MTS_WAIT_FUTEX, /* the memory of a futex */
	MTS_WAIT_LOCK, /* a file lock */
};

enum mts_job_what {
	MTS_JOB_ENROLLED,
	MTS_JOB_PLACED,
	MTS_JOB_FORGOTTEN,
};

/* Parts of a switch's duration; the rest is thawing. */
struct mts_switch_parts {
	u64 freeze_ns;
	u64 evict_ns;
	u64 bring_back_ns;
};

#endif /* _MTS_WORDS_H */

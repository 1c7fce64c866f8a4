/* SPDX-License-Identifier: GPL-2.0 */
/* What trace events, and those who send them, have words for. */
#ifndef _MTS_WORDS_H
#define _MTS_WORDS_H

#include "context.h"
#include "mts.h"

#define MTS_TRACE_BIN_NONE (-1)
#define MTS_TRACE_BIN_EVERY (-2)

/* MTS_BIN_NONE and MTS_BIN_EVERY are these numbers as signed ones. */
static_assert((s32)MTS_BIN_NONE == MTS_TRACE_BIN_NONE);
static_assert((s32)MTS_BIN_EVERY == MTS_TRACE_BIN_EVERY);

/* Why a slice has ended. */
enum mts_slice_end {
	MTS_SLICE_GOES_ON, /* it has not */
	/* On to the next bin: */
	MTS_SLICE_OVER, /* its time is */
	MTS_SLICE_ASLEEP, /* nothing in it could run */
	MTS_SLICE_EMPTY, /* its jobs have gone */
	/* The bins are out of date: */
	MTS_SLICE_OUTGROWN, /* it needs more than the capacity */
	MTS_SLICE_SWAPS, /* it swaps, although it was to fit */
	MTS_SLICE_ALONE, /* no job is left that waits for its turn */
	MTS_SLICE_FITS, /* all fit into one bin: jobs have gone, or an early round has shown it */
	MTS_SLICE_CONFIG, /* the configuration has changed */
	/* The gate has closed, or the module is unloaded. */
	MTS_SLICE_STOP,
};

/* For whom a job is thawed. userspace/kernelshark knows the numbers of this and of mts_job_what. */
enum mts_thaw_why {
	MTS_THAW_ROTOR, /* its turn has come; it must not stand still; it did not freeze */
	MTS_THAW_WANTED, /* input, a real-time thread, or a process outside that waits for it */
	MTS_THAW_OVERDUE, /* it would be frozen for longer than max_pause */
	MTS_THAW_ALL, /* everything is thawed */
	MTS_THAW_FORGOTTEN, /* it is no job any more */
	MTS_THAW_FOREIGN, /* somebody else has thawed it */
	MTS_THAW_KEPT, /* another process has frozen it too: it stays frozen */
};

/* Is a job in every bin for the input that it has had? */
enum mts_interactive_what {
	MTS_INTERACTIVE_NO,
	MTS_INTERACTIVE_YES,
	MTS_INTERACTIVE_CROWDED_OUT, /* it should be, but others were used since: the cap */
	MTS_INTERACTIVE_STAYS, /* not any more, but its memory is in every bin */
};

/* What a job has that another one waits for. */
enum mts_wait_for {
	MTS_WAIT_PIPE, /* the other end of a pipe */
	MTS_WAIT_SOCKET, /* the other end of a unix socket */
	MTS_WAIT_EVENT, /* an eventfd, or the like */
	MTS_WAIT_FUTEX, /* memory that a futex lies in */
	MTS_WAIT_LOCK, /* a lock of a file */
};

enum mts_job_what {
	MTS_JOB_ENROLLED,
	MTS_JOB_PLACED,
	MTS_JOB_FORGOTTEN,
};

/* Where the time of a switch went; the rest is thawing. */
struct mts_switch_parts {
	u64 freeze_ns;
	u64 evict_ns;
	u64 bring_back_ns;
};

#endif /* _MTS_WORDS_H */

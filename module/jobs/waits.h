/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Jobs that wait for each other: a task of the running bin sleeps, and what would wake it
 * is up to a job that stands still.
 *
 * Nobody can tell by the wake-ups: whoever is frozen has been taken out of every queue
 * that it was waiting in, and looks again when it is thawed. So it is looked at what a
 * sleeping task waits for, which its system call says, and who else has that: the other
 * end of a pipe or of a unix socket, the memory that a futex lies in, the lock of a file.
 */
#ifndef _MTS_WAITS_H
#define _MTS_WAITS_H

#include "context.h"

/**
 * mts_waits_look() - which job waits for which, now
 * @bin: the one that runs
 * @planned: when the round was; ktime, ns
 *
 * Jobs of @bin that wait for frozen ones are tied to them (mts_job.ties), and so are
 * packed together. Where that is no answer, because the plan knew of it and there was no
 * room, a job that holds the lock of a file has a call (calls.h): it would let go of it while
 * nothing can take it. So has one whose lock, or whose reading, a task outside the bins waits for.
 *
 * A walk of all threads, and of the files of some; bounded, what is beyond is seen the
 * next time or not at all. Allocates nothing, sleeps for the other look alone. Only for the
 * rotor's thread.
 */
void mts_waits_look(u32 bin, u64 planned);

/* The same for tasks outside the bins alone. Only for the lookout's thread. */
void mts_waits_look_outside(void);

#endif /* _MTS_WAITS_H */

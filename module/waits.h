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

#include <linux/types.h>

/**
 * mts_waits_look() - who waits for whom, now
 * @bin: the one that runs
 * @most: bytes of a job, at most, that is thawed at once
 * @planned: when the round was; ktime, ns
 *
 * Jobs of @bin that wait for frozen ones are tied to them (mts_job.ties), and so are
 * packed together. Where that is no answer, because the plan knew of it and there was no
 * room, or because who waits is in every bin or in no job, a job that holds the lock of a
 * file is spared (interactive.h): it would let go of it while nobody can take it.
 *
 * A walk of all threads, and of the files of some; bounded, what is beyond is seen the
 * next time or not at all. Allocates nothing, sleeps nowhere. Only for the rotor's thread.
 */
void mts_waits_look(u32 bin, u64 most, u64 planned);

#endif /* _MTS_WAITS_H */

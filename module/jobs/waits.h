/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Finds tasks that sleep until a frozen job does something.
 *
 * Wake-ups do not show this: a frozen task has left every wait queue, and enters it again only when
 * it is thawed. So a look reads from the system call of each sleeping task what it waits for
 * (blocked.h), and finds the job that holds it: the other end of a pipe or of a unix socket, the
 * memory that contains a futex, the lock of a file.
 */
#ifndef _MTS_WAITS_H
#define _MTS_WAITS_H

#include "context.h"

/**
 * mts_waits_look() - find which jobs wait for which others now
 * @planned: when this round was planned; ktime, ns
 *
 * A job that runs and waits for another job is tied to it (mts_job.ties), so that the next plan
 * packs both into one bin. If the plan knew of the tie and had no room for both, and the other job
 * holds the lock of a file, that job gets a call (calls.h): in its own turn it would release the
 * lock while the waiting job is frozen and cannot take it. A job also gets a call if a task outside
 * the bins waits for its file lock, or waits until it reads.
 *
 * Walks all threads, and the files of some. The work is bounded (MTS_LOOK_MAX_STEPS): a look may
 * miss a wait. Allocates nothing; sleeps only until another look has ended. For the rotor's thread
 * alone.
 */
void mts_waits_look(u64 planned);

/* The same for tasks outside the bins only. For the lookout's thread alone. */
void mts_waits_look_outside(void);

#endif /* _MTS_WAITS_H */

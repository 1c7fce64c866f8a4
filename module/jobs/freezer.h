/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Freezes and thaws one job. The owner of job->frozen: "mts holds this job frozen".
 *
 * A cgroup's freezer has one bit, so that a freeze by mts and a freeze by another process look the
 * same. job->frozen tells them apart: it is the claim of mts. When another process writes 1 while
 * mts has a claim (freeze_watch.h), the claim ends at once and mts writes nothing. From then on the
 * freeze belongs to that process, and mts never lifts it. When that process writes 0, the job takes
 * turns again.
 *
 * The notification comes after the write, and does not say what was written. So mts must not write
 * in between: a 0 by the other process would look like a 1, or its 1 would be undone. Therefore:
 * - mts_freezer_note_open() makes a process that opens cgroup.freeze wait for job->freeze_lock.
 *   From then on freeze_is_open is true.
 * - mts does not freeze a job while the file is open.
 * - A thaw waits until the file is closed, but 20 ms at most.
 * One race is left: a process keeps the file open for longer than that, and writes 1 at the very
 * moment of the thaw.
 */
#ifndef _MTS_FREEZER_H
#define _MTS_FREEZER_H

#include "events/words.h"
#include "job.h"
#include "jobs/gate.h"

/**
 * mts_freezer_freeze() - ask for a job's freeze; does not wait for its tasks
 *
 * Return: 0, also if mts has already frozen it; -ECANCELED: the gate is closed, or the
 * configuration forbids it (mts_gate_set_hands_off());
 * -EAGAIN: the job must run now (mts_job_is_wanted()); -EBUSY: another process
 * has frozen it, or a cgroup above it; -ETXTBSY: another process has its cgroup.freeze open for
 * writing; -ENODEV: it is gone, or retired.
 */
int mts_freezer_freeze(struct mts_job *job);

/*
 * Lift the freeze by mts, if there is one. May wait 20 ms for a process that has cgroup.freeze
 * open.
 */
void mts_freezer_thaw(struct mts_job *job);

/*
 * The same under the job's freeze_lock; does not wait. Return: true if the freeze by mts has been
 * lifted; false also if another process has cgroup.freeze open: call again later.
 */
bool mts_freezer_thaw_locked(struct mts_job *job, enum mts_thaw_why why);

/* Thaw the job and never freeze it again. Waits until it is thawed. */
void mts_freezer_retire(struct mts_job *job);

/*
 * Hold a job that is marked as held, and has a process, in the queue: freeze it until it begins.
 * It begins when it is thawed, by whomever. On error it has begun. Return: as mts_freezer_freeze().
 */
int mts_freezer_hold(struct mts_job *job);

/* Has another process lifted the freeze by mts? If so, end the claim. */
bool mts_freezer_lost(struct mts_job *job);

/*
 * Has a process other than mts frozen the job's cgroup, or any process a cgroup above it? Any
 * context.
 */
bool mts_freezer_is_foreign(struct mts_job *job);

/* freeze_watch.c: a process has just opened the job's cgroup.freeze. Sleeps. */
void mts_freezer_note_open(struct mts_job *job);

/* freeze_watch.c: a process other than mts has written the job's cgroup.freeze. Sleeps. */
void mts_freezer_note_write(struct mts_job *job);

/*
 * The rotor says whether it rotates, that is, whether there is more than one bin. While it does,
 * the lookout and the watchdog look for calls, even while no job is frozen. Any context.
 */
void mts_freezer_set_turns(bool turns);
bool mts_freezer_has_turns(void);

/* Number of jobs that mts holds frozen now: that have begun; in the queue; both. */
u32 mts_freezer_count(void);
u32 mts_freezer_held(void);
static inline u32 mts_freezer_all(void)
{
	return mts_freezer_count() + mts_freezer_held();
}

#endif /* _MTS_FREEZER_H */

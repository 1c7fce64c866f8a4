/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The one owner of "we have frozen this job", and the gate: while it is
 * closed nothing can be frozen. Whoever wants everything thawed, for whatever
 * reason, closes the gate; that also thaws. None of it needs the rotor's help.
 *
 * A cgroup's freezer has one bit, so that our freeze and another process's look the same. What
 * tells them apart is job->frozen: it is our claim. When another process writes 1 while we have
 * a claim (freeze_watch.h), the claim ends at once, and nothing is written: from then on the
 * freeze is that process's, and nothing of ours lifts it. When it writes 0, the job takes turns.
 *
 * The notification comes after the write, and does not say what was written. Therefore nothing of
 * ours may be written in between, else a 0 would look like a 1, or a 1 be undone:
 * - mts_freezer_note_open() has a process that opens cgroup.freeze wait for job->freeze_lock, and
 *   freeze_is_open tells of it from then on.
 * - A job is not frozen while the file is open.
 * - A thaw waits until the file is closed, but 20 ms at most. So what is not closed is: a process
 *   keeps the file open for longer than that, and writes 1 at the very moment of the thaw.
 */
#ifndef _MTS_FREEZER_H
#define _MTS_FREEZER_H

#include "events/words.h"
#include "job.h"
#include "jobs/gate.h"

/**
 * mts_freezer_freeze() - ask for a job's freeze; does not wait
 *
 * Return: 0, also if we froze it before; -ECANCELED: the gate is closed, or the
 * configuration forbids it (mts_freezer_set_hands_off());
 * -EAGAIN: it has just been asked to run (interactive.h); -EBUSY: another process
 * has frozen it, or a cgroup above it; -ETXTBSY: another process has its cgroup.freeze open for
 * writing; -ENODEV: it is gone, or retired.
 */
int mts_freezer_freeze(struct mts_job *job);

/* Lift our freeze, if there is one. May wait 20 ms for a process that writes cgroup.freeze. */
void mts_freezer_thaw(struct mts_job *job);

/*
 * The same under the job's freeze_lock, and does not wait. Return: true if our freeze has been
 * lifted; false also if that is undecided: come again.
 */
bool mts_freezer_thaw_locked(struct mts_job *job, enum mts_thaw_why why);

/* The same, and never freeze it again. */
void mts_freezer_retire(struct mts_job *job);

/* Somebody else lifted our freeze: notice it. Return: true if so. */
bool mts_freezer_lost(struct mts_job *job);

/*
 * Is it frozen by others? A process other than mts has frozen the job's cgroup, or any process a
 * cgroup above it. Any context.
 */
bool mts_freezer_is_foreign(struct mts_job *job);

/* freeze_watch.c: a process has just opened the job's cgroup.freeze. Sleeps. */
void mts_freezer_note_open(struct mts_job *job);

/* freeze_watch.c: a process other than mts has written the job's cgroup.freeze. Sleeps. */
void mts_freezer_note_write(struct mts_job *job);

/*
 * The rotor: are turns taken, is there more than one bin? Who looks for waits from outside looks
 * as long as that holds, though nothing may be frozen at the moment. Any context.
 */
void mts_freezer_set_turns(bool turns);
bool mts_freezer_has_turns(void);

/* Jobs that we have frozen now. */
u32 mts_freezer_count(void);

#endif /* _MTS_FREEZER_H */

/* SPDX-License-Identifier: GPL-2.0 */
/* labdrive: how jobs are ended. */
#ifndef LABDRIVE_ENDING_H
#define LABDRIVE_ENDING_H

#include "jobs.h"

/**
 * ending_cut() - from now on a job counts as cut off
 *
 * Its work is looked at for the last time, and what its processes have used is added up. They
 * run on.
 */
void ending_cut(struct jobs *jobs, struct job *job);

/* Stops the processes of all jobs, so that they do not disturb the ending. */
void ending_stop(struct jobs *jobs);

/* Kills all processes of a job, and waits until they are gone, for 30 s at most. */
void ending_kill(struct jobs *jobs, struct job *job);

/* The same for every descendant of the driver that is not the daemon's; and the cgroups go. */
void ending_kill_all(struct jobs *jobs);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Notices that another process opens or writes a job's cgroup.freeze.
 *
 * A second write of 1 leaves no trace in the cgroup, because the kernel ignores it. fsnotify
 * reports every write after it was done, in the context of the writing process. It also reports
 * every open, before the process gets the descriptor. Without CONFIG_FSNOTIFY, mts does not notice
 * a freeze that another process asks for while mts holds the job frozen.
 */
#ifndef _MTS_FREEZE_WATCH_H
#define _MTS_FREEZE_WATCH_H

#include "job.h"

int mts_freeze_watch_init(void);

/* After all watches have ended: waits until no process is in on_event(). */
void mts_freeze_watch_exit(void);

/**
 * mts_freeze_watch_begin() - report opens and writes of the job's cgroup.freeze to the freezer
 *
 * The watch holds no reference to the job. Return: 0 or -ENOMEM.
 */
int mts_freeze_watch_begin(struct mts_job *job);

/* Call it before the last reference to the job is dropped; also if the watch has not begun. */
void mts_freeze_watch_end(struct mts_job *job);

#endif /* _MTS_FREEZE_WATCH_H */

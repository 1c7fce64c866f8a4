/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Notices that another process writes a job's cgroup.freeze.
 *
 * The kernel ignores a second write of 1, and it leaves no trace in the cgroup. fsnotify
 * tells of every write, in the context of the process that writes, after the write. It tells of
 * every open too, before the process has the descriptor. Without fsnotify (CONFIG_FSNOTIFY) a
 * freeze that another process asks for while mts holds the job frozen is not noticed.
 */
#ifndef _MTS_FREEZE_WATCH_H
#define _MTS_FREEZE_WATCH_H

#include "job.h"

int mts_freeze_watch_init(void);

/* All watches have ended. Waits until no process is in one of them. */
void mts_freeze_watch_exit(void);

/**
 * mts_freeze_watch_begin() - tell the freezer of opens and writes of job->freeze_file by others
 *
 * The watch holds no reference to the job. Return: 0 or -ENOMEM.
 */
int mts_freeze_watch_begin(struct mts_job *job);

/* Before the last reference goes; also if it has not begun. */
void mts_freeze_watch_end(struct mts_job *job);

#endif /* _MTS_FREEZE_WATCH_H */

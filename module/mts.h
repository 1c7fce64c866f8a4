/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Rules for the whole module: which file owns which state, and the lock order.
 *
 * Owners. Every piece of state has one file that writes it; other files ask the owner:
 *   config.c   the configuration
 *   job.c      the table of jobs; enrol.c: how they come and go
 *   freezer.c  which jobs mts holds frozen, and since when
 *   gate.c     whether jobs may be frozen at all
 *   interactive.c  which job has had input, and until when that counts
 *   calls.c    for which job a process outside waits, and until when; watched.c: which processes
 *   budget.c   which job may run out of turn, and how long
 *   ran.c      the processor time of a job, as of its last reading
 *   past.c     what commands needed
 *   protect.c  the settings that a job's cgroup had before mts changed them
 *   rotor/     bins, rounds, slices, the rotor's state
 *
 * Lock order:
 *   create_lock         enrol.c: a cgroup between mkdir and its job, or its job and rmdir
 *     job->evict_lock   for reading: its memory.reclaim; for writing: its cgroup's removal
 *   mts_lock            jobs' table, configuration, bins and rounds
 *     job->freeze_lock  one job's frozen state
 *       kernel: cgroup_mutex (inside writes to cgroup files)
 *   protect_lock        protect.c: settings of jobs' cgroups; taken inside none of these
 *   look_lock           waits.c: one look at a time; taken inside none of these
 *   watched_lock, budget_lock, ran_lock, past_lock  watched.c, budget.c, ran.c, past.c:
 *                       innermost; hooks take watched_lock, too
 *   fsnotify's mark_mutex of freeze_watch.c's group: no lock of mts is taken inside it
 *   drop_lock           mms.c: which address spaces are held; no lock is taken inside it
 *
 * - A process that opens or writes a job's cgroup.freeze takes job->freeze_lock in on_event() of
 *   freeze_watch.c, inside the kernel's sb_writers of cgroup2. Therefore no function that takes
 *   sb_writers, such as kernel_write() or mkdir, is called with freeze_lock held
 *   (mts_cgroupfs_write_file()).
 * - Hooks run in atomic context, some under cgroup locks. Of the locks above they take watched_lock
 *   only. They set bits and queue an irq_work (wake.h).
 * - The watchdog takes only freeze_lock and the locks inside it. So it can thaw all jobs even if a
 *   thread is stuck with mts_lock held.
 * - Of the locks that the rotor takes, only evict_lock is held during reclaim or disk I/O.
 * - mts never holds cgroup_mutex during reclaim or disk I/O, because no job can be thawed without
 *   it (make_cgroup() in cgroupfs.c, bury() in enrol.c).
 */
#ifndef _MTS_H
#define _MTS_H

#include "context.h"
#include "uapi/mts.h"

extern struct mutex mts_lock;

#endif /* _MTS_H */

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mts: what every file of the module knows.
 *
 * Owners. Every piece of state has one file that writes it:
 *   config.c   the configuration
 *   job.c      the table of jobs; enrol.c: how they come and go
 *   freezer.c  which job we have frozen, since when; the gate
 *   interactive.c  which job has had input, and until when that counts
 *   calls.c    which job a process outside waits for, and until when; watched.c: which processes
 *   budget.c   which job may run out of turn, and how long
 *   protect.c  what a job's cgroup had set itself
 *   rotor.c    bins, rounds, slices, the rotor's state
 * Others ask the owner.
 *
 * Lock order:
 *   create_lock         enrol.c: a cgroup between mkdir and its job, or its job and rmdir
 *     job->evict_lock   one job's memory.reclaim, or its cgroup's removal
 *   mts_lock            jobs' table, configuration, bins and rounds
 *     job->freeze_lock  one job's frozen state
 *       kernel: cgroup_mutex (inside writes to cgroup files)
 *   protect_lock        protect.c: settings of jobs' cgroups; inside none of these
 *   look_lock           waits.c: one look at a time; inside none of these
 *   watched_lock, budget_lock  watched.c, budget.c: innermost; the first one in hooks, too
 *   fsnotify's mark_mutex of freeze_watch.c's group: nothing of ours is taken inside it
 *   drop_lock           mms.c: which address spaces are held; nothing is taken inside it
 * A process that opens or writes a job's cgroup.freeze takes job->freeze_lock in on_event() of
 * freeze_watch.c, inside the kernel's sb_writers of cgroup2. So nothing that takes sb_writers, as
 * kernel_write() and mkdir do, is called with freeze_lock held (mts_cgroupfs_write_file()).
 * Hooks run in atomic context, some under cgroup locks: they take none of
 * these but watched_lock, they set bits and queue an irq_work (wake.h). The watchdog takes
 * freeze_lock and what is inside it only, so that it can thaw everything while a thread that is
 * stuck holds mts_lock. No lock that the rotor takes, but evict_lock, is held while memory is
 * reclaimed or a disk is waited for; nor is cgroup_mutex, without which no job is thawed, by
 * anything of ours (make_cgroup() in cgroupfs.c, bury() in enrol.c).
 */
#ifndef _MTS_H
#define _MTS_H

#include "context.h"
#include "uapi/mts.h"

extern struct mutex mts_lock;

#endif /* _MTS_H */

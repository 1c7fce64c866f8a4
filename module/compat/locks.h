/* SPDX-License-Identifier: GPL-2.0 */
/* File locks: POSIX, OFD, flock(2). */
#ifndef _MTS_LOCKS_H
#define _MTS_LOCKS_H

#include <linux/fs.h>
#include <linux/list.h>
#include <linux/version.h>

#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 3, 0)
#include <linux/filelock.h>
#endif

#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 9, 0)
#define mts_file_lock file_lock_core
#define MTS_LOCK_LIST flc_list
#define MTS_LOCK_FIELD(lock, name) ((lock)->flc_##name)
#else
#define mts_file_lock file_lock
#define MTS_LOCK_LIST fl_list
#define MTS_LOCK_FIELD(lock, name) ((lock)->fl_##name)
#endif

/* Under flc_lock of the context. */
#define mts_compat_for_each_lock(lock, head) list_for_each_entry(lock, head, MTS_LOCK_LIST)

/* The process that owns the lock; 0: the open file owns it (OFD, flock). */
static inline pid_t mts_compat_lock_pid(const struct mts_file_lock *lock)
{
	pid_t pid = MTS_LOCK_FIELD(lock, pid);

	return MTS_LOCK_FIELD(lock, flags) & FL_POSIX && pid > 0 ? pid : 0;
}

static inline struct file *mts_compat_lock_file(const struct mts_file_lock *lock)
{
	return MTS_LOCK_FIELD(lock, file);
}

/* Without the lock that protects the list, so the result may be out of date. */
static inline bool mts_compat_lock_is_wanted(const struct mts_file_lock *lock)
{
	return !list_empty_careful(&MTS_LOCK_FIELD(lock, blocked_requests));
}

#endif /* _MTS_LOCKS_H */

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The differences between kernels, and the only place that checks versions.
 * The rest of the module is written for the newest kernel.
 */
#ifndef _MTS_COMPAT_H
#define _MTS_COMPAT_H

#include <linux/fs.h>
#include <linux/mount.h>
#include <linux/namei.h>
#include <linux/sched/rt.h>
#include <linux/timer.h>
#include <linux/version.h>

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 1, 0)
#error "mts needs Linux 6.1 or newer (memory.reclaim, pressure per cgroup)"
#endif

/* 6.1 has the other name in its first releases, and both later on. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 2, 0)
#define timer_delete_sync(timer) del_timer_sync(timer)
#endif

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 12, 0)
#define rt_or_dl_task_policy(task) task_is_realtime(task)
#endif

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 4, 0)
/* Exported, but declared in fs/internal.h only. */
int vfs_path_lookup(struct dentry *dentry, struct vfsmount *mnt, const char *name,
		    unsigned int flags, struct path *path);
#endif

/* Exported, but newer kernels declare it in net/unix/af_unix.h only. */
struct sock;
struct sock *unix_peer_get(struct sock *sk);

/* What writes to a pipe; since 6.15 to one with a name too. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 15, 0)
#define MTS_PIPE_WRITE "pipe_write"
#else
#define MTS_PIPE_WRITE "anon_pipe_write"
#endif

/* In TP_fast_assign(): since 6.10 the field knows what it was declared with. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 10, 0)
#define MTS_ASSIGN_STR(field, text) __assign_str(field, text)
#else
#define MTS_ASSIGN_STR(field, text) __assign_str(field)
#endif

/*
 * Arguments of the tracepoint mm_vmscan_direct_reclaim_begin. Seen in 6.12 and
 * in 7.2; a kernel between them that differs does not compile (check_types() in
 * sched_hooks/hooks.c).
 */
struct mem_cgroup;
#if LINUX_VERSION_CODE >= KERNEL_VERSION(7, 0, 0)
#define MTS_DIRECT_RECLAIM_ARGS gfp_t gfp, int order, struct mem_cgroup *memcg
#else
#define MTS_DIRECT_RECLAIM_ARGS int order, gfp_t gfp
#endif

/* Of the tracepoint task_newtask. Seen in 6.12 and 7.2; in between as above. */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(7, 0, 0)
#define MTS_CLONE_FLAGS u64
#else
#define MTS_CLONE_FLAGS unsigned long
#endif

/* Does a page that comes back by a writing fault keep its slot in swap (swap_slots.h)? */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(7, 0, 0)
#define MTS_WRITE_FAULT_KEEPS_PLACE true
#else
#define MTS_WRITE_FAULT_KEEPS_PLACE false
#endif

/*
 * Where reclaim's counters (PGSTEAL_*) are: among the events of vmstat, or, since "mm: move pgscan,
 * pgsteal, pgrefill to node stats", among the nodes' statistics, where they count what is reclaimed
 * for a cgroup as well. Seen in 6.12 and in 7.2; a kernel between them that differs does not
 * compile.
 */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(7, 1, 0)
#define MTS_NODES_COUNT_RECLAIM
#endif

/* The other name is on its way out: 7.2 says so in its log when work is queued there. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(7, 0, 0)
#define system_percpu_wq system_wq
#endif

/**
 * mts_compat_mkdir() - make a directory
 * @parent: where
 * @name: one component
 * @mode: permissions
 *
 * Return: 0, -EEXIST, -ENOENT (@parent has been removed), or what the file
 * system says.
 */
int mts_compat_mkdir(const struct path *parent, const char *name, umode_t mode);

/**
 * mts_compat_rmdir() - remove an empty directory
 * @parent: where
 * @name: one component
 * @expected: only if it is this one; NULL: whatever has the name
 *
 * Return: what rmdir(2) answers; -ENOENT also if it is not the expected one.
 */
int mts_compat_rmdir(const struct path *parent, const char *name, const struct inode *expected);

#endif /* _MTS_COMPAT_H */

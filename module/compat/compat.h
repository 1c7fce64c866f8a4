/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The differences between kernel versions. Only this folder checks versions; the rest of the module
 * is written for the newest kernel.
 */
#ifndef _MTS_COMPAT_H
#define _MTS_COMPAT_H

#include <linux/fs.h>
#include <linux/mount.h>
#include <linux/namei.h>
#include <linux/sched.h>
#include <linux/sched/rt.h>
#include <linux/timer.h>
#include <linux/version.h>

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 1, 0)
#error "mts needs Linux 6.1 or newer (memory.reclaim, pressure per cgroup)"
#endif

/* The first releases of 6.1 have only the old name, later ones both. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 2, 0)
#define timer_delete_sync(timer) del_timer_sync(timer)
#endif

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 16, 0)
#define timer_destroy_on_stack(timer) destroy_timer_on_stack(timer)
#endif

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 12, 0)
#define rt_or_dl_task_policy(task) task_is_realtime(task)
#endif

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 4, 0)
/* Exported, but declared in fs/internal.h only. */
int vfs_path_lookup(struct dentry *dentry, struct vfsmount *mnt, const char *name,
		    unsigned int flags, struct path *path);
#endif

/* Exported, but newer kernels declare it only in net/unix/af_unix.h. */
struct sock;
struct sock *unix_peer_get(struct sock *sk);

/* Exported, but declared only in kernel/rcu/rcu.h. */
void rcu_expedite_gp(void);
void rcu_unexpedite_gp(void);

/* The function that writes to a pipe. Since 6.15 it serves named pipes, too. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 15, 0)
#define MTS_PIPE_WRITE "pipe_write"
#else
#define MTS_PIPE_WRITE "anon_pipe_write"
#endif

/* For TP_fast_assign(): since 6.10 the field remembers its source. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 10, 0)
#define MTS_ASSIGN_STR(field, text) __assign_str(field, text)
#else
#define MTS_ASSIGN_STR(field, text) __assign_str(field)
#endif

/*
 * Arguments of the tracepoint mm_vmscan_direct_reclaim_begin, checked in 6.12 and 7.2. If a kernel
 * in between differs, it does not compile (check_types() in sched_hooks/hooks.c).
 */
struct mem_cgroup;
#if LINUX_VERSION_CODE >= KERNEL_VERSION(7, 0, 0)
#define MTS_DIRECT_RECLAIM_ARGS gfp_t gfp, int order, struct mem_cgroup *memcg
#else
#define MTS_DIRECT_RECLAIM_ARGS int order, gfp_t gfp
#endif

/* Of the tracepoint task_newtask. Checked in 6.12 and 7.2, as above. */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(7, 0, 0)
#define MTS_CLONE_FLAGS u64
#else
#define MTS_CLONE_FLAGS unsigned long
#endif

/* Of the tracepoint rss_stat. Checked in 6.12 and 7.2, as above. */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 2, 0)
#define MTS_RSS_STAT_ARGS struct mm_struct *mm, int member
#else
#define MTS_RSS_STAT_ARGS struct mm_struct *mm, int member, long count
#endif

/* Threads of the kernel that share a process's memory (vhost), since 6.4. */
#ifndef PF_USER_WORKER
#define PF_USER_WORKER PF_IO_WORKER
#endif

/* Does a page keep its slot in swap when it comes back by a writing fault (swap_slots.h)? */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(7, 0, 0)
#define MTS_WRITE_FAULT_KEEPS_SLOT true
#else
#define MTS_WRITE_FAULT_KEEPS_SLOT false
#endif

/*
 * Where the kernel keeps reclaim's counters (PGSTEAL_*). They were vmstat events. Since "mm: move
 * pgscan, pgsteal, pgrefill to node stats" they are node statistics, which also count reclaim for a
 * cgroup's limit. Checked in 6.12 and 7.2; if a kernel in between differs, it does not compile.
 */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(7, 1, 0)
#define MTS_NODES_COUNT_RECLAIM
#endif

/* The old name is deprecated: 7.2 warns when work is queued there. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(7, 0, 0)
#define system_percpu_wq system_wq
#endif

/**
 * mts_compat_mkdir() - make a directory
 * @parent: its parent
 * @name: one path component
 * @mode: permissions
 *
 * Return: 0, -EEXIST, -ENOENT (@parent was removed), or an error of the file system.
 */
int mts_compat_mkdir(const struct path *parent, const char *name, umode_t mode);

/**
 * mts_compat_rmdir() - remove an empty directory
 * @parent: its parent
 * @name: one path component
 * @expected: remove only this directory; NULL: any
 *
 * Return: as rmdir(2); -ENOENT also if it is not the expected directory.
 */
int mts_compat_rmdir(const struct path *parent, const char *name, const struct inode *expected);

#endif /* _MTS_COMPAT_H */

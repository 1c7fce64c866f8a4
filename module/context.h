/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Time, locks, waiting, threads, memory and the log: all that rotor/, the freezer and the
 * fail-safe use of the kernel. A file that includes this, and no kernel header, compiles in user
 * space as well. There userspace/context/user.h defines the same names, and tests/rotor runs the
 * code on a virtual clock. (OpenZFS does the same with its kernel code: sys/zfs_context.h.)
 */
#ifndef _MTS_CONTEXT_H
#define _MTS_CONTEXT_H

#ifdef __KERNEL__
#include <linux/atomic.h>
#include <linux/bitmap.h>
#include <linux/bitops.h>
#include <linux/cgroup.h>
#include <linux/cred.h>
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/file.h>
#include <linux/hashtable.h>
#include <linux/irq_work.h>
#include <linux/jiffies.h>
#include <linux/kernel.h>
#include <linux/kref.h>
#include <linux/kthread.h>
#include <linux/ktime.h>
#include <linux/list.h>
#include <linux/math64.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/mutex.h>
#include <linux/notifier.h>
#include <linux/oom.h>
#include <linux/path.h>
#include <linux/printk.h>
#include <linux/rculist.h>
#include <linux/rwsem.h>
#include <linux/sched.h>
#include <linux/sched/mm.h>
#include <linux/sched/task.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/string.h>
#include <linux/suspend.h>
#include <linux/swap.h>
#include <linux/timer.h>
#include <linux/types.h>
#include <linux/wait.h>
#include <uapi/linux/sched/types.h>

/* pr_*() expand pr_fmt() where a message is printed, so it may be defined after their header. */
#undef pr_fmt
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#else
#include "context/user.h"
#endif

#endif /* _MTS_CONTEXT_H */

/* SPDX-License-Identifier: GPL-2.0 */
/* On which NUMA nodes a task may have memory, with and without NUMA and cpusets in the kernel. */
#ifndef _MTS_COMPAT_NODES_H
#define _MTS_COMPAT_NODES_H

#include <linux/nodemask.h>
#include <linux/sched.h>

/* Does the task have a memory policy of its own (set_mempolicy(2), numactl)? */
static inline bool mts_compat_has_mempolicy(const struct task_struct *task)
{
#ifdef CONFIG_NUMA
	return READ_ONCE(task->mempolicy);
#else
	return false;
#endif
}

/* Does the task's cpuset allow memory of all nodes? */
static inline bool mts_compat_may_use_all_nodes(const struct task_struct *task)
{
#ifdef CONFIG_CPUSETS
	return nodes_subset(node_states[N_MEMORY], task->mems_allowed);
#else
	return true;
#endif
}

#endif /* _MTS_COMPAT_NODES_H */

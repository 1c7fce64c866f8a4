// SPDX-License-Identifier: GPL-2.0
#include "workers.h"

#include <linux/atomic.h>
#include <linux/cpumask.h>
#include <linux/moduleparam.h>
#include <linux/sched.h>
#include <linux/workqueue.h>

#include "mts.h"
#include "stats.h"

/* More of them wait for each other: for the map of the swap device, for the disk. */
#define MAX_WORKERS 8u

static unsigned int threads;
module_param(threads, uint, 0644);
MODULE_PARM_DESC(threads,
		 "that move memory in a switch, at most: 1 to 8; 0 is one a processor (default)");

static struct worker {
	struct work_struct work;
	void (*does)(void *data);
	void *data;
} workers[MAX_WORKERS - 1];

static struct workqueue_struct *queue;
static atomic64_t busy;

u64 mts_workers_own_busy(void)
{
	u64 own = current->se.sum_exec_runtime;

#ifdef CONFIG_SCHED_INFO
	own += current->sched_info.run_delay;
#endif
	return own;
}

u64 mts_workers_busy(void)
{
	return atomic64_read(&busy);
}

static void work(struct work_struct *work)
{
	struct worker *worker = container_of(work, struct worker, work);
	u64 before = mts_workers_own_busy(), ran = current->se.sum_exec_runtime;

	worker->does(worker->data);
	atomic64_add(mts_workers_own_busy() - before, &busy);
	mts_stats_add(workers_ns, current->se.sum_exec_runtime - ran);
}

void mts_workers_run(void (*does)(void *data), void *data, u32 wanted)
{
	u32 i, n = min(num_online_cpus(), READ_ONCE(threads) ?: MAX_WORKERS);

	n = clamp(min(n, wanted), 1u, MAX_WORKERS) - 1;
	for (i = 0; i < n; i++) {
		workers[i].does = does;
		workers[i].data = data;
		queue_work(queue, &workers[i].work);
	}
	does(data);
	/* Whoever has not begun need not any more: there may be no memory for its thread. */
	for (i = 0; i < n; i++)
		cancel_work_sync(&workers[i].work);
}

int mts_workers_init(void)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(workers); i++)
		INIT_WORK(&workers[i].work, work);
	queue = alloc_workqueue("mts", WQ_UNBOUND, 0);
	return queue ? 0 : -ENOMEM;
}

void mts_workers_exit(void)
{
	destroy_workqueue(queue);
}

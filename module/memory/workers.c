// SPDX-License-Identifier: GPL-2.0
#include "memory/workers.h"

#include <linux/atomic.h>
#include <linux/cpumask.h>
#include <linux/moduleparam.h>
#include <linux/sched.h>
#include <linux/workqueue.h>

#include "mts.h"
#include "events/stats.h"

static unsigned int threads;
module_param(threads, uint, 0644);
MODULE_PARM_DESC(threads,
		 "threads that move memory in a switch, at most 8; 0 (default): one per processor");

/**
 * struct run - work shared by threads; only the owner writes it
 * @owner: the rotor's thread
 * @fn: the function that each thread calls
 * @data: for @fn
 * @most: workers that may be called
 * @called: workers called so far
 * @began: ns
 * @busy: own_busy() at @began
 */
static struct run {
	const struct task_struct *owner;
	void (*fn)(void *data);
	void *data;
	u32 most;
	u32 called;
	u64 began;
	u64 busy;
} run;

static struct work_struct workers[MTS_MOVERS_MAX - 1];
static struct workqueue_struct *queue;

u64 mts_workers_delayed(void)
{
#ifdef CONFIG_SCHED_INFO
	return current->sched_info.run_delay;
#else
	return 0;
#endif
}

static u64 own_busy(void)
{
	return current->se.sum_exec_runtime + mts_workers_delayed();
}

/* The kernel counts a thread's time at each tick, and when another thread may have its turn. */
u64 mts_workers_busy(void)
{
	schedule();
	return own_busy() + mts_stats_read(workers_ns);
}

/* The workers' waiting for a processor is not counted: they also wait for each other. */
static void work(struct work_struct *work)
{
	u64 before = current->se.sum_exec_runtime;

	run.fn(run.data);
	mts_stats_add(workers_ns, current->se.sum_exec_runtime - before);
}

void mts_workers_call(void)
{
	u64 elapsed;

	if (run.owner != current || run.called == run.most)
		return;
	elapsed = ktime_get_ns() - run.began;
	if (elapsed < MTS_WORKERS_ALONE_NS || own_busy() - run.busy < elapsed / 2)
		return;
	for (; run.called < run.most; run.called++)
		queue_work(queue, &workers[run.called]);
}

void mts_workers_run(void (*fn)(void *data), void *data, u32 wanted)
{
	u32 n = min(num_online_cpus(), READ_ONCE(threads) ?: MTS_MOVERS_MAX);

	run = (struct run){
		.owner = current,
		.fn = fn,
		.data = data,
		.most = clamp(min(n, wanted), 1u, MTS_MOVERS_MAX) - 1,
		.began = ktime_get_ns(),
		.busy = own_busy(),
	};
	fn(data);
	run.most = 0;
	/* Cancel workers that have not begun: memory for their threads may be lacking. */
	while (run.called)
		cancel_work_sync(&workers[--run.called]);
}

int mts_workers_init(void)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(workers); i++)
		INIT_WORK(&workers[i], work);
	queue = alloc_workqueue("mts", WQ_UNBOUND, 0);
	return queue ? 0 : -ENOMEM;
}

void mts_workers_exit(void)
{
	destroy_workqueue(queue);
}

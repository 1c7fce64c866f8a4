// SPDX-License-Identifier: GPL-2.0
/* memory/workers.h in user space: threads that are made for a move, and end with it. */
#define _GNU_SOURCE
#include "memory/workers.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "events/stats.h"

static unsigned int threads;
module_param(threads, uint, 0644);
MODULE_PARM_DESC(threads,
		 "threads that move memory in a switch, at most 8; 0 (default): one per processor");

static struct run {
	const struct task_struct *owner;
	void (*fn)(void *data);
	void *data;
	u32 most;
	u32 called;
	u64 began;
	u64 busy;
	struct task_struct *workers[MTS_MOVERS_MAX];
} run;

static u64 own_busy(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (u64)t.tv_sec * NSEC_PER_SEC + t.tv_nsec;
}

/* The second number of proc(5)'s schedstat; not there without CONFIG_SCHED_INFO. */
u64 mts_workers_delayed(void)
{
	char text[128] = "", *delay;
	int file = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);

	if (file < 0)
		return 0;
	if (read(file, text, sizeof(text) - 1) < 0)
		*text = '\0';
	close(file);
	delay = strchr(text, ' ');
	return delay ? strtoull(delay, NULL, 10) : 0;
}

u64 mts_workers_busy(void)
{
	return own_busy() + mts_workers_delayed() + mts_stats_read(workers_ns);
}

static int work(void *unused)
{
	run.fn(run.data);
	mts_stats_add(workers_ns, own_busy());
	return 0;
}

void mts_workers_call(void)
{
	u64 elapsed;

	if (run.owner != current || run.called == run.most)
		return;
	elapsed = ktime_get_ns() - run.began;
	if (elapsed < MTS_WORKERS_ALONE_NS || own_busy() - run.busy < elapsed / 2)
		return;
	while (run.called < run.most) {
		struct task_struct *worker = kthread_create(work, NULL, "mts_worker");

		if (IS_ERR(worker))
			return;
		wake_up_process(worker);
		run.workers[run.called++] = worker;
	}
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
	while (run.called)
		kthread_stop(run.workers[--run.called]);
	run.owner = NULL;
}

int mts_workers_init(void)
{
	return 0;
}

void mts_workers_exit(void)
{
}

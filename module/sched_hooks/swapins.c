// SPDX-License-Identifier: GPL-2.0
#include "sched_hooks/swapins.h"

#include <linux/cgroup.h>
#include <linux/kprobes.h>
#include <linux/mm_types.h>

#include "job.h"
#include "jobs/swap_waits.h"

/*
 * Tasks that may wait at a time; the waits of more are not measured, which makes a job with
 * thousands of them look better than it is. 100 KiB, for as long as waits are measured.
 */
#define MAX_WAITING 1024

static DEFINE_MUTEX(swapins_lock);
static bool are_seen;
static bool installed; /* under swapins_lock */

/* Under RCU. */
static struct mts_job *current_job(void)
{
	return mts_job_of_cgroup(task_dfl_cgroup(current));
}

static int on_entry(struct kretprobe_instance *instance, struct pt_regs *regs)
{
	u64 *began = (void *)instance->data;
	struct mts_job *job;

	*began = ktime_get_mono_fast_ns();
	rcu_read_lock();
	job = current_job();
	if (job)
		atomic64_set(&job->swapin_at, *began);
	rcu_read_unlock();
	return !job;
}

static int on_return(struct kretprobe_instance *instance, struct pt_regs *regs)
{
	const u64 *began = (void *)instance->data;
	u64 now = ktime_get_mono_fast_ns();
	struct mts_job *job;

	/* Other pages were there already: nothing was waited for but a lock. */
	if (!(regs_return_value(regs) & (__force unsigned long)VM_FAULT_MAJOR))
		return 0;
	rcu_read_lock();
	job = current_job();
	if (job) {
		atomic64_add(mts_sub_floor(now, *began), &job->swapin_ns);
		atomic64_set(&job->swapin_at, now);
	}
	rcu_read_unlock();
	return 0;
}

static struct kretprobe probe;

static int install(void)
{
	/* Cleared: an earlier registration leaves its address set, which is refused with a name. */
	probe = (struct kretprobe){
		.kp.symbol_name = "do_swap_page",
		.entry_handler = on_entry,
		.handler = on_return,
		.data_size = sizeof(u64),
		.maxactive = MAX_WAITING,
	};
	return register_kretprobe(&probe);
}

static void log_failure(int err)
{
	pr_notice("cannot hook do_swap_page: error %d: pressure tells who waits for swap\n", err);
}

void mts_swapins_watch(bool wanted)
{
	int err;

	mutex_lock(&swapins_lock);
	if (wanted && !installed && are_seen) {
		err = install();
		installed = !err;
		mts_swap_waits_set_seen(installed);
		if (err)
			log_failure(err);
	} else if (!wanted && installed) {
		mts_swap_waits_set_seen(false);
		unregister_kretprobe(&probe);
		installed = false;
	}
	mutex_unlock(&swapins_lock);
}

void mts_swapins_init(void)
{
	int err = install();

	if (err) {
		log_failure(err);
		return;
	}
	unregister_kretprobe(&probe);
	are_seen = true;
}

bool mts_swapins_are_seen(void)
{
	return are_seen;
}

// SPDX-License-Identifier: GPL-2.0
#include "hooks.h"

#include <linux/cgroup.h>
#include <linux/tracepoint.h>
#include <trace/events/cgroup.h>
#include <trace/events/sched.h>
#include <trace/events/vmscan.h>

#include "../compat/compat.h"
#include "../job.h"
#include "../rotor.h"
#include "../stats.h"
#include "../tasks.h"
#include "../trace.h"
#include "each.h"

/* Reclaim wakes the rotor at most this often. */
#define RECLAIM_WAKE_NS (100 * NSEC_PER_MSEC)

static atomic64_t last_reclaim;
static atomic64_t last_reclaim_wake;

u64 mts_hooks_last_reclaim(void)
{
	return atomic64_read(&last_reclaim);
}

static void note_reclaim(void)
{
	u64 now = ktime_get_ns();
	s64 woken = atomic64_read(&last_reclaim_wake);

	atomic64_set(&last_reclaim, now);
	if (now - woken < RECLAIM_WAKE_NS ||
	    atomic64_cmpxchg(&last_reclaim_wake, woken, now) != woken)
		return;
	mts_stats_inc(reclaim_wakeups);
	mts_rotor_wake(MTS_ROTOR_EV_RECLAIM);
}

static void mts_hook_kswapd_wake(void *data, int nid, int zid, int order)
{
	note_reclaim();
}

static void mts_hook_direct_reclaim(void *data, MTS_DIRECT_RECLAIM_ARGS)
{
	note_reclaim();
}

static void mark_job(struct cgroup *cgrp)
{
	struct mts_job *job;

	rcu_read_lock();
	job = mts_job_at_cgroup(cgrp);
	if (job) {
		set_bit(MTS_JOB_EV_EMPTIED, &job->events);
		atomic_inc(&mts_job_marked);
		mts_rotor_wake(MTS_ROTOR_EV_JOBS);
	}
	rcu_read_unlock();
}

static void mts_hook_populated(void *data, struct cgroup *cgrp, const char *path, int populated)
{
	if (!populated)
		mark_job(cgrp);
}

static void mts_hook_rmdir(void *data, struct cgroup *cgrp, const char *path)
{
	mark_job(cgrp);
}

static void trace_frozen(struct cgroup *cgrp, bool frozen)
{
	struct mts_job *job;

	if (!trace_mts_frozen_enabled() && !trace_mts_thawed_enabled())
		return;
	rcu_read_lock();
	job = mts_job_at_cgroup(cgrp);
	if (job && frozen)
		trace_mts_frozen(job);
	else if (job)
		trace_mts_thawed(job);
	rcu_read_unlock();
}

static void mts_hook_frozen(void *data, struct cgroup *cgrp, const char *path, int frozen)
{
	trace_frozen(cgrp, frozen);
	mts_rotor_wake(MTS_ROTOR_EV_FROZEN);
}

/* Who must not stand still has been moved into a job, which may be frozen. */
static void mts_hook_attach(void *data, struct cgroup *cgrp, const char *path,
			    struct task_struct *task, bool threadgroup)
{
	if (!mts_tasks_is_spared(task))
		return;
	rcu_read_lock();
	if (mts_job_of_cgroup(cgrp))
		mts_rotor_wake(MTS_ROTOR_EV_JOBS);
	rcu_read_unlock();
}

/*
 * Every hook: the tracepoint and its handler. Installed in this order, removed
 * in the reverse.
 */
static struct hook {
	const char *name;
	void *handler;
	struct tracepoint *tracepoint;
} hooks[] = {
	{ "sched_process_fork", mts_hook_fork },
	{ "cgroup_notify_populated", mts_hook_populated },
	{ "cgroup_rmdir", mts_hook_rmdir },
	{ "cgroup_notify_frozen", mts_hook_frozen },
	{ "cgroup_attach_task", mts_hook_attach },
	{ "mm_vmscan_kswapd_wake", mts_hook_kswapd_wake },
	{ "mm_vmscan_direct_reclaim_begin", mts_hook_direct_reclaim },
};

/* The table's handlers are untyped: here the compiler holds them against the kernel. */
static void __maybe_unused check_types(void)
{
	check_trace_callback_type_sched_process_fork(mts_hook_fork);
	check_trace_callback_type_cgroup_notify_populated(mts_hook_populated);
	check_trace_callback_type_cgroup_rmdir(mts_hook_rmdir);
	check_trace_callback_type_cgroup_notify_frozen(mts_hook_frozen);
	check_trace_callback_type_cgroup_attach_task(mts_hook_attach);
	check_trace_callback_type_mm_vmscan_kswapd_wake(mts_hook_kswapd_wake);
	check_trace_callback_type_mm_vmscan_direct_reclaim_begin(mts_hook_direct_reclaim);
}

static void find_tracepoint(struct tracepoint *tp, void *unused)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(hooks); i++)
		if (!strcmp(tp->name, hooks[i].name))
			hooks[i].tracepoint = tp;
}

static void remove_first(int n)
{
	while (n--)
		tracepoint_probe_unregister(hooks[n].tracepoint, hooks[n].handler, NULL);
	tracepoint_synchronize_unregister();
}

u32 mts_hooks_each_how(void)
{
	return MTS_EACH_BEFORE_USER;
}

int mts_hooks_init(void)
{
	int i, err;

	err = mts_each_init();
	if (err)
		return err;
	for_each_kernel_tracepoint(find_tracepoint, NULL);
	for (i = 0; i < ARRAY_SIZE(hooks); i++) {
		err = hooks[i].tracepoint ? tracepoint_probe_register(hooks[i].tracepoint,
								      hooks[i].handler, NULL) :
					    -ENOENT;
		if (err) {
			pr_err("cannot hook the tracepoint %s: error %d\n", hooks[i].name, err);
			remove_first(i);
			mts_each_exit();
			return err;
		}
	}
	return 0;
}

void mts_hooks_exit(void)
{
	remove_first(ARRAY_SIZE(hooks));
	mts_each_exit();
}

// SPDX-License-Identifier: GPL-2.0
#include "mts.h"

#include <linux/module.h>

#include "memory/cgroupfs.h"
#include "control/config.h"
#include "control/device.h"
#include "jobs/failsafe.h"
#include "jobs/freeze_watch.h"
#include "jobs/freezer.h"
#include "jobs/thaw.h"
#include "jobs/enrol.h"
#include "jobs/lookout.h"
#include "jobs/protect.h"
#include "memory/readahead.h"
#include "rotor/rotor.h"
#include "sched_hooks/hooks.h"
#include "events/wake.h"
#include "memory/workers.h"
#include "version.h"

static bool rt;
module_param(rt, bool, 0444);
MODULE_PARM_DESC(rt, "load on a PREEMPT_RT kernel, where mts is not tested enough (default 0)");

static int __init mts_init(void)
{
	int err;

	if (IS_ENABLED(CONFIG_PREEMPT_RT) && !rt) {
		pr_err("this is a PREEMPT_RT kernel, where mts is not tested enough: not loaded; rt=1 loads it anyway\n");
		return -EOPNOTSUPP;
	}
	err = mts_config_init();
	if (err)
		return err;
	err = mts_cgroupfs_init(mts_config_cgroup_base());
	if (err)
		return err;
	err = mts_freeze_watch_init();
	if (err)
		goto out_cgroupfs;
	err = mts_failsafe_init();
	if (err)
		goto out_watch;
	err = mts_lookout_init();
	if (err)
		goto out_failsafe;
	mts_readahead_init();
	err = mts_workers_init();
	if (err)
		goto out_readahead;
	err = mts_rotor_init();
	if (err)
		goto out_workers;
	err = mts_hooks_init();
	if (err)
		goto out_rotor;
	mts_hooks_watch_swapins(mts_config_needs_swapins());
	err = mts_device_init();
	if (err)
		goto out_hooks;
	pr_info("loaded\n");
	return 0;

out_hooks:
	mts_hooks_exit();
out_rotor:
	mts_rotor_exit();
out_workers:
	mts_workers_exit();
out_readahead:
	mts_readahead_exit();
	mts_lookout_exit();
out_failsafe:
	mts_failsafe_exit();
out_watch:
	mts_freeze_watch_exit();
out_cgroupfs:
	mts_wake_exit();
	mts_cgroupfs_exit();
	return err;
}

static void __exit mts_exit(void)
{
	mts_device_exit();
	/* Thaw all jobs first: the remaining steps may take long. */
	mts_thaw_and_stop(MTS_REASON_UNLOAD, "the module is being unloaded");
	mts_hooks_exit();
	mts_rotor_exit();
	mts_workers_exit();
	mts_readahead_exit();
	mts_lookout_exit();
	mts_failsafe_exit();
	mts_job_exit();
	mts_protect_exit();
	mts_freeze_watch_exit();
	mts_wake_exit();
	mts_cgroupfs_exit();
	pr_info("unloaded\n");
}

module_init(mts_init);
module_exit(mts_exit);

MODULE_DESCRIPTION("Medium-term scheduler: runs jobs in memory-sized bins, one bin at a time");
MODULE_LICENSE("GPL");
MODULE_VERSION(MTS_VERSION);

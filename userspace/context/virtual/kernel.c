// SPDX-License-Identifier: GPL-2.0
/* What the rotor asks of the kernel's cgroup files and hooks, and what no model changes. */
#include "jobs/ops.h"
#include "jobs/protect.h"
#include "memory/cgroupfs.h"
#include "sched_hooks/hooks.h"

u32 mts_hooks_each_how(void)
{
	return MTS_EACH_BEFORE_USER;
}

u32 mts_hooks_see(void)
{
	return 0;
}

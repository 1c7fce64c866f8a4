// SPDX-License-Identifier: GPL-2.0
#include "sched_hooks/kprobes.h"

#include <linux/kprobes.h>

#include "context.h"

static bool probe_hit;

static noinline void probed(const void *argument)
{
	barrier_data(argument);
}

static int note_hit(struct kprobe *probe, struct pt_regs *regs)
{
	probe_hit = regs_get_kernel_argument(regs, 0) == (unsigned long)probe;
	return 0;
}

bool mts_kprobes_work(void)
{
	struct kprobe probe = { .addr = (kprobe_opcode_t *)probed, .pre_handler = note_hit };
	int err = register_kprobe(&probe);

	if (err) {
		pr_notice("kprobes do not work here: error %d: input is not seen\n", err);
		return false;
	}
	probed(&probe);
	unregister_kprobe(&probe);
	if (!probe_hit)
		pr_notice("kprobes do not work here: test probe not hit: input is not seen\n");
	return probe_hit;
}

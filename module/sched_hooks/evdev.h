/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Keyboards, mice and touch screens that are not used through a terminal: X servers and compositors
 * read them as /dev/input/event*. The processes that have read are remembered, because a frozen
 * process does not read. An event counts as input of each of them.
 */
#ifndef _MTS_EVDEV_H
#define _MTS_EVDEV_H

#include <linux/types.h>

struct kprobe;
struct pt_regs;
struct task_struct;

/* Kprobe on evdev_read() of the kernel module evdev: the current process reads. */
int mts_hook_evdev_read(struct kprobe *probe, struct pt_regs *regs);

/* Kprobe on input_event(device, type, …), which mostly runs in interrupts. */
int mts_hook_input_event(struct kprobe *probe, struct pt_regs *regs);

/* Is the task's process one of these readers? Under RCU; any context. False also if busy. */
bool mts_evdev_reads(struct task_struct *task);

/* After the hooks have been removed: forget all readers. */
void mts_evdev_exit(void);

#endif /* _MTS_EVDEV_H */

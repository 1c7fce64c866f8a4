/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Keyboards, mice and touch screens without a terminal: X servers and compositors
 * read them as /dev/input/event*. Who has read lately is remembered, since who is
 * frozen reads no more; an event is input to all of them.
 */
#ifndef _MTS_EVDEV_H
#define _MTS_EVDEV_H

#include <linux/types.h>

struct kprobe;
struct pt_regs;
struct task_struct;

/* evdev_read(), of the module evdev: by the current process. */
int mts_hook_evdev_read(struct kprobe *probe, struct pt_regs *regs);

/* input_event(device, type, …): in interrupts mostly. */
int mts_hook_input_event(struct kprobe *probe, struct pt_regs *regs);

/* Has its process lately? Under RCU; any context. May be wrong in saying no, once in a while. */
bool mts_evdev_reads(struct task_struct *task);

/* Nobody is remembered; after the hooks have been removed. */
void mts_evdev_exit(void);

#endif /* _MTS_EVDEV_H */

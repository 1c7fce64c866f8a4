/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What passes between a person and the programs: handlers of kprobes, in atomic
 * context. They find whose it is, and say so to interactive.h.
 */
#ifndef _MTS_INPUT_H
#define _MTS_INPUT_H

struct kprobe;
struct pt_regs;
struct task_struct;

/*
 * n_tty_receive_buf2(tty, …): what a keyboard, a line, or the other end of a pty
 * gives a terminal. Credit goes to the terminal's foreground process group, by an
 * irq_work at once, also while it is frozen and cannot read.
 */
int mts_hook_tty_input(struct kprobe *probe, struct pt_regs *regs);

/* n_tty_write(tty, …): what the current process shows on a terminal. */
int mts_hook_tty_output(struct kprobe *probe, struct pt_regs *regs);

/* unix_stream_sendmsg(socket, …): the current process asks another one, or answers it. */
int mts_hook_unix_send(struct kprobe *probe, struct pt_regs *regs);

/*
 * The hook is on now: tasks that had input before (follow.h) hand on to those to which they have
 * sent something that is unread. A task that runs has read it, and is found with the next key; a
 * frozen one has not.
 */
void mts_input_catch_up(void);

/* After the hooks have been removed: what they queued is done, and may have asked to follow. */
void mts_input_sync(void);

#endif /* _MTS_INPUT_H */

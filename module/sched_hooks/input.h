/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Input, output and requests between programs: handlers of kprobes, in atomic context. They find
 * the task that receives it, and report it to trails.h and interactive.h.
 */
#ifndef _MTS_INPUT_H
#define _MTS_INPUT_H

struct kprobe;
struct pt_regs;
struct task_struct;

/*
 * n_tty_receive_buf2(tty, …): a terminal gets input from a keyboard, a serial line, or the other
 * end of a pty. An irq_work gives credit to the terminal's foreground process group at once, even
 * if the group is frozen and cannot read.
 */
int mts_hook_tty_input(struct kprobe *probe, struct pt_regs *regs);

/* n_tty_write(tty, …): the current process writes to a terminal. */
int mts_hook_tty_output(struct kprobe *probe, struct pt_regs *regs);

/* unix_stream_sendmsg(socket, …): the current process sends a request or an answer. */
int mts_hook_unix_send(struct kprobe *probe, struct pt_regs *regs);

/*
 * The hooks are on now. Processes that had input before (follow.h) may have sent requests that the
 * hooks did not see: hand credit on to the receivers of unread data. A running receiver has read
 * its data, and is found at the next key; a frozen one has not.
 */
void mts_input_catch_up(void);

/* After the hooks have been removed: waits for their irq_work, which may call mts_follow(). */
void mts_input_sync(void);

#endif /* _MTS_INPUT_H */

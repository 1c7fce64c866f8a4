/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Requests through pipes: a task for which a person waits writes to a pipe, for example an editor
 * to a language server. A pipe does not record its readers, so a work searches the jobs' open files
 * for the reader. If several jobs have the pipe open for reading (make's job server, a queue of
 * workers), the receiver is unknown, and none of them gets credit.
 */
#ifndef _MTS_PIPES_H
#define _MTS_PIPES_H

struct file;
struct kprobe;
struct pt_regs;
struct task_struct;

/* Kprobe on MTS_PIPE_WRITE(iocb, …): the current process writes to a pipe. */
int mts_hook_pipe_write(struct kprobe *probe, struct pt_regs *regs);

/* The same for an earlier write of @from, if @file is a pipe's writing end with unread data. */
void mts_pipes_unread(struct file *file, struct task_struct *from);

/* After the hooks have been removed: waits until no search runs. */
void mts_pipes_exit(void);

#endif /* _MTS_PIPES_H */

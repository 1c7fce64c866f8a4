/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Who is asked through a pipe, by somebody who is waited for. A pipe does not know who reads
 * it, so its reader is looked for among the jobs, by a work: a language server that an editor
 * has started, say. Where several jobs have the end for reading (make's job server, a queue
 * of workers) none of them is who is asked.
 */
#ifndef _MTS_PIPES_H
#define _MTS_PIPES_H

struct file;
struct kprobe;
struct pt_regs;
struct task_struct;

/* MTS_PIPE_WRITE(iocb, …): the current process says something. */
int mts_hook_pipe_write(struct kprobe *probe, struct pt_regs *regs);

/* The same of what was said before, if @file is an end for writing with something unread. */
void mts_pipes_unread(struct file *file, struct task_struct *from);

/* When it returns nobody is looked for; after the hooks have been removed. */
void mts_pipes_exit(void);

#endif /* _MTS_PIPES_H */

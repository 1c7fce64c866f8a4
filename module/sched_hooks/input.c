// SPDX-License-Identifier: GPL-2.0
#include "sched_hooks/input.h"

#include <linux/cgroup.h>
#include <linux/irq_work.h>
#include <linux/kprobes.h>
#include <linux/net.h>
#include <linux/pid.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/sched/task.h>
#include <linux/skbuff.h>
#include <linux/tty.h>
#include <linux/tty_driver.h>
#include <net/sock.h>
#include <net/tcp_states.h>

#include "jobs/files.h"
#include "jobs/interactive.h"
#include "jobs/trails.h"
#include "policy/interactive.h"
#include "sched_hooks/evdev.h"
#include "sched_hooks/follow.h"
#include "sched_hooks/pipes.h"

/* Tasks of a process group that get credit; a group is usually a pipeline of a few. */
#define MAX_PROCESSES 64
/* Terminals with input that the irq_work has not handled yet; about one for each processor. */
#define MAX_TTYS 64

static void give_ttys(struct irq_work *unused);
static DEFINE_IRQ_WORK(ttys_work, give_ttys);
/* Terminals with input that is not handled yet, each with a reference. */
static struct tty_struct *ttys[MAX_TTYS];
/* Taken in hooks; no thread is woken while it is held. */
static DEFINE_RAW_SPINLOCK(ttys_lock);

static struct tty_struct *tty_of(struct pt_regs *regs)
{
	return (struct tty_struct *)regs_get_kernel_argument(regs, 0);
}

/* At the master's end is the terminal emulator, not the program that the person uses. */
static bool is_master(const struct tty_struct *tty)
{
	return tty->driver->type == TTY_DRIVER_TYPE_PTY && tty->driver->subtype == PTY_TYPE_MASTER;
}

static void give_group(struct pid *group)
{
	struct task_struct *task;
	u32 n = 0;

	rcu_read_lock();
	hlist_for_each_entry_rcu(task, &group->tasks[PIDTYPE_PGID], pid_links[PIDTYPE_PGID]) {
		mts_trails_give(task, 0);
		mts_follow(task);
		if (++n == MAX_PROCESSES)
			break;
	}
	rcu_read_unlock();
}

static struct tty_struct *take_tty(void)
{
	struct tty_struct *tty = NULL;
	unsigned long flags;
	int i;

	raw_spin_lock_irqsave(&ttys_lock, flags);
	for (i = MAX_TTYS; i-- && !tty;)
		swap(tty, ttys[i]);
	raw_spin_unlock_irqrestore(&ttys_lock, flags);
	return tty;
}

/* An irq_work: tty_get_pgrp() takes a lock that sleeps on PREEMPT_RT. */
static void give_ttys(struct irq_work *unused)
{
	struct tty_struct *tty;
	struct pid *group;

	while ((tty = take_tty())) {
		group = tty_get_pgrp(tty);
		if (group)
			give_group(group);
		put_pid(group);
		tty_kref_put(tty);
	}
}

/* If the array is full, this input of the terminal is not counted. */
static void add_tty(struct tty_struct *tty)
{
	unsigned long flags;
	int i;

	raw_spin_lock_irqsave(&ttys_lock, flags);
	for (i = 0; i < MAX_TTYS && ttys[i] && ttys[i] != tty; i++)
		;
	if (i < MAX_TTYS && !ttys[i])
		ttys[i] = tty_kref_get(tty);
	raw_spin_unlock_irqrestore(&ttys_lock, flags);
	irq_work_queue(&ttys_work);
}

int mts_hook_tty_input(struct kprobe *probe, struct pt_regs *regs)
{
	struct tty_struct *tty = tty_of(regs);

	if (mts_interactive_is_on() && !is_master(tty))
		add_tty(tty);
	return 0;
}

/*
 * sk_peer_pid is the process that connected, or that listened. A display server only passes input
 * on: so the program that it sends to is as close to the person as the server itself.
 */
static void hand_on_to_peer(struct task_struct *from, struct sock *sk)
{
	struct task_struct *task;
	u32 step;

	rcu_read_lock();
	step = mts_trails_step(from);
	/* The usual case: no person waits for the sender. */
	if (step > MTS_STEP_MAX)
		goto unlock;
	/* The sender's reference keeps the connection; while connected, the peer stays the same. */
	task = sk->sk_state == TCP_ESTABLISHED ?
		       pid_task(READ_ONCE(sk->sk_peer_pid), PIDTYPE_TGID) :
		       NULL;
	if (task)
		mts_trails_hand_on(from, task, mts_evdev_reads(from) ? step : step + 1);
unlock:
	rcu_read_unlock();
}

int mts_hook_unix_send(struct kprobe *probe, struct pt_regs *regs)
{
	struct socket *socket = (struct socket *)regs_get_kernel_argument(regs, 0);

	if (mts_interactive_is_busy())
		hand_on_to_peer(current, socket->sk);
	return 0;
}

/* ---- requests that were sent before the hooks were on ---------------------------------- */

static void hand_on_unread(struct file *file, void *from)
{
	struct sock *sk, *peer = mts_files_unix_peer(file, &sk);
	bool unread;

	mts_pipes_unread(file, from);
	if (!peer)
		return;
	unread = !skb_queue_empty_lockless(&peer->sk_receive_queue);
	sock_put(peer);
	if (unread)
		hand_on_to_peer(from, sk);
}

void mts_input_catch_up(void)
{
	struct task_struct *task;
	struct pid *pid;

	while ((pid = mts_follow_take())) {
		task = get_pid_task(pid, PIDTYPE_TGID);
		put_pid(pid);
		if (!task)
			continue;
		/* While task_lock() is held task->files stays; an exiting task has none. */
		task_lock(task);
		if (task->files)
			mts_files_each(task, hand_on_unread, task);
		task_unlock(task);
		put_task_struct(task);
	}
}

void mts_input_sync(void)
{
	irq_work_sync(&ttys_work);
}

/* ---- output ------------------------------------------------------------------------------ */

int mts_hook_tty_output(struct kprobe *probe, struct pt_regs *regs)
{
	struct mts_job *job;

	if (likely(!mts_interactive_is_busy()) || !mts_interactive_is_on() ||
	    is_master(tty_of(regs)))
		return 0;
	rcu_read_lock();
	job = mts_job_of_cgroup(task_dfl_cgroup(current));
	if (job)
		mts_interactive_answer(job);
	rcu_read_unlock();
	return 0;
}

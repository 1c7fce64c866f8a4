// SPDX-License-Identifier: GPL-2.0
#include "input.h"

#include <linux/cgroup.h>
#include <linux/kprobes.h>
#include <linux/pid.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/tty.h>
#include <linux/tty_driver.h>
#include <net/sock.h>
#include <net/tcp_states.h>

#include "../interactive.h"
#include "hooks.h"

/* Of a process group; it is a pipeline as a rule. */
#define MAX_PROCESSES 64

static struct tty_struct *tty_of(struct pt_regs *regs)
{
	return (struct tty_struct *)regs_get_kernel_argument(regs, 0);
}

/* There is the program that plays the terminal, not the one that is used. */
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
		mts_interactive_give(task, 0);
		if (++n == MAX_PROCESSES)
			break;
	}
	rcu_read_unlock();
}

int mts_hook_tty_input(struct kprobe *probe, struct pt_regs *regs)
{
	struct tty_struct *tty = tty_of(regs);
	struct pid *group;

	if (!mts_interactive_is_on() || is_master(tty))
		return 0;
	group = tty_get_pgrp(tty);
	if (group)
		give_group(group);
	put_pid(group);
	mts_hooks_follow();
	return 0;
}

/* The other end of a connection is whoever connected, or whose socket was connected to. */
static void hand_on_to_peer(struct sock *sk)
{
	struct task_struct *task;

	rcu_read_lock();
	/* While connected, which the sender's reference makes last, the peer does not change. */
	task = sk->sk_state == TCP_ESTABLISHED ?
		       pid_task(READ_ONCE(sk->sk_peer_pid), PIDTYPE_TGID) :
		       NULL;
	if (task)
		mts_interactive_hand_on(task);
	rcu_read_unlock();
}

int mts_hook_unix_send(struct kprobe *probe, struct pt_regs *regs)
{
	struct socket *socket = (struct socket *)regs_get_kernel_argument(regs, 0);

	if (mts_interactive_is_busy())
		hand_on_to_peer(socket->sk);
	return 0;
}

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

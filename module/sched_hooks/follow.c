// SPDX-License-Identifier: GPL-2.0
#include "sched_hooks/follow.h"

#include <linux/irq_work.h>
#include <linux/pid.h>
#include <linux/sched.h>
#include <linux/spinlock.h>

/* Processes with input until the hooks are on. One person's input reaches fewer. */
#define MAX_REMEMBERED 16

static void call_begin(struct irq_work *unused);
static DEFINE_IRQ_WORK(begin_work, call_begin);
static void (*begin)(void);
static bool following;

/* Processes, each with a reference. */
static struct pid *remembered[MAX_REMEMBERED];
/* Taken in hard interrupts; no thread is woken while it is held. */
static DEFINE_RAW_SPINLOCK(remembered_lock);

static void call_begin(struct irq_work *unused)
{
	begin();
}

void mts_follow_init(void (*fn)(void))
{
	begin = fn;
}

static void remember(struct task_struct *task)
{
	struct pid *pid = task_tgid(task);
	unsigned long flags;
	int i;

	raw_spin_lock_irqsave(&remembered_lock, flags);
	for (i = 0; i < MAX_REMEMBERED && remembered[i] && remembered[i] != pid; i++)
		;
	if (i < MAX_REMEMBERED && !remembered[i])
		remembered[i] = get_pid(pid);
	raw_spin_unlock_irqrestore(&remembered_lock, flags);
}

void mts_follow(struct task_struct *task)
{
	if (READ_ONCE(following))
		return;
	remember(task);
	mts_follow_again();
}

void mts_follow_again(void)
{
	irq_work_queue(&begin_work);
}

bool mts_follow_set(bool on)
{
	return xchg(&following, on);
}

struct pid *mts_follow_take(void)
{
	struct pid *pid = NULL;
	int i;

	raw_spin_lock_irq(&remembered_lock);
	for (i = MAX_REMEMBERED; i-- && !pid;)
		swap(pid, remembered[i]);
	raw_spin_unlock_irq(&remembered_lock);
	return pid;
}

void mts_follow_sync(void)
{
	irq_work_sync(&begin_work);
}

void mts_follow_exit(void)
{
	struct pid *pid;

	while ((pid = mts_follow_take()))
		put_pid(pid);
}

// SPDX-License-Identifier: GPL-2.0
#include "evdev.h"

#include <linux/input-event-codes.h>
#include <linux/kprobes.h>
#include <linux/pid.h>
#include <linux/rcupdate.h>
#include <linux/sched/signal.h>

#include "../interactive.h"
#include "hooks.h"

/* Beyond them who read longest ago is forgotten. */
#define MAX_READERS 16
/* A mouse moves a thousand times a second; credit comes every 100 ms. */
#define EVENT_NS (50 * (u64)NSEC_PER_MSEC)

static struct reader {
	struct pid *pid; /* with a reference; NULL: none */
	u64 read;
} readers[MAX_READERS];
/* Taken in hard interrupts; nothing is woken while it is held. */
static DEFINE_RAW_SPINLOCK(readers_lock);
static atomic64_t last_event;

/* The current process, or else the place of who read longest ago. */
static struct reader *find_place(struct pid *pid)
{
	struct reader *oldest = &readers[0];
	int i;

	for (i = 0; i < MAX_READERS; i++) {
		if (readers[i].pid == pid)
			return &readers[i];
		if (readers[i].read < oldest->read)
			oldest = &readers[i];
	}
	return oldest;
}

int mts_hook_evdev_read(struct kprobe *probe, struct pt_regs *regs)
{
	struct pid *pid = task_tgid(current), *gone = NULL;
	struct reader *reader;
	unsigned long flags;

	raw_spin_lock_irqsave(&readers_lock, flags);
	reader = find_place(pid);
	if (reader->pid != pid) {
		gone = reader->pid;
		reader->pid = get_pid(pid);
	}
	reader->read = ktime_get_mono_fast_ns();
	raw_spin_unlock_irqrestore(&readers_lock, flags);
	put_pid(gone);
	return 0;
}

bool mts_evdev_reads(struct task_struct *task)
{
	struct pid *pid = task_tgid(task);
	unsigned long flags;
	bool reads = false;
	int i;

	/* For a hook that may be a breakpoint, which is as good as an NMI. */
	if (!raw_spin_trylock_irqsave(&readers_lock, flags))
		return false;
	for (i = 0; i < MAX_READERS && !reads; i++)
		reads = pid && readers[i].pid == pid;
	raw_spin_unlock_irqrestore(&readers_lock, flags);
	return reads;
}

static void give_readers(void)
{
	struct task_struct *task;
	unsigned long flags;
	int i;

	rcu_read_lock();
	raw_spin_lock_irqsave(&readers_lock, flags);
	for (i = 0; i < MAX_READERS; i++) {
		task = pid_task(readers[i].pid, PIDTYPE_TGID);
		if (!task)
			continue;
		mts_interactive_give(task, 0);
		mts_hooks_follow(task);
	}
	raw_spin_unlock_irqrestore(&readers_lock, flags);
	rcu_read_unlock();
}

int mts_hook_input_event(struct kprobe *probe, struct pt_regs *regs)
{
	unsigned long type = regs_get_kernel_argument(regs, 1) & U32_MAX;
	u64 now = ktime_get_mono_fast_ns();
	s64 last = atomic64_read(&last_event);

	if (type != EV_KEY && type != EV_REL && type != EV_ABS)
		return 0;
	if (now - last < EVENT_NS || !mts_interactive_is_on() ||
	    atomic64_cmpxchg(&last_event, last, now) != last)
		return 0;
	give_readers();
	return 0;
}

void mts_evdev_exit(void)
{
	int i;

	for (i = 0; i < MAX_READERS; i++) {
		put_pid(readers[i].pid);
		readers[i] = (struct reader){ 0 };
	}
}

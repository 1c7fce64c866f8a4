// SPDX-License-Identifier: GPL-2.0
#include "sched_hooks/evdev.h"

#include <linux/input-event-codes.h>
#include <linux/kprobes.h>
#include <linux/pid.h>
#include <linux/pid_namespace.h>
#include <linux/rcupdate.h>
#include <linux/sched/signal.h>
#include <linux/string.h>

#include "jobs/interactive.h"
#include "jobs/trails.h"
#include "sched_hooks/follow.h"

/* Beyond them who read longest ago is forgotten. */
#define MAX_READERS 16
/* A mouse moves a thousand times a second; credit comes every 100 ms. */
#define EVENT_NS (50 * (u64)NSEC_PER_MSEC)

/*
 * A process by its id and its start: the last reference to a struct pid must not be dropped in a
 * hook, as to free memory takes sleeping locks on PREEMPT_RT.
 */
static struct reader {
	pid_t tgid; /* 0: none */
	u64 started;
	u64 read;
} readers[MAX_READERS];
/* Taken in hard interrupts; nothing is woken while it is held. */
static DEFINE_RAW_SPINLOCK(readers_lock);
static atomic64_t last_event;

/* Under RCU. */
static bool is_process(const struct reader *reader, const struct task_struct *task)
{
	return reader->tgid == task->tgid && reader->started == task->group_leader->start_time;
}

/* The current process, or else the place of who read longest ago. */
static struct reader *find_place(void)
{
	struct reader *oldest = &readers[0];
	int i;

	for (i = 0; i < MAX_READERS; i++) {
		if (is_process(&readers[i], current))
			return &readers[i];
		if (readers[i].read < oldest->read)
			oldest = &readers[i];
	}
	return oldest;
}

int mts_hook_evdev_read(struct kprobe *probe, struct pt_regs *regs)
{
	unsigned long flags;

	rcu_read_lock();
	raw_spin_lock_irqsave(&readers_lock, flags);
	*find_place() = (struct reader){
		.tgid = current->tgid,
		.started = current->group_leader->start_time,
		.read = ktime_get_mono_fast_ns(),
	};
	raw_spin_unlock_irqrestore(&readers_lock, flags);
	rcu_read_unlock();
	return 0;
}

bool mts_evdev_reads(struct task_struct *task)
{
	unsigned long flags;
	bool reads = false;
	int i;

	/* For a hook that may be a breakpoint, which is as good as an NMI. */
	if (!raw_spin_trylock_irqsave(&readers_lock, flags))
		return false;
	for (i = 0; i < MAX_READERS && !reads; i++)
		reads = is_process(&readers[i], task);
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
		if (!readers[i].tgid)
			continue;
		task = pid_task(find_pid_ns(readers[i].tgid, &init_pid_ns), PIDTYPE_TGID);
		if (!task || !is_process(&readers[i], task))
			continue;
		mts_trails_give(task, 0);
		mts_follow(task);
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
	memset(readers, 0, sizeof(readers));
}

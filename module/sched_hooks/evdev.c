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

/* A new reader beyond these replaces the one that read longest ago. */
#define MAX_READERS 16
/*
 * Events are handled at most this often: a mouse sends a thousand a second, and credit comes every
 * 100 ms only.
 */
#define EVENT_NS (50 * (u64)NSEC_PER_MSEC)

/*
 * A process, known by its id and start time. A struct pid is not held: to drop the last reference
 * frees memory, which takes sleeping locks on PREEMPT_RT, and hooks must not sleep.
 */
static struct reader {
	pid_t tgid; /* 0: the entry is free */
	u64 started; /* start time */
	u64 read; /* time of its last read; ktime, ns */
} readers[MAX_READERS];
/* Taken in hard interrupts; no thread is woken while it is held. */
static DEFINE_RAW_SPINLOCK(readers_lock);
static atomic64_t last_event;

/* Under RCU. */
static bool is_process(const struct reader *reader, const struct task_struct *task)
{
	return reader->tgid == task->tgid && reader->started == task->group_leader->start_time;
}

/* The current process's entry, or else the one of the process that read longest ago. */
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

	/*
	 * A kprobe that is a breakpoint may interrupt the lock's holder, as an NMI may: only try.
	 */
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

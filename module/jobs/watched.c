// SPDX-License-Identifier: GPL-2.0
#include "jobs/watched.h"

#include <linux/atomic.h>
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/pid.h>
#include <linux/pid_namespace.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>

/*
 * So long a task that came from outside keeps its job running: the process that started it waits
 * for it to be ready. A login (PAM, a session manager, a shell) and a container's health check
 * take a few seconds where the job's memory has to come back first.
 */
#define YOUNG_MS 10000
/* What systemd gives a unit to stop, DefaultTimeoutStopSec= (systemd-system.conf(5)). */
#define STOP_MS 90000
/* What a look can count on: the hook tells of a vfork before its parent begins to wait. */
#define VFORK_MS 500

/* Processes that are watched at a time; the last ones are for PID 1's calls alone. */
#define MAX_WATCHED 128
#define MAX_OTHERS 96
/* Of one job, beyond which its tasks' children are not: a fork bomb must leave others' places. */
#define MAX_CHILDREN 16

/**
 * struct watched - a process that a process outside waits for
 * @tgid: in the initial namespace; 0: none
 * @started: its start time, as numbers are given again
 * @job: id of the job that it is in
 * @until_ms: the call ends then, or with the process
 * @ends: it got a signal that is to end it
 * @vfork: its parent stands still until it has called exec
 * @by_init: the waiting process is PID 1
 */
struct watched {
	pid_t tgid;
	u64 started;
	u32 job;
	u64 until_ms;
	bool ends;
	bool vfork;
	bool by_init;
};

static struct watched watched[MAX_WATCHED];
static atomic64_t open_until; /* no call lasts longer; ktime, ms */
/* Taken in hard interrupts; nothing is woken while it is held. */
static DEFINE_RAW_SPINLOCK(watched_lock);

static u64 now_ms(void)
{
	return div_u64(ktime_get_mono_fast_ns(), NSEC_PER_MSEC);
}

struct mts_caller mts_caller_of(struct task_struct *task)
{
	return (struct mts_caller){
		.pid = task_tgid_nr(task),
		/* Not get_task_comm(), which takes a lock that hooks may not take. */
		.comm = task->comm,
		.is_init = is_global_init(task),
	};
}

static bool is_same(const struct watched *a, const struct watched *b)
{
	return a->tgid == b->tgid && a->started == b->started;
}

/* The place of this process, or one that is free, or can be; NULL: all are in use. */
static struct watched *find_place(const struct watched *new, u64 now)
{
	struct watched *free = NULL;
	int i;

	for (i = 0; i < MAX_WATCHED; i++) {
		if (is_same(&watched[i], new))
			return &watched[i];
		if (i < MAX_OTHERS || new->by_init)
			if (!watched[i].tgid || watched[i].until_ms < now)
				free = &watched[i];
	}
	return free;
}

static void watch(const struct watched *new, u64 now)
{
	struct watched *place;
	unsigned long flags;

	raw_spin_lock_irqsave(&watched_lock, flags);
	place = find_place(new, now);
	if (place && is_same(place, new)) {
		place->job = new->job;
		place->until_ms = max(place->until_ms, new->until_ms);
		place->ends |= new->ends;
		place->vfork |= new->vfork;
		place->by_init |= new->by_init;
	} else if (place) {
		*place = *new;
	}
	raw_spin_unlock_irqrestore(&watched_lock, flags);
	if (place)
		mts_calls_extend(&open_until, new->until_ms);
}

/* The process of that task; without what makes the call. */
static struct watched process_of(struct task_struct *task)
{
	return (struct watched){
		.tgid = task_tgid_nr(task),
		.started = task->group_leader->start_time,
	};
}

void mts_watched_forked(struct task_struct *parent, struct task_struct *child)
{
	struct watched came = process_of(parent), new = process_of(child);
	u32 i, n = 0;
	unsigned long flags;

	if (!mts_watched_are_any())
		return;
	raw_spin_lock_irqsave(&watched_lock, flags);
	for (i = 0; i < MAX_WATCHED; i++) {
		if (!is_same(&watched[i], &came) || watched[i].ends)
			continue;
		new.job = watched[i].job;
		new.until_ms = watched[i].until_ms;
	}
	for (i = 0; i < MAX_WATCHED; i++)
		n += watched[i].tgid && watched[i].job == new.job;
	raw_spin_unlock_irqrestore(&watched_lock, flags);
	if (new.job && n < MAX_CHILDREN)
		watch(&new, now_ms());
}

/* Until when PID 1 itself waits for it; 0: it does not. */
static u64 init_waits_until(const struct watched *w, u64 now)
{
	if (!w->by_init)
		return 0;
	/* It kills what does not end in time, and it stands still in a vfork. */
	return w->ends ? w->until_ms : w->vfork ? now + VFORK_MS : 0;
}

void mts_watched_task(struct mts_job *job, enum mts_call kind, struct task_struct *task,
		      struct task_struct *by, bool vfork)
{
	const struct mts_caller caller = mts_caller_of(by);
	u64 now = now_ms();
	struct watched new = process_of(task);

	new.job = job->id;
	new.ends = kind == MTS_CALL_SIGNAL;
	new.until_ms = now + (new.ends ? STOP_MS : YOUNG_MS);
	new.vfork = vfork;
	new.by_init = caller.is_init;
	/*
	 * A task that came while its job ran has begun to run. But a parent that stands still, and
	 * a process that is to end, need the job also if it is about to be frozen.
	 */
	if (!new.vfork && !new.ends && !READ_ONCE(job->frozen))
		return;
	watch(&new, now);
	mts_calls_extend(&job->task_until, new.until_ms);
	mts_calls_extend(&job->init_until, init_waits_until(&new, now));
	mts_calls_ring(job, kind, &caller);
}

bool mts_watched_are_any(void)
{
	s64 then = atomic64_read(&open_until);

	return then && (s64)now_ms() < then;
}

/* ---- what ends a call ---------------------------------------------------------------------- */

/* The process, if it is still the one that is meant, and a thread of it lives; under RCU. */
static struct task_struct *find_process(const struct watched *w)
{
	struct task_struct *task = pid_task(find_pid_ns(w->tgid, &init_pid_ns), PIDTYPE_TGID);

	if (!task || task->start_time != w->started)
		return NULL;
	return task->exit_state && thread_group_empty(task) ? NULL : task;
}

/* Does its parent, which has made it by vfork, still stand still? */
static bool holds_parent(const struct task_struct *task)
{
	/* Until exec clears it, or the task exits (mm_release()). */
	return task->flags & PF_FORKNOEXEC && !(task->flags & PF_EXITING);
}

/* Under RCU. Return: its call goes on. */
static bool goes_on(struct watched *w, u64 now)
{
	struct task_struct *task = find_process(w);

	if (!task)
		return false;
	w->vfork = w->vfork && holds_parent(task);
	if (w->vfork)
		w->until_ms = max(w->until_ms, now + VFORK_MS);
	return now < w->until_ms;
}

static struct watched kept[MAX_WATCHED]; /* the watchdog's alone, as what follows */

/* Take out those whose call has ended. Return: how many are in @kept. */
static u32 sift(void)
{
	u64 now = now_ms(), until = 0;
	u32 i, n = 0;

	raw_spin_lock_irq(&watched_lock);
	for (i = 0; i < MAX_WATCHED; i++) {
		if (!watched[i].tgid)
			continue;
		if (!goes_on(&watched[i], now)) {
			watched[i] = (struct watched){ 0 };
			continue;
		}
		kept[n++] = watched[i];
		until = max(until, watched[i].until_ms);
	}
	raw_spin_unlock_irq(&watched_lock);
	mts_calls_extend(&open_until, until);
	return n;
}

static void settle(struct mts_job *job, u32 n)
{
	u64 task_until = 0, init_until, now = now_ms();
	u32 i;

	/* A call that was seen lasts no longer than this. */
	init_until = min_t(u64, atomic64_read(&job->init_until), now + MTS_CALL_SEEN_MS);
	for (i = 0; i < n; i++) {
		if (kept[i].job != job->id)
			continue;
		task_until = max(task_until, kept[i].until_ms);
		init_until = max(init_until, init_waits_until(&kept[i], now));
	}
	/* Unless a hook has made it later meanwhile: the next look sees that call. */
	atomic64_cmpxchg(&job->task_until, job->call.task_until_before, task_until);
	atomic64_cmpxchg(&job->init_until, job->call.init_until_before, init_until);
}

void mts_watched_look(void)
{
	struct mts_job *job;
	u32 n;

	rcu_read_lock();
	mts_job_for_each_rcu(job) {
		job->call.task_until_before = atomic64_read(&job->task_until);
		job->call.init_until_before = atomic64_read(&job->init_until);
	}
	n = sift();
	mts_job_for_each_rcu(job)
		if (job->call.task_until_before || job->call.init_until_before)
			settle(job, n);
	rcu_read_unlock();
}

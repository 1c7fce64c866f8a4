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
 * How long a task that came from outside keeps its job running: the process that started it waits
 * until it is ready. A login (PAM, a session manager, a shell) or a container's health check takes
 * a few seconds if the job's memory has to be brought back first.
 */
#define YOUNG_MS 10000
/* The time that systemd gives a unit to stop: DefaultTimeoutStopSec= (systemd-system.conf(5)). */
#define STOP_MS 90000
/*
 * By how much a look extends the call while a parent waits in vfork. The watchdog looks several
 * times in this time, so that the call does not end in between.
 */
#define VFORK_MS 500

/* Processes that are watched at a time; those beyond MAX_OTHERS are for calls by PID 1 alone. */
#define MAX_WATCHED 128
#define MAX_OTHERS 96
/*
 * With so many processes watched in a job, children are not: a fork bomb must not fill the table.
 *
 * When a call ends that is not watched cannot be seen: it lasts its whole time.
 */
#define MAX_CHILDREN 16

/**
 * struct watched - a process for which a process outside waits
 * @tgid: in the initial namespace; 0: the entry is free
 * @started: its start time, because process ids are reused
 * @job: id of its job
 * @until_ms: the call ends at this time, or when the process ends
 * @ends: it got a signal that asks it to end
 * @vfork: its parent sleeps until it has called exec
 * @by_init: the waiting process is PID 1
 * @stays: also when the process has ended: a child of its is not watched
 */
struct watched {
	pid_t tgid;
	u64 started;
	u32 job;
	u64 until_ms;
	bool ends;
	bool vfork;
	bool by_init;
	bool stays;
};

static struct watched watched[MAX_WATCHED];
static atomic64_t open_until; /* when the last call ends, at the latest; ktime, ms */
/* Taken in hard interrupts; no thread is woken while it is held. */
static DEFINE_RAW_SPINLOCK(watched_lock);

static u64 now_ms(void)
{
	return div_u64(ktime_get_mono_fast_ns(), NSEC_PER_MSEC);
}

struct mts_caller mts_caller_of(struct task_struct *task)
{
	return (struct mts_caller){
		.pid = task_tgid_nr(task),
		/* Not get_task_comm(): it takes a lock that hooks must not take. */
		.comm = task->comm,
		.is_init = is_global_init(task),
	};
}

static bool is_same(const struct watched *a, const struct watched *b)
{
	return a->tgid == b->tgid && a->started == b->started;
}

/* The entry of this process, or a free or expired one; NULL: all are in use. */
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

/* Return: false: all places are taken. */
static bool watch(const struct watched *new, u64 now)
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
	return place;
}

/* An entry with the identity of the task's process only. */
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
	struct watched *from = NULL, *place = NULL;
	u32 i, n = 0;
	unsigned long flags;

	if (!mts_watched_are_any())
		return;
	raw_spin_lock_irqsave(&watched_lock, flags);
	for (i = 0; i < MAX_WATCHED; i++)
		if (is_same(&watched[i], &came) && !watched[i].ends)
			from = &watched[i];
	if (from) {
		new.job = from->job;
		new.until_ms = from->until_ms;
		for (i = 0; i < MAX_WATCHED; i++)
			n += watched[i].tgid && watched[i].job == new.job;
		if (n < MAX_CHILDREN)
			place = find_place(&new, now_ms());
		if (place)
			*place = new;
		else
			from->stays = true;
	}
	raw_spin_unlock_irqrestore(&watched_lock, flags);
}

/* Until when PID 1 waits for the process; 0: it does not. */
static u64 init_waits_until(const struct watched *w, u64 now)
{
	if (!w->by_init)
		return 0;
	/* PID 1 waits for a process to stop until it kills it; in a vfork it sleeps. */
	return w->ends ? w->until_ms : w->vfork ? now + VFORK_MS : 0;
}

void mts_watched_task(struct mts_job *job, enum mts_call kind, struct task_struct *task,
		      struct task_struct *by, bool vfork)
{
	const struct mts_caller caller = mts_caller_of(by);
	u64 now = now_ms(), until;
	struct watched new = process_of(task);

	new.job = job->id;
	new.ends = kind == MTS_CALL_SIGNAL;
	new.until_ms = now + (new.ends ? STOP_MS : YOUNG_MS);
	new.vfork = vfork;
	new.by_init = caller.is_init;
	/*
	 * A task that came while the job ran has begun to run: it needs no call. But a parent in
	 * vfork, and a process that was asked to end, need the job also if it is frozen soon.
	 */
	if (!new.vfork && !new.ends && !READ_ONCE(job->frozen))
		return;
	until = init_waits_until(&new, now);
	if (!watch(&new, now)) {
		until = until ? new.until_ms : 0;
		mts_calls_extend(&job->call.task_unwatched_until, new.until_ms);
		mts_calls_extend(&job->call.init_unwatched_until, until);
	}
	mts_calls_extend(&job->task_until, new.until_ms);
	mts_calls_extend(&job->init_until, until);
	mts_calls_ring(job, kind, &caller);
}

bool mts_watched_are_any(void)
{
	s64 then = atomic64_read(&open_until);

	return then && (s64)now_ms() < then;
}

/* ---- the end of a call --------------------------------------------------------------------- */

/* The process, if it is still the same one and has a live thread. Under RCU. */
static struct task_struct *find_process(const struct watched *w)
{
	struct task_struct *task = pid_task(find_pid_ns(w->tgid, &init_pid_ns), PIDTYPE_TGID);

	if (!task || task->start_time != w->started)
		return NULL;
	return task->exit_state && thread_group_empty(task) ? NULL : task;
}

/* Does the parent, which has made this task by vfork, still sleep? */
static bool holds_parent(const struct task_struct *task)
{
	/* It does until exec clears PF_FORKNOEXEC, or the task exits (mm_release()). */
	return task->flags & PF_FORKNOEXEC && !(task->flags & PF_EXITING);
}

/* Under RCU. Return: true: the call has not ended. */
static bool has_not_ended(struct watched *w, u64 now)
{
	struct task_struct *task = find_process(w);

	if (!task)
		return w->stays && now < w->until_ms;
	w->vfork = w->vfork && holds_parent(task);
	if (w->vfork)
		w->until_ms = max(w->until_ms, now + VFORK_MS);
	return now < w->until_ms;
}

static struct watched kept[MAX_WATCHED]; /* used by the watchdog's thread alone */

/* Remove entries whose call has ended; copy the others to kept[]. Return: how many. */
static u32 drop_ended(void)
{
	u64 now = now_ms(), until = 0;
	u32 i, n = 0;

	raw_spin_lock_irq(&watched_lock);
	for (i = 0; i < MAX_WATCHED; i++) {
		if (!watched[i].tgid)
			continue;
		if (!has_not_ended(&watched[i], now)) {
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

/* 0: it has passed. */
static u64 not_past(const atomic64_t *until, u64 now)
{
	u64 then = atomic64_read(until);

	return then > now ? then : 0;
}

static void update_job(struct mts_job *job, u32 n)
{
	u64 now = now_ms(), task_until = not_past(&job->call.task_unwatched_until, now), init_until;
	u32 i;

	/* mts_calls_seen() may have set init_until: it lasts no longer than this. */
	init_until = min_t(u64, atomic64_read(&job->init_until), now + MTS_CALL_SEEN_MS);
	init_until = max(init_until, not_past(&job->call.init_unwatched_until, now));
	for (i = 0; i < n; i++) {
		if (kept[i].job != job->id)
			continue;
		task_until = max(task_until, kept[i].until_ms);
		init_until = max(init_until, init_waits_until(&kept[i], now));
	}
	/* If a hook has extended it meanwhile, keep that: the next look sees the new call. */
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
	n = drop_ended();
	mts_job_for_each_rcu(job)
		if (job->call.task_until_before || job->call.init_until_before)
			update_job(job, n);
	rcu_read_unlock();
}

// SPDX-License-Identifier: GPL-2.0
#include "jobs/calls.h"

#include "context.h"
#include "jobs/budget.h"
#include "events/stats.h"
#include "events/trace.h"
#include "events/wake.h"

static u64 now_ms(void)
{
	return div_u64(ktime_get_mono_fast_ns(), NSEC_PER_MSEC);
}

static bool is_before(const atomic64_t *until)
{
	s64 then = atomic64_read(until);

	return then && (s64)now_ms() < then;
}

bool mts_job_has_call(const struct mts_job *job)
{
	return is_before(&job->seen_until) || is_before(&job->task_until) ||
	       is_before(&job->init_until);
}

bool mts_job_is_called(const struct mts_job *job)
{
	if (is_before(&job->init_until))
		return true;
	return READ_ONCE(job->lent) && !mts_budget_is_spent(job) &&
	       (is_before(&job->seen_until) || is_before(&job->task_until));
}

void mts_calls_extend(atomic64_t *until, u64 ms)
{
	s64 before = atomic64_read(until);

	while ((u64)before < ms && !atomic64_try_cmpxchg(until, &before, ms))
		;
}

void mts_calls_ask(struct mts_job *job)
{
	atomic64_cmpxchg(&job->wanted_since, 0, ktime_get_mono_fast_ns());
	mts_wake_watchdog(MTS_WATCHDOG_EV_WANTED);
}

static void count(enum mts_call kind)
{
	switch (kind) {
	case MTS_CALL_TASK:
		mts_stats_inc(call_tasks);
		break;
	case MTS_CALL_SIGNAL:
		mts_stats_inc(call_signals);
		break;
	case MTS_CALL_WRITE:
		mts_stats_inc(call_writes);
		break;
	case MTS_CALL_LOCK:
		mts_stats_inc(call_locks);
		break;
	case MTS_CALL_NONE:
		break;
	}
}

void mts_calls_ring(struct mts_job *job, enum mts_call kind, const struct mts_caller *by)
{
	/* Pairs with freeze_locked(): the call is recorded before job->frozen is read. */
	smp_mb();
	if (!READ_ONCE(job->frozen))
		return;
	atomic64_inc(&job->call.calls);
	atomic64_set(&job->call.last_ns, ktime_get_mono_fast_ns());
	WRITE_ONCE(job->call.last_kind, kind);
	WRITE_ONCE(job->call.last_pid, by->pid);
	WRITE_ONCE(job->call.last_refused, 0);
	strscpy(job->call.comm, by->comm, sizeof(job->call.comm));
	count(kind);
	mts_calls_ask(job);
}

void mts_calls_seen(struct mts_job *job, enum mts_call kind, const struct mts_caller *by)
{
	bool is_new = !mts_job_has_call(job);
	u64 until = now_ms() + MTS_CALL_SEEN_MS;

	/* A task that waits until the job reads or unlocks waits until the job begins. */
	if (READ_ONCE(job->held))
		return;
	mts_calls_extend(by->is_init ? &job->init_until : &job->seen_until, until);
	if (is_new)
		mts_calls_ring(job, kind, by);
}

static void trace_call(struct mts_job *job, bool granted)
{
	trace_mts_call(job, READ_ONCE(job->call.last_kind), READ_ONCE(job->call.last_pid),
		       job->call.comm, granted);
}

bool mts_calls_admit(struct mts_job *job)
{
	bool granted;

	if (!mts_job_has_call(job))
		return false;
	granted = is_before(&job->init_until) || mts_budget_lend(job, false);
	if (granted)
		WRITE_ONCE(job->call.honoured, true);
	if (!granted && READ_ONCE(job->frozen) && !job->call.last_refused) {
		WRITE_ONCE(job->call.last_refused, 1);
		atomic64_inc(&job->call.refused);
		mts_stats_inc(call_refused);
		trace_call(job, false);
	}
	return granted;
}

void mts_calls_thawed(struct mts_job *job)
{
	lockdep_assert_held(&job->freeze_lock);
	mts_stats_inc(call_thaws);
	if (READ_ONCE(job->call.last_kind) == MTS_CALL_LOCK)
		mts_stats_inc(wait_thaws);
	trace_call(job, true);
}

void mts_calls_frozen(struct mts_job *job)
{
	lockdep_assert_held(&job->freeze_lock);
	WRITE_ONCE(job->call.honoured, false);
	mts_budget_return(job);
}

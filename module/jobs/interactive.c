// SPDX-License-Identifier: GPL-2.0
#include "jobs/interactive.h"

#include "context.h"
#include "jobs/budget.h"
#include "jobs/calls.h"
#include "policy/interactive.h"
#include "events/wake.h"
#include "events/stats.h"

/* How long hooks that only serve input stay switched on after the last input. */
#define USED_MS 10000
/* How long a job is spared: enough for the rotor to scan its tasks itself. */
#define SPARE_MS 2000

static atomic64_t last_input; /* of any job; ktime, ns */
static u32 share = MTS_DEFAULT_INTERACTIVE;

/* As ktime_get_ns(), but safe in any context, NMIs included. */
static u64 now_ns(void)
{
	return ktime_get_mono_fast_ns();
}

static u64 to_ms(u64 ns)
{
	return div_u64(ns, NSEC_PER_MSEC);
}

static bool is_within(const atomic64_t *input, u32 ms)
{
	s64 then = atomic64_read(input);

	return then && (s64)(now_ns() - then) < (s64)ms * NSEC_PER_MSEC;
}

void mts_interactive_set_share(u32 permille)
{
	WRITE_ONCE(share, permille);
}

bool mts_interactive_is_on(void)
{
	return READ_ONCE(share) && !list_empty(&mts_jobs);
}

static bool was_interactive_within(const struct mts_job *job, u32 ms)
{
	s64 until = atomic64_read(&job->interactive_until);

	return until && to_ms(now_ns()) < until + ms && READ_ONCE(share);
}

static bool has_credit(const struct mts_job *job)
{
	return was_interactive_within(job, 0);
}

/* A refusal holds for the input at that time; later input is not refused yet. */
static bool is_refused(const struct mts_job *job)
{
	return READ_ONCE(job->crowded_out) == atomic64_read(&job->last_input) ||
	       mts_budget_is_spent(job);
}

bool mts_job_is_interactive(const struct mts_job *job)
{
	/* A job in the queue reads no input. */
	return has_credit(job) && !is_refused(job) && !READ_ONCE(job->held);
}

bool mts_job_is_crowded_out(const struct mts_job *job)
{
	return has_credit(job) && is_refused(job);
}

bool mts_job_is_spared(const struct mts_job *job)
{
	s64 until = atomic64_read(&job->spared_until);

	return until && to_ms(now_ns()) < until;
}

bool mts_job_is_wanted(const struct mts_job *job)
{
	return mts_job_is_spared(job) || mts_job_is_interactive(job) || mts_job_is_called(job);
}

void mts_interactive_judge(struct mts_job *job, u64 input, bool granted)
{
	lockdep_assert_held(&mts_lock);
	WRITE_ONCE(job->crowded_out, granted ? 0 : input);
}

u32 mts_interactive_age_ms(const struct mts_job *job)
{
	s64 input = atomic64_read(&job->last_input);

	if (!input)
		return MTS_INPUT_AGE_MAX;
	return min_t(u64, to_ms(max_t(s64, now_ns() - input, 0)), MTS_INPUT_AGE_MAX - 1);
}

void mts_interactive_refuse(struct mts_job *job)
{
	WRITE_ONCE(job->crowded_out, atomic64_read(&job->last_input));
}

static void ask_to_run(struct mts_job *job)
{
	/* Pairs with freeze_locked(): the reason is written before job->frozen is read. */
	smp_mb();
	if (!READ_ONCE(job->frozen) || !mts_job_is_wanted(job))
		return;
	mts_calls_ask(job);
	mts_wake_rotor(MTS_ROTOR_EV_JOBS);
}

bool mts_job_was_used(const struct mts_job *job)
{
	return was_interactive_within(job, MTS_STAY_MS);
}

static void add_credit(struct mts_job *job, u64 now, u32 amount)
{
	s64 old = atomic64_read(&job->credit);
	s64 new = mts_credit_add(old, to_ms(now), amount);
	s64 before, until;

	/* If another event was faster, drop this one: events count only once in a while. */
	if (new == old || atomic64_cmpxchg(&job->credit, old, new) != old)
		return;
	before = atomic64_read(&job->interactive_until);
	until = mts_interactive_until(new, before);
	atomic64_set(&job->interactive_until, until);
	if (before <= to_ms(now) && until > before)
		mts_wake_rotor(MTS_ROTOR_EV_JOBS);
}

void mts_interactive_give(struct mts_job *job, u32 step)
{
	u64 now = now_ns();

	mts_stats_inc(inputs);
	atomic64_set(&last_input, now);
	atomic64_set(&job->last_input, now);
	add_credit(job, now, MTS_CREDIT_STEP(step));
	ask_to_run(job);
}

void mts_interactive_answer(struct mts_job *job)
{
	if (is_within(&job->last_input, MTS_ANSWER_MS))
		add_credit(job, now_ns(), MTS_CREDIT_ANSWER);
}

void mts_interactive_note_input(void)
{
	atomic64_set(&last_input, now_ns());
}

bool mts_interactive_is_busy(void)
{
	return is_within(&last_input, MTS_TRAIL_MS);
}

bool mts_interactive_is_used(void)
{
	return is_within(&last_input, USED_MS) && mts_interactive_is_on();
}

void mts_interactive_spare(struct mts_job *job)
{
	u64 now = now_ns();

	atomic64_set(&job->spared_until, to_ms(now) + SPARE_MS);
	ask_to_run(job);
}

void mts_interactive_thawed(struct mts_job *job)
{
	u64 since = atomic64_xchg(&job->wanted_since, 0);

	lockdep_assert_held(&job->freeze_lock);
	mts_stats_inc(interactive_thaws);
	mts_stats_add(interactive_wait_ns, since ? now_ns() - since : 0);
}

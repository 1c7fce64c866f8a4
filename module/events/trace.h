/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Trace events, mts:*. docs/tracing.md lists them, with examples.
 *
 * Users and tools parse them, so names of events and fields are stable. Sizes are bytes, times ns.
 * A bin is its index, or one of MTS_TRACE_BIN_*. Text from outside the module comes last in a line.
 * An event computes its expensive fields itself, so that they cost nothing while it is disabled.
 *
 * Events of freezer.c are emitted with freeze_lock held, also by the watchdog. That is safe: the
 * ring buffer is preallocated, and takes no lock that sleeps.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM mts

#if !defined(_MTS_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define _MTS_TRACE_H

#include <linux/cgroup.h>
#include <linux/ctype.h>
#include <linux/tracepoint.h>

#include "compat/compat.h"
#include "job.h"
#include "events/words.h"
#include "policy/admission.h"
#include "policy/bins.h"
#include "policy/choice.h"

#ifndef _MTS_TRACE_WORD
#define _MTS_TRACE_WORD
/*
 * Copy @text as one word of at most @size bytes with its NUL: characters that would end it become
 * '_'.
 */
static inline void mts_trace_word(char *word, const char *text, size_t size)
{
	size_t i;

	strscpy(word, text, size);
	for (i = 0; word[i]; i++)
		if (!isgraph(word[i]) || !isascii(word[i]))
			word[i] = '_';
}

/* -1: not known */
static inline s64 mts_trace_gives(const struct mts_choice *choice, u32 policy)
{
	return choice->of[policy].how ? (s64)choice->of[policy].share : -1;
}
#endif

/* clang-format cannot lay out trace events. */
/* clang-format off */

/* The words must match mtsctl/words.c. */
#define MTS_TRACE_REASONS \
	EM(MTS_REASON_NONE, "none") \
	EM(MTS_REASON_NO_JOBS, "no-jobs") \
	EM(MTS_REASON_FITS, "fits") \
	EM(MTS_REASON_NO_PRESSURE, "no-pressure") \
	EM(MTS_REASON_NO_SWAP, "no-swap") \
	EM(MTS_REASON_OVERCOMMIT, "overcommit") \
	EM(MTS_REASON_USER, "user") \
	EM(MTS_REASON_STALL, "stall") \
	EM(MTS_REASON_OOM, "oom") \
	EM(MTS_REASON_ERROR, "error") \
	EM(MTS_REASON_SUSPEND, "suspend") \
	EM(MTS_REASON_UNLOAD, "unload") \
	EM(MTS_REASON_COPES, "copes") \
	EM(MTS_REASON_NO_GAIN, "no-gain") \
	EM(MTS_REASON_SHADOW, "shadow") \
	EM(MTS_REASON_SLOW_SWAP, "slow-swap") \
	EM(MTS_REASON_EXEMPT, "exempt") \
	EM(MTS_REASON_POLICY, "policy") \
	EM(MTS_REASON_FAIR, "fair") \
	EM_LAST(MTS_REASON_TOKEN, "token")

#define MTS_TRACE_POLICIES \
	EM(MTS_POLICY_TURNS, "turns") \
	EM(MTS_POLICY_NONE, "none") \
	EM(MTS_POLICY_FAIR, "fair") \
	EM_LAST(MTS_POLICY_TOKEN, "token")

#define MTS_TRACE_SLICE_ENDS \
	EM(MTS_SLICE_OVER, "over") \
	EM(MTS_SLICE_ASLEEP, "asleep") \
	EM(MTS_SLICE_EMPTY, "empty") \
	EM(MTS_SLICE_OUTGROWN, "outgrown") \
	EM(MTS_SLICE_SWAPS, "swaps") \
	EM(MTS_SLICE_ATTENDED, "attended") \
	EM(MTS_SLICE_ALONE, "alone") \
	EM(MTS_SLICE_FITS, "fits") \
	EM(MTS_SLICE_CONFIG, "config") \
	EM_LAST(MTS_SLICE_STOP, "stop")

#define MTS_TRACE_THAW_WHY \
	EM(MTS_THAW_ROTOR, "rotor") \
	EM(MTS_THAW_WANTED, "wanted") \
	EM(MTS_THAW_OVERDUE, "overdue") \
	EM(MTS_THAW_ALL, "all") \
	EM(MTS_THAW_FORGOTTEN, "forgotten") \
	EM(MTS_THAW_FOREIGN, "foreign") \
	EM(MTS_THAW_KEPT, "kept") \
	EM_LAST(MTS_THAW_BEGINS, "begins")

#define MTS_TRACE_CALLS \
	EM(MTS_CALL_NONE, "none") \
	EM(MTS_CALL_TASK, "task") \
	EM(MTS_CALL_SIGNAL, "signal") \
	EM(MTS_CALL_WRITE, "write") \
	EM_LAST(MTS_CALL_LOCK, "lock")

#define MTS_TRACE_INTERACTIVE_WHAT \
	EM(MTS_INTERACTIVE_NO, "no") \
	EM(MTS_INTERACTIVE_YES, "yes") \
	EM(MTS_INTERACTIVE_CROWDED_OUT, "crowded-out") \
	EM_LAST(MTS_INTERACTIVE_STAYS, "stays")

#define MTS_TRACE_JOB_WHAT \
	EM(MTS_JOB_ENROLLED, "enrolled") \
	EM(MTS_JOB_PLACED, "placed") \
	EM_LAST(MTS_JOB_FORGOTTEN, "forgotten")

#define MTS_TRACE_WAIT_FOR \
	EM(MTS_WAIT_PIPE, "pipe") \
	EM(MTS_WAIT_SOCKET, "socket") \
	EM(MTS_WAIT_EVENT, "event") \
	EM(MTS_WAIT_FUTEX, "futex") \
	EM_LAST(MTS_WAIT_LOCK, "lock")

/* Tools need the numbers of the words, not their names. */
#undef EM
#undef EM_LAST
#define EM(value, word) TRACE_DEFINE_ENUM(value);
#define EM_LAST(value, word) TRACE_DEFINE_ENUM(value);

MTS_TRACE_REASONS
MTS_TRACE_POLICIES
MTS_TRACE_SLICE_ENDS
MTS_TRACE_THAW_WHY
MTS_TRACE_CALLS
MTS_TRACE_INTERACTIVE_WHAT
MTS_TRACE_JOB_WHAT
MTS_TRACE_WAIT_FOR

#undef EM
#undef EM_LAST
#define EM(value, word) { value, word },
#define EM_LAST(value, word) { value, word }

/* The job: the same fields in each event. */
#define JOB_ENTRY \
	__field(u32, job) \
	__field(s32, bin) \
	__field(u64, cgroup_id) \
	__string(name, job->name)

#define JOB_ASSIGN \
	do { \
		__entry->job = job->id; \
		__entry->bin = READ_ONCE(job->bin); \
		__entry->cgroup_id = cgroup_id(job->cgrp); \
		MTS_ASSIGN_STR(name, job->name); \
	} while (0)

#define JOB_PR_FMT "job=%u bin=%d"
#define JOB_PR_ARG __entry->job, __entry->bin
#define NAME_PR_FMT "cgroup_id=%llu name=%s"
#define NAME_PR_ARG __entry->cgroup_id, __get_str(name)

/* ---- rounds ------------------------------------------------------------------ */

/* A round begins as planned. */
TRACE_EVENT(mts_round,
	TP_PROTO(u64 round, const struct mts_plan *plan, u32 jobs),
	TP_ARGS(round, plan, jobs),
	TP_STRUCT__entry(
		__field(u64, round)
		__field(u32, bins)
		__field(u32, jobs)
		__field(u64, demand_bytes)
		__field(u64, resident_bytes)
		__field(u64, capacity_bytes)
		__field(u64, round_ns)
		__field(u64, longest_pause_ns)
	),
	TP_fast_assign(
		__entry->round = round;
		__entry->bins = plan->nbins;
		__entry->jobs = jobs;
		__entry->demand_bytes = plan->demand;
		__entry->resident_bytes = plan->resident_demand;
		__entry->capacity_bytes = plan->capacity;
		__entry->round_ns = plan->round_ns;
		__entry->longest_pause_ns = plan->longest_pause_ns;
	),
	TP_printk("round=%llu bins=%u jobs=%u demand_bytes=%llu resident_bytes=%llu capacity_bytes=%llu round_ns=%llu longest_pause_ns=%llu",
		__entry->round, __entry->bins, __entry->jobs, __entry->demand_bytes,
		__entry->resident_bytes, __entry->capacity_bytes, __entry->round_ns,
		__entry->longest_pause_ns)
);

/* The decision whether to take turns: @reason changed, or a window has been evaluated. */
TRACE_EVENT(mts_admission,
	TP_PROTO(u32 before, u32 reason, const struct mts_admission *a,
		 const struct mts_plan *plan),
	TP_ARGS(before, reason, a, plan),
	TP_STRUCT__entry(
		__field(u32, before)
		__field(u32, reason)
		__field(u32, bins)
		__field(bool, short_of_memory)
		__field(u64, demand_bytes)
		__field(u64, capacity_bytes)
		__field(u64, share_permille)
		__field(u64, expected_permille)
		__field(u64, share_before_permille)
		__field(u64, share_during_permille)
	),
	TP_fast_assign(
		__entry->before = before;
		__entry->reason = reason;
		__entry->bins = plan->nbins;
		__entry->short_of_memory = a->short_of_memory;
		__entry->demand_bytes = plan->demand;
		__entry->capacity_bytes = plan->capacity;
		__entry->share_permille = a->share;
		__entry->expected_permille = a->expected;
		__entry->share_before_permille = a->before;
		__entry->share_during_permille = a->during;
	),
	TP_printk("before=%s reason=%s bins=%u demand_bytes=%llu capacity_bytes=%llu share_permille=%llu expected_permille=%llu short_of_memory=%d share_before_permille=%llu share_during_permille=%llu",
		__print_symbolic(__entry->before, MTS_TRACE_REASONS),
		__print_symbolic(__entry->reason, MTS_TRACE_REASONS),
		__entry->bins, __entry->demand_bytes, __entry->capacity_bytes,
		__entry->share_permille, __entry->expected_permille,
		__entry->short_of_memory, __entry->share_before_permille,
		__entry->share_during_permille)
);

/* policy=auto: another policy is in force, or the one in force is on trial no more. */
TRACE_EVENT(mts_policy,
	TP_PROTO(u32 before, const struct mts_choice *choice),
	TP_ARGS(before, choice),
	TP_STRUCT__entry(
		__field(u32, before)
		__field(u32, policy)
		__field(bool, on_trial)
		__field(s64, turns_permille)
		__field(s64, none_permille)
		__field(s64, fair_permille)
		__field(s64, token_permille)
	),
	TP_fast_assign(
		__entry->before = before;
		__entry->policy = choice->policy;
		__entry->on_trial = choice->on_trial;
		__entry->turns_permille = mts_trace_gives(choice, MTS_POLICY_TURNS);
		__entry->none_permille = mts_trace_gives(choice, MTS_POLICY_NONE);
		__entry->fair_permille = mts_trace_gives(choice, MTS_POLICY_FAIR);
		__entry->token_permille = mts_trace_gives(choice, MTS_POLICY_TOKEN);
	),
	TP_printk("before=%s policy=%s on_trial=%d turns_permille=%lld none_permille=%lld fair_permille=%lld token_permille=%lld",
		__print_symbolic(__entry->before, MTS_TRACE_POLICIES),
		__print_symbolic(__entry->policy, MTS_TRACE_POLICIES), __entry->on_trial,
		__entry->turns_permille, __entry->none_permille, __entry->fair_permille,
		__entry->token_permille)
);

/* ---- slices ------------------------------------------------------------------ */

TRACE_EVENT(mts_slice_begin,
	TP_PROTO(u64 round, u32 bin, const struct mts_plan_bin *planned),
	TP_ARGS(round, bin, planned),
	TP_STRUCT__entry(
		__field(u64, round)
		__field(s32, bin)
		__field(u32, jobs)
		__field(u64, demand_bytes)
		__field(u64, slice_ns)
	),
	TP_fast_assign(
		__entry->round = round;
		__entry->bin = bin;
		__entry->jobs = planned->jobs;
		__entry->demand_bytes = planned->demand;
		__entry->slice_ns = planned->slice_ns;
	),
	TP_printk("round=%llu bin=%d jobs=%u demand_bytes=%llu slice_ns=%llu",
		__entry->round, __entry->bin, __entry->jobs, __entry->demand_bytes,
		__entry->slice_ns)
);

TRACE_EVENT(mts_slice_end,
	TP_PROTO(u64 round, u32 bin, enum mts_slice_end why, u64 slice_ns, u64 ran_ns),
	TP_ARGS(round, bin, why, slice_ns, ran_ns),
	TP_STRUCT__entry(
		__field(u64, round)
		__field(s32, bin)
		__field(u32, why)
		__field(u64, slice_ns)
		__field(u64, ran_ns)
	),
	TP_fast_assign(
		__entry->round = round;
		__entry->bin = bin;
		__entry->why = why;
		__entry->slice_ns = slice_ns;
		__entry->ran_ns = ran_ns;
	),
	TP_printk("round=%llu bin=%d why=%s slice_ns=%llu ran_ns=%llu",
		__entry->round, __entry->bin,
		__print_symbolic(__entry->why, MTS_TRACE_SLICE_ENDS),
		__entry->slice_ns, __entry->ran_ns)
);

/* ---- switches ---------------------------------------------------------------- */

TRACE_EVENT(mts_switch_begin,
	TP_PROTO(u64 round, u32 from, u32 to),
	TP_ARGS(round, from, to),
	TP_STRUCT__entry(
		__field(u64, round)
		__field(s32, from)
		__field(s32, to)
	),
	TP_fast_assign(
		__entry->round = round;
		__entry->from = from;
		__entry->to = to;
	),
	TP_printk("round=%llu from=%d to=%d", __entry->round, __entry->from, __entry->to)
);

/*
 * @err: not 0 if the switch was abandoned and everything is thawed.
 */
TRACE_EVENT(mts_switch_end,
	TP_PROTO(u64 round, u32 from, u32 to, u64 took_ns, const struct mts_switch_parts *parts,
		 int err),
	TP_ARGS(round, from, to, took_ns, parts, err),
	TP_STRUCT__entry(
		__field(u64, round)
		__field(s32, from)
		__field(s32, to)
		__field(s32, err)
		__field(u64, took_ns)
		__field(u64, freeze_ns)
		__field(u64, evict_ns)
		__field(u64, bring_back_ns)
	),
	TP_fast_assign(
		__entry->round = round;
		__entry->from = from;
		__entry->to = to;
		__entry->err = err;
		__entry->took_ns = took_ns;
		__entry->freeze_ns = parts->freeze_ns;
		__entry->evict_ns = parts->evict_ns;
		__entry->bring_back_ns = parts->bring_back_ns;
	),
	TP_printk("round=%llu from=%d to=%d took_ns=%llu freeze_ns=%llu evict_ns=%llu bring_back_ns=%llu err=%d",
		__entry->round, __entry->from, __entry->to, __entry->took_ns,
		__entry->freeze_ns, __entry->evict_ns, __entry->bring_back_ns, __entry->err)
);

TRACE_EVENT(mts_evict,
	TP_PROTO(const struct mts_job *job, u64 asked, u64 got, u64 took_ns),
	TP_ARGS(job, asked, got, took_ns),
	TP_STRUCT__entry(
		JOB_ENTRY
		__field(u64, asked_bytes)
		__field(u64, got_bytes)
		__field(u64, took_ns)
	),
	TP_fast_assign(
		JOB_ASSIGN;
		__entry->asked_bytes = asked;
		__entry->got_bytes = got;
		__entry->took_ns = took_ns;
	),
	TP_printk(JOB_PR_FMT " asked_bytes=%llu got_bytes=%llu took_ns=%llu " NAME_PR_FMT,
		JOB_PR_ARG, __entry->asked_bytes, __entry->got_bytes, __entry->took_ns,
		NAME_PR_ARG)
);

/*
 * @bin: MTS_BIN_EVERY for jobs thawed out of turn. @pages: pages of 4 KiB that are back.
 */
TRACE_EVENT(mts_bring_back,
	TP_PROTO(u32 bin, u32 jobs, u64 pages, u64 took_ns),
	TP_ARGS(bin, jobs, pages, took_ns),
	TP_STRUCT__entry(
		__field(s32, bin)
		__field(u32, jobs)
		__field(u64, pages)
		__field(u64, took_ns)
	),
	TP_fast_assign(
		__entry->bin = bin;
		__entry->jobs = jobs;
		__entry->pages = pages;
		__entry->took_ns = took_ns;
	),
	TP_printk("bin=%d jobs=%u pages=%llu took_ns=%llu",
		__entry->bin, __entry->jobs, __entry->pages, __entry->took_ns)
);

/* ---- jobs -------------------------------------------------------------------- */

DECLARE_EVENT_CLASS(mts_job_class,
	TP_PROTO(const struct mts_job *job),
	TP_ARGS(job),
	TP_STRUCT__entry(
		JOB_ENTRY
	),
	TP_fast_assign(
		JOB_ASSIGN;
	),
	TP_printk(JOB_PR_FMT " " NAME_PR_FMT, JOB_PR_ARG, NAME_PR_ARG)
);

/* mts asks the job to freeze. */
DEFINE_EVENT(mts_job_class, mts_freeze,
	TP_PROTO(const struct mts_job *job), TP_ARGS(job));

/* All of the job's tasks are frozen, by mts or by another process. */
DEFINE_EVENT(mts_job_class, mts_frozen,
	TP_PROTO(const struct mts_job *job), TP_ARGS(job));

/* Not all of the job's tasks are frozen any more. */
DEFINE_EVENT(mts_job_class, mts_thawed,
	TP_PROTO(const struct mts_job *job), TP_ARGS(job));

/* policy=token: from now on the job keeps its memory. */
DEFINE_EVENT(mts_job_class, mts_hold,
	TP_PROTO(const struct mts_job *job), TP_ARGS(job));

/* It does no longer. A holder that is forgotten has no such event. */
DEFINE_EVENT(mts_job_class, mts_release,
	TP_PROTO(const struct mts_job *job), TP_ARGS(job));

/* mts lifts its freeze. */
TRACE_EVENT(mts_thaw,
	TP_PROTO(const struct mts_job *job, enum mts_thaw_why why),
	TP_ARGS(job, why),
	TP_STRUCT__entry(
		JOB_ENTRY
		__field(u32, why)
		__field(u64, frozen_ns)
	),
	TP_fast_assign(
		JOB_ASSIGN;
		__entry->why = why;
		__entry->frozen_ns = ktime_get_ns() - job->frozen_since;
	),
	TP_printk(JOB_PR_FMT " why=%s frozen_ns=%llu " NAME_PR_FMT, JOB_PR_ARG,
		__print_symbolic(__entry->why, MTS_TRACE_THAW_WHY), __entry->frozen_ns,
		NAME_PR_ARG)
);

TRACE_EVENT(mts_job,
	TP_PROTO(const struct mts_job *job, enum mts_job_what what),
	TP_ARGS(job, what),
	TP_STRUCT__entry(
		JOB_ENTRY
		__field(u32, what)
		__field(u32, parent)
		__field(bool, each)
		__field(bool, pin)
		__field(u64, demand_bytes)
		__field(u64, unused_bytes)
	),
	TP_fast_assign(
		JOB_ASSIGN;
		__entry->what = what;
		__entry->parent = job->parent;
		__entry->each = job->flags & MTS_JOB_EACH;
		__entry->pin = job->flags & MTS_JOB_PIN;
		__entry->demand_bytes = job->demand;
		__entry->unused_bytes = job->unused;
	),
	TP_printk(JOB_PR_FMT " what=%s parent=%u each=%d pin=%d demand_bytes=%llu unused_bytes=%llu "
		NAME_PR_FMT,
		JOB_PR_ARG, __print_symbolic(__entry->what, MTS_TRACE_JOB_WHAT),
		__entry->parent, __entry->each, __entry->pin, __entry->demand_bytes,
		__entry->unused_bytes, NAME_PR_ARG)
);

/* The rotor changed the job's class: exempt or not, because of its input. */
TRACE_EVENT(mts_interactive,
	TP_PROTO(const struct mts_job *job, enum mts_interactive_what is, u32 age_ms),
	TP_ARGS(job, is, age_ms),
	TP_STRUCT__entry(
		JOB_ENTRY
		__field(u32, is)
		__field(u32, input_age_ms)
		__field(u64, demand_bytes)
	),
	TP_fast_assign(
		JOB_ASSIGN;
		__entry->is = is;
		__entry->input_age_ms = age_ms;
		__entry->demand_bytes = job->demand;
	),
	TP_printk(JOB_PR_FMT " is=%s input_age_ms=%u demand_bytes=%llu " NAME_PR_FMT,
		JOB_PR_ARG, __print_symbolic(__entry->is, MTS_TRACE_INTERACTIVE_WHAT),
		__entry->input_age_ms, __entry->demand_bytes, NAME_PR_ARG)
);

/*
 * A frozen job holds what a running task waits for. @waiter: 0 if that task's job is in no bin or
 * in every bin, or if it has no job.
 */
TRACE_EVENT(mts_wait,
	TP_PROTO(const struct mts_job *job, const struct mts_job *waiter, enum mts_wait_for what),
	TP_ARGS(job, waiter, what),
	TP_STRUCT__entry(
		JOB_ENTRY
		__field(u32, waiter)
		__field(s32, waiter_bin)
		__field(u32, what)
		__field(u64, frozen_ns)
	),
	TP_fast_assign(
		JOB_ASSIGN;
		__entry->waiter = waiter ? waiter->id : 0;
		__entry->waiter_bin = waiter ? waiter->bin : MTS_BIN_EVERY;
		__entry->what = what;
		__entry->frozen_ns = ktime_get_ns() - READ_ONCE(job->frozen_since);
	),
	TP_printk(JOB_PR_FMT " waiter=%u waiter_bin=%d what=%s frozen_ns=%llu " NAME_PR_FMT,
		JOB_PR_ARG, __entry->waiter, __entry->waiter_bin,
		__print_symbolic(__entry->what, MTS_TRACE_WAIT_FOR), __entry->frozen_ns,
		NAME_PR_ARG)
);

/*
 * A process outside waits for a frozen job (calls.h). @granted: the job is thawed; else the budget
 * does not grant it. @pid, @comm: of that process.
 */
TRACE_EVENT(mts_call,
	TP_PROTO(const struct mts_job *job, u32 kind, u32 pid, const char *caller, bool granted),
	TP_ARGS(job, kind, pid, caller, granted),
	TP_STRUCT__entry(
		JOB_ENTRY
		__field(u32, kind)
		__field(u32, pid)
		__field(bool, granted)
		__array(char, comm, TASK_COMM_LEN)
	),
	TP_fast_assign(
		JOB_ASSIGN;
		__entry->kind = kind;
		__entry->pid = pid;
		__entry->granted = granted;
		mts_trace_word(__entry->comm, caller, TASK_COMM_LEN);
	),
	TP_printk(JOB_PR_FMT " kind=%s pid=%u granted=%d comm=%s " NAME_PR_FMT, JOB_PR_ARG,
		__print_symbolic(__entry->kind, MTS_TRACE_CALLS), __entry->pid, __entry->granted,
		__entry->comm, NAME_PR_ARG)
);

/* ---- the gate ---------------------------------------------------------------- */

/* The gate closes: everything will be thawed. @frozen: jobs that are frozen now. */
TRACE_EVENT(mts_stop,
	TP_PROTO(u32 reason, u32 frozen, const char *detail),
	TP_ARGS(reason, frozen, detail),
	TP_STRUCT__entry(
		__field(u32, reason)
		__field(u32, frozen)
		__string(detail, detail)
	),
	TP_fast_assign(
		__entry->reason = reason;
		__entry->frozen = frozen;
		MTS_ASSIGN_STR(detail, detail);
	),
	TP_printk("reason=%s frozen=%u detail=%s",
		__print_symbolic(__entry->reason, MTS_TRACE_REASONS), __entry->frozen,
		__get_str(detail))
);

/* clang-format on */

#endif /* _MTS_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>

/* SPDX-License-Identifier: GPL-2.0 */
/* Replaces module/events/trace.h: trace events call the program that has the rotor. */
#ifndef FAKE_TRACE_H
#define FAKE_TRACE_H

#include "events/words.h"
#include "job.h"
#include "policy/bins.h"
#include "policy/choice.h"

void trace_mts_freeze(struct mts_job *job);
void trace_mts_hold(struct mts_job *job);
void trace_mts_release(struct mts_job *job);
void trace_mts_policy(u32 before, const struct mts_choice *choice);
void trace_mts_job(struct mts_job *job, enum mts_job_what what);
void trace_mts_thaw(struct mts_job *job, enum mts_thaw_why why);
void trace_mts_stop(u32 reason, u32 frozen, const char *detail);
void trace_mts_switch_begin(u64 round, u32 from, u32 to);
void trace_mts_switch_end(u64 round, u32 from, u32 to, u64 took,
			  const struct mts_switch_parts *parts, int err);
void trace_mts_slice_begin(u64 round, u32 bin, const struct mts_plan_bin *plan);
void trace_mts_slice_end(u64 round, u32 bin, enum mts_slice_end why, u64 planned, u64 ran);
void trace_mts_round(u64 round, const struct mts_plan *plan, u32 jobs);

#define trace_mts_interactive(job, is, age_ms) ((void)(job), (void)(is), (void)(age_ms))
#define trace_mts_call(job, kind, pid, comm, granted) \
	((void)(job), (void)(kind), (void)(pid), (void)(comm), (void)(granted))
#define trace_mts_bring_back(to, n, pages, took) \
	((void)(to), (void)(n), (void)(pages), (void)(took))
#define trace_mts_admission(before, now, admission, plan) \
	((void)(before), (void)(now), (void)(admission), (void)(plan))

#endif /* FAKE_TRACE_H */

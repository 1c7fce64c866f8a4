/* SPDX-License-Identifier: GPL-2.0 */
/* Replaces module/events/trace.h: there are no trace events in user space yet. */
#ifndef REAL_TRACE_H
#define REAL_TRACE_H

#include "events/words.h"
#include "job.h"
#include "policy/bins.h"

#define trace_mts_freeze(job) ((void)(job))
#define trace_mts_hold(job) ((void)(job))
#define trace_mts_release(job) ((void)(job))
#define trace_mts_policy(before, choice) ((void)(before), (void)(choice))
#define trace_mts_job(job, what) ((void)(job), (void)(what))
#define trace_mts_thaw(job, why) ((void)(job), (void)(why))
#define trace_mts_stop(reason, frozen, detail) ((void)(reason), (void)(frozen), (void)(detail))
#define trace_mts_switch_begin(round, from, to) ((void)(round), (void)(from), (void)(to))
#define trace_mts_switch_end(round, from, to, took, parts, err) \
	((void)(round), (void)(from), (void)(to), (void)(took), (void)(parts), (void)(err))
#define trace_mts_slice_begin(round, bin, plan) ((void)(round), (void)(bin), (void)(plan))
#define trace_mts_slice_end(round, bin, why, planned, ran) \
	((void)(round), (void)(bin), (void)(why), (void)(planned), (void)(ran))
#define trace_mts_round(round, plan, jobs) ((void)(round), (void)(plan), (void)(jobs))
#define trace_mts_interactive(job, is, age_ms) ((void)(job), (void)(is), (void)(age_ms))
#define trace_mts_call(job, kind, pid, comm, granted) \
	((void)(job), (void)(kind), (void)(pid), (void)(comm), (void)(granted))
#define trace_mts_bring_back(to, n, pages, took) \
	((void)(to), (void)(n), (void)(pages), (void)(took))
#define trace_mts_admission(before, now, admission, plan) \
	((void)(before), (void)(now), (void)(admission), (void)(plan))

#endif /* REAL_TRACE_H */

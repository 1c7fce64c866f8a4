/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What jobs would get done: per mille of a processor. Pure code (pure.h).
 *
 * The same forecast decides whether bins overlap, whether turns begin, and whether switches leave
 * too little of them; mtsctl plan shows it.
 */
#ifndef _MTS_POLICY_FORECAST_H
#define _MTS_POLICY_FORECAST_H

#include "policy/bins.h"
#include "policy/fair.h"

/**
 * struct mts_wants - what jobs would run if they never waited for memory; per mille of a processor
 * @exempt: of jobs in every bin
 * @others: of jobs that take turns
 */
struct mts_wants {
	u64 exempt;
	u64 others;
};

/* By threads alone: each that wants to run always does. @bins: of @jobs, as planned. */
struct mts_wants mts_wants_of_threads(const struct mts_plan_job *jobs, u32 n);

/*
 * The part of all time that a job runs, per mille. Disjoint bins are taken to be equal. With fewer
 * than two bins: always.
 */
u32 mts_forecast_part(const struct mts_plan *plan);

/**
 * mts_forecast_turns() - what jobs get done with these turns
 * @wants: of all jobs; the bins share those of the others by their threads
 * @processors: of the host
 * @bins: as planned; with fewer than two bins, turns of two equal ones are meant
 * @plan: as planned
 *
 * Disjoint bins run one at a time, each for its slice, and none in a switch. Exempt jobs run on.
 * Overlapping bins run for the part of the time that their memory is there, on the processors that
 * moving memory leaves (mts_plan.lost).
 */
u64 mts_forecast_turns(const struct mts_wants *wants, u32 processors,
		       const struct mts_plan_bin *bins, const struct mts_plan *plan);

/**
 * struct mts_forecast_job - a job in a window in which all jobs ran as they liked
 * @user_ns: its user time
 * @waited_ns: time for which its tasks waited for swap, all together
 * @wants: threads that ran or waited, per mille
 * @rss, @lacks: bytes in memory, and in swap
 * @entitled: entitled.h
 * @user: as in struct mts_fair_job
 * @may_hold, @may_delay: nothing exempts it from being the holder, or delayed
 */
struct mts_forecast_job {
	u64 user_ns;
	u64 waited_ns;
	u64 wants;
	u64 rss;
	u64 lacks;
	u32 entitled;
	u32 user;
	bool may_hold;
	bool may_delay;
};

/**
 * struct mts_forecast_host - what is seen of the host
 * @elapsed_ns: length of the window; not 0
 * @could_run: what the jobs' threads could run, per mille of a processor
 * @memory: bytes for all jobs
 * @fault_ns: what a page from swap takes that is waited for; 0: not known
 */
struct mts_forecast_host {
	u64 elapsed_ns;
	u64 could_run;
	u64 memory;
	u64 fault_ns;
};

/* It cannot be foretold. */
#define MTS_FORECAST_UNKNOWN U64_MAX

/**
 * mts_forecast_token() - what jobs get done if one at a time keeps its memory (token.h)
 *
 * Each job that waits for swap holds in turn, so the mean over these counts. A holder fetches what
 * it lacks by single faults, and then runs as it wants. The others get as much less than in the
 * window as they have less memory. Without two jobs that wait, or where the jobs run for most of
 * what they could, no job holds: then it is what they got. Unknown while @fault_ns is.
 *
 * @takes_ns: set to how long a job fetches and holds, the mean over these that ever have all
 */
u64 mts_forecast_token(const struct mts_forecast_host *host, const struct mts_forecast_job *jobs,
		       u32 n, u64 *takes_ns);

/**
 * mts_forecast_fair() - what jobs get done if those that wait beyond their share are delayed
 * @weights: as in mts_fair_step()
 * @scratch: mts_forecast_fair_scratch(n) bytes, aligned for u64
 *
 * A delayed job (fair.h) runs for half of the time, and asks the disk for half as much. The others
 * wait for as much less as the disk is asked for less, and run meanwhile. Without a job beyond its
 * share it is what they got.
 */
u64 mts_forecast_fair(const struct mts_forecast_host *host, const struct mts_forecast_job *jobs,
		      u32 n, const struct mts_user_weights *weights, void *scratch);

size_t mts_forecast_fair_scratch(u32 n);

/*
 * Is the choice that gives @other better than the one that gives @present? It has to be better by a
 * tenth: less is within the error of a forecast. And it has to be better than the error of a time
 * that is counted in ticks, which is large where jobs hardly run.
 */
bool mts_forecast_is_better(u64 other, u64 present);

/*
 * A choice replaces the present one after as many windows, or rounds, in which it was better. In a
 * single one a job may have started or ended.
 */
#define MTS_FORECAST_WINDOWS 2u

#endif /* _MTS_POLICY_FORECAST_H */

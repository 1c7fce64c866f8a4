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

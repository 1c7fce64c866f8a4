/* SPDX-License-Identifier: GPL-2.0 */
/* labdrive: looks at the work counters (bench/common/work.h): progress and pauses. */
#ifndef LABDRIVE_SAMPLE_H
#define LABDRIVE_SAMPLE_H

#include "jobs.h"

/*
 * A pause is the time between two looks that saw progress, with at least one in between
 * that saw none. So a pause of less than the period of the looks may go unseen, and the length of
 * one that is seen is right to one period either way. Pauses end at the goal, or with the job.
 */

/* A look at all slots of a running job. */
void sample_job(struct job *job, uint64_t now);

/* The last look, at job->ended_ns: a pause that still goes on ends here. */
void sample_close(struct job *job);

/* The last pause too; ns. */
uint64_t sample_longest_pause(const struct job *job);

/**
 * sample_job_work() - fraction of a job's work that is done
 *
 * The mean over its slots that have a goal. Without any: 1 if it ended with status 0, or else 0.
 */
double sample_job_work(const struct job *job);

/**
 * sample_done() - sum of the fractions done of all parts of the work
 * @parts: how many there are as far as is known: every slot with a goal is one, and so is a job
 *         without any, unless it is endless
 *
 * The sum never falls. The number of parts grows when a job that had no slot takes several.
 */
double sample_done(const struct jobs *jobs, size_t *parts);

/* Fraction of all work that is done: the mean over its parts. */
double sample_work(const struct jobs *jobs);

#endif

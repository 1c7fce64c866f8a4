/* SPDX-License-Identifier: GPL-2.0 */
/* The roster: which jobs there are, what each needs, and in which bin it is. */
#ifndef _MTS_ROTOR_ROSTER_H
#define _MTS_ROTOR_ROSTER_H

#include "context.h"
#include "job.h"
#include "policy/demand.h"

/* Take down all jobs, with references, dropping the last muster's. */
void mts_roster_muster(void);
void mts_roster_dismiss(void);

/* The index of the job with this id; mts_rotor.roster.n: it is not in the roster. */
u32 mts_roster_index(u32 id);

/* Measure every job in the roster. */
void mts_roster_measure(void);

/* See how many threads of a job that is not frozen want to run now. Under mts_lock. */
void mts_roster_count_threads(struct mts_job *job);

/* Bytes of a job that is measured so, which it does not use, as far as is known. */
u64 mts_roster_unused(const struct mts_job *job, const struct mts_usage *usage);

/* Why a job is in every bin: it must, or should, or cannot be frozen. */
bool mts_roster_is_resident(const struct mts_job *job);

/*
 * Of the frozen jobs of a bin whose memory may be evicted, the one with most in memory; NULL: none.
 * *@n: how many there are.
 */
struct mts_job *mts_roster_largest(u32 bin, u32 *n);

/* Bytes of a job that stay in memory while other bins run: they are in every bin. */
static inline u64 mts_roster_kept_bytes(const struct mts_job *job)
{
	return mts_max(job->kept_bytes, job->immovable);
}

/* Bytes that a job takes of its bin: what of its memory is not in every bin. */
static inline u64 mts_roster_bin_bytes(const struct mts_job *job)
{
	return mts_sub_floor(job->demand, mts_roster_kept_bytes(job));
}

/* Measure one job. Return: 0, or an error of mts_ops->usage(). */
int mts_roster_measure_job(struct mts_job *job);

/* What a job needs in memory now, and has: bytes; nothing is noted. Return: as above. */
int mts_roster_peek(struct mts_job *job, u64 *demand, u64 *rss);

/* Trace it if what input makes of the job has changed. */
void mts_roster_note_interactive(struct mts_job *job);

#endif /* _MTS_ROTOR_ROSTER_H */

/* SPDX-License-Identifier: GPL-2.0 */
/* Turns that begin before the first storm. */
#ifndef _MTS_ROTOR_ONSET_H
#define _MTS_ROTOR_ONSET_H

#include "context.h"

/* Take a sample: what the jobs have now. */
void mts_onset_sample(void);

/* No turns are taken, and if memory fills they may have to be: ask below at intervals. */
bool mts_onset_watches(void);

/* The next sample is due in this many ns; U64_MAX: not before the host reclaims. */
u64 mts_onset_interval(void);

/* Is memory about to be full, so that an onset should be tried? Cheap. */
bool mts_onset_is_due(void);

/*
 * Did jobs that slept have most of the memory before it was full, a minute ago at most? And do they
 * still have a good part of it, and still sleep as far as is known?
 */
bool mts_onset_most_sleep(void);

/*
 * The rotor is about to plan. If memory is @filling, freeze all jobs: is swap so slow that turns
 * must begin before each job reclaims for itself? Then they stay frozen, and this round is the
 * first one (mts_rotor.onset.is_on).
 */
void mts_onset_begin(bool filling);

#endif /* _MTS_ROTOR_ONSET_H */

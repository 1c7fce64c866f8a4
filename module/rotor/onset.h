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

/* What the jobs may have in memory beside what they have, bytes. Takes a sample. */
u64 mts_onset_planned(void);

/* Will the bin have filled what it may have within @within_ns? Takes a sample. */
bool mts_onset_bin_fills(u64 within_ns);

/* Is memory about to be full, so that an onset should be tried? Cheap. */
bool mts_onset_is_due(void);

/*
 * In a slice of an early round, once a tick: do all jobs fit after all, and does the running bin
 * grow no more? Then the next plan lets all of them run (mts_rotor.onset.all_fit).
 */
bool mts_onset_all_fit(void);

/*
 * Did jobs that slept have most of the memory before it was full, a minute ago at most? And do they
 * still have a good part of it, and still sleep as far as is known?
 */
bool mts_onset_most_sleep(void);

/*
 * The rotor is about to plan. If memory is @filling, freeze all jobs for a moment: is swap so slow
 * that turns must begin before each job reclaims for itself? Then the jobs fill what is left in
 * short steps, stay frozen, and this round is the first one (mts_rotor.onset.is_on).
 */
void mts_onset_begin(bool filling);

/* The next plan has been made: that all fit is not believed any longer. */
void mts_onset_forget_fit(void);

/*
 * Do the configuration and the jobs allow an onset, if only to report it (shadow)? And do they
 * allow the jobs to be frozen for it? Each takes mts_lock.
 */
bool mts_onset_may_begin(void);
bool mts_onset_may_stop(void);

#endif /* _MTS_ROTOR_ONSET_H */

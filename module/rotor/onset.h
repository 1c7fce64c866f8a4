/* SPDX-License-Identifier: GPL-2.0 */
/* Turns that begin before the first storm. */
#ifndef _MTS_ROTOR_ONSET_H
#define _MTS_ROTOR_ONSET_H

#include "context.h"

/* Take a sample: what the jobs have now. */
void mts_onset_sample(void);

/* No turns are taken, and if memory fills they may have to be: ask below at intervals. */
bool mts_onset_watches(void);

/* After so many ns the next sample is to be taken; U64_MAX: not before the host reclaims. */
u64 mts_onset_interval(void);

/* What the jobs may have in memory beside what they have, bytes. Takes a sample. */
u64 mts_onset_planned(void);

/* Will the bin have all that it may by then, if it goes on as since the last sample? Takes one. */
bool mts_onset_bin_fills(u64 within_ns);

/* Are turns to begin for that, if the disk is slow? Cheap. */
bool mts_onset_is_due(void);

/*
 * In a slice of an early round, once a tick: do all jobs fit after all, and does the running bin
 * grow no more? Then the next plan lets all of them run (mts_rotor.onset.all_fit).
 */
bool mts_onset_all_fit(void);

/*
 * Did most of the memory belong to who slept before it was full, a minute ago at most, and do they
 * still have a good part of it, and sleep for all that is known?
 */
bool mts_onset_most_sleep(void);

/*
 * The rotor is about to plan. If memory is @filling, all jobs stand still for a moment: is swap so
 * slow that turns must begin before each job reclaims for itself? Then the jobs fill what is left
 * a little at a time, and stay frozen, and this round is the first (mts_rotor.onset.is_on).
 */
void mts_onset_begin(bool filling);

/* The next plan has been made: that all fit is not believed any longer. */
void mts_onset_forget_fit(void);

/*
 * Do the configuration and the jobs allow turns that nobody has asked for yet, or (shadow) that one
 * says when they would? And does it allow to stop the jobs for them? Each takes mts_lock.
 */
bool mts_onset_may_begin(void);
bool mts_onset_may_stop(void);

#endif /* _MTS_ROTOR_ONSET_H */

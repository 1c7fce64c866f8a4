/* SPDX-License-Identifier: GPL-2.0 */
/* Does what runs fit, and would all? */
#ifndef _MTS_ROTOR_FIT_H
#define _MTS_ROTOR_FIT_H

#include "context.h"

/*
 * Would all that takes turns fit into one bin now, with an eighth of it to spare, by what was last
 * measured of each? A round's end finds out what fits exactly.
 */
bool mts_fit_all(void);

/* Has the running bin outgrown the capacity, so that it must be split? */
bool mts_fit_outgrown(void);

/*
 * Does the running bin swap while it runs, although it was to fit? Then the next plan's capacity is
 * less, unless something else took the bin's room. Cheap while the host swaps little.
 */
bool mts_fit_swaps(void);

/* A slice begins: what the host swaps in from now on may count against its bin. */
void mts_fit_begin_slice(void);

/* A round begins; it is over. @whole: each bin had its slice. */
void mts_fit_begin_round(void);
void mts_fit_end_round(bool whole);

/* It was not the running bin that swapped in so many pages. */
void mts_fit_excuse_swapins(u64 pages);

/* An automatic capacity, less what bins have shown to be too much. */
u64 mts_fit_learned(u64 capacity);

/*
 * All jobs fit in the capacity, with what is exempt, and lose time by memory all the same: is it
 * too large? Then it is less from now on.
 */
bool mts_fit_is_tight(u64 capacity, u64 demand);

/* No turns are taken: the next ones learn anew. */
void mts_fit_forget(void);

#endif /* _MTS_ROTOR_FIT_H */

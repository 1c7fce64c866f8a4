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
 * Does the running bin swap while it runs, although it was to fit? Then the
 * next plan's capacity is less. Cheap if not.
 */
bool mts_fit_swaps(void);

#endif /* _MTS_ROTOR_FIT_H */

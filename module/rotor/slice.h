/* SPDX-License-Identifier: GPL-2.0 */
/* A slice: one bin runs. */
#ifndef _MTS_ROTOR_SLICE_H
#define _MTS_ROTOR_SLICE_H

#include "context.h"
#include "events/words.h"

/* Record which jobs of the running bin wait for which other jobs, while it can be seen. */
void mts_slice_look_at_waits(void);

/* Let the bin run, until its slice is over or there is a reason to end it before. */
enum mts_slice_end mts_slice_run(u32 bin);

/* The slice is over: account to its jobs what they have had of it. */
void mts_slice_close(u32 bin, enum mts_slice_end why);

#endif /* _MTS_ROTOR_SLICE_H */

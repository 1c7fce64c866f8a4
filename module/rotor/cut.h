/* SPDX-License-Identifier: GPL-2.0 */
/* How long a slice may last so that no pause limit is exceeded. */
#ifndef _MTS_ROTOR_CUT_H
#define _MTS_ROTOR_CUT_H

#include "context.h"
#include "job.h"

/*
 * How long the running bin's slice may last from @now on, so that no job is frozen for longer than
 * @max_pause ns or its own limit. At most as planned. Writes the scratch memory.
 */
u64 mts_cut_longest(u64 now, u64 max_pause);

/* From @now until the job will have been frozen for @max_pause, or for its own limit; ns. */
u64 mts_cut_until(const struct mts_job *job, u64 now, u64 max_pause);

#endif /* _MTS_ROTOR_CUT_H */

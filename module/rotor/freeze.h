/* SPDX-License-Identifier: GPL-2.0 */
/* Freezing and thawing in a switch: which jobs, and how long that is waited for. */
#ifndef _MTS_ROTOR_FREEZE_H
#define _MTS_ROTOR_FREEZE_H

#include "context.h"
#include "job.h"

/*
 * Freeze newcomers that wait for their bin, thaw those of the running ones. Whether the former have
 * frozen is waited for until @deadline, ktime, ns: the end of the slice, U64_MAX: as in a switch.
 */
int mts_freeze_apply_bins(u64 deadline);

/* Freeze every job that may be frozen, and wait until @deadline, as above. 0 or -ECANCELED. */
int mts_freeze_stop(u64 deadline);

/* Thaw every job that mts froze. */
void mts_freeze_thaw_all(void);

/* Is there nothing against freezing it? */
bool mts_freeze_may(const struct mts_job *job);

/* Is this job to be frozen, as its bin does not run and nothing exempts it? */
bool mts_freeze_is_for(const struct mts_job *job);

/* Ask all of those to freeze, and wait as mts_freeze_apply_bins() does. 0 or -ECANCELED. */
int mts_freeze_others(u64 deadline);

/* Thaw the jobs of the bins that run. */
void mts_freeze_thaw_running(void);

/* The time since *last, which becomes now. */
static inline u64 mts_freeze_lap(u64 *last)
{
	u64 now = ktime_get_ns(), took = now - *last;

	*last = now;
	return took;
}

#endif /* _MTS_ROTOR_FREEZE_H */

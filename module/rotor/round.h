/* SPDX-License-Identifier: GPL-2.0 */
/* The bins of this round, and what jobs that come and go change of them. Under mts_lock. */
#ifndef _MTS_ROTOR_ROUND_H
#define _MTS_ROTOR_ROUND_H

#include "rotor/state.h"

/* A round has been planned: .plan and .bins are set. 0 bins: there are no turns. */
void mts_round_begin(u32 nbins);

/* There are no turns any more. */
void mts_round_end(void);

/* A slice begins: it is as long as that. */
void mts_round_set_slice(u32 bin, u64 slice_ns);

/* From now on these bins run: the first @n of @bins, and no other. A switch to them begins. */
void mts_round_run(const u32 *bins, u32 n);

/* The sums of all bins, from what the roster says: jobs may have gone. */
void mts_round_count_bins(void);

/* Put @job into bin @bin, where it counts for @bytes. mts_round_count_bins() has to follow. */
void mts_round_give_bin(struct mts_job *job, u32 bin, u64 bytes);

/* The same, and the sums of the bin that it was in, and of @to, follow. */
void mts_round_move(struct mts_job *job, u32 to, u64 bytes);

/* A job has come since the round was planned, and this is its first bin. */
void mts_round_place(struct mts_job *job, u32 bin, u64 bytes);

/* Take @job out of its bin: it is exempt from now on, and takes @bytes of the capacity. */
void mts_round_exempt(struct mts_job *job, u64 bytes);

#endif /* _MTS_ROTOR_ROUND_H */

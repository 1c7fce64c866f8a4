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

/* A bin is to run after the next switch, and no other. */
void mts_round_choose(u32 bin);

/* Of overlapping bins: what mts_window_next() chooses is to run. Return: the bin that is first. */
u32 mts_round_choose_groups(void);

/* Before that: of each job, how long it has run, and when its pause limit ends; ktime, ns. */
void mts_round_clear_waits(void);
void mts_round_note_wait(u32 bin, u64 service_ns, u64 due_ns);

/* A switch begins to those that were chosen: they run from now on. */
void mts_round_switch(void);

/* The sum of the bins that run. */
struct mts_plan_bin mts_round_running(void);

/* Of overlapping bins: a new group, without jobs. MTS_BIN_NONE: there are too many. */
u32 mts_round_add_bin(bool runs);

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

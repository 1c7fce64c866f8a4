/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Bins that overlap: which groups of jobs come in at a switch, and which leave. Pure code (pure.h).
 *
 * A switch changes what runs by little, and the jobs that stay run on meanwhile. A scheduler that
 * pauses no job for longer than P, of jobs that need D bytes on a host with M, moves (D - M) / P
 * bytes a second out, and as many in. Overlapping bins move about (D - M + step) / P, and let M / D
 * of the jobs run at any time. Disjoint bins of n move more, and let one nth run.
 */
#ifndef _MTS_POLICY_WINDOW_H
#define _MTS_POLICY_WINDOW_H

#include "policy/bins.h"

/*
 * Groups have at most 1/32 of the capacity. Smaller ones would switch more often for a little less
 * traffic: it is in proportion to D - M + step, of which step is at most a tenth from 1.33 times
 * the memory on. Larger ones leave more memory idle, half a group on average.
 */
#define MTS_WINDOW_STEPS 32u
/*
 * Threads that move memory, at most. More would wait for each other: for the map of the swap
 * device, and for the disk.
 */
#define MTS_MOVERS_MAX 8u

/**
 * mts_window_next() - choose the groups that run after the next switch
 * @bins: the groups, with .runs, .service_ns and .due_ns; sets .next of each
 * @nbins: number of groups
 * @capacity: bytes that may run at a time
 *
 * - In: the waiting group whose pause limit ends first.
 * - Out: running groups, those that have run for longest first, until it fits.
 * - Then waiting groups in the same order as far as they fit. Those that leave now do not come.
 *
 * So the order of waiting keeps the pauses, and the order of service gives each job its share.
 * A group larger than the capacity comes in alone. Groups without jobs are ignored.
 *
 * Return: the group that comes in first; one that stays, if none waits and too much runs;
 * MTS_BIN_NONE: there is nothing to change.
 */
u32 mts_window_next(struct mts_plan_bin *bins, u32 nbins, u64 capacity);

/*
 * The service that groups usually have: the mean. Where they are not all entitled to the same there
 * may be some that can never have what they are entitled to: more than all of the time, or less
 * than a turn within each pause limit. They would draw the mean away, so there it is the median.
 */
u64 mts_window_service(const struct mts_plan_bin *bins, u32 nbins);

/**
 * mts_window_slice() - how long the slice after a switch is
 * @bins: as mts_window_next() has left them
 * @nbins: number of groups
 * @lead: what it returned
 *
 * In proportion to what comes in: moving a byte then always takes the same part of the time. But a
 * group that can run beside few others leaves with them when a large one comes, whatever it has
 * had. So the slice is longer by what the group that comes in first has had less than groups
 * usually have, up to the longest of all slices, which a group gets that fills the memory. A slice
 * of a group that is entitled to more counts in proportion there. The slice is shorter by what the
 * group has had more, at most by half.
 */
u64 mts_window_slice(const struct mts_plan_bin *bins, u32 nbins, u32 lead);

/* What mts_config.step stands for: bytes; 0: disjoint bins. */
u64 mts_window_step(u32 step, u64 capacity);

/* Is it to be chosen whether bins overlap? */
bool mts_window_chooses(u32 step);

/*
 * How many threads move memory while jobs run on: a quarter of the processors, within 1 and
 * MTS_MOVERS_MAX.
 */
u32 mts_window_movers(u32 processors);

#endif /* _MTS_POLICY_WINDOW_H */

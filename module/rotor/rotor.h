/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The rotor: one thread, one state machine (enum mts_state), the only writer of
 * bins and rounds.
 *
 *            demand > capacity             slice over, or nothing can run
 *     IDLE ---------------------> SWITCHING <----------------------- RUNNING
 *      ^  <---------------------      |   -------------------------->  |
 *      |     one bin is enough        |         thawed the bin         |
 *      |                              v                                |
 *      +--- gate opens --- STOPPED, PAUSED <---- gate closes ----------+
 *
 * The gate (freezer.h) is closed by others; they have thawed everything by the
 * time that the rotor sees it.
 */
#ifndef _MTS_ROTOR_H
#define _MTS_ROTOR_H

#include "mts.h"

/* Bits for mts_rotor_wake(): why. */
#define MTS_ROTOR_EV_JOBS 0 /* a job came or went */
#define MTS_ROTOR_EV_CONFIG 1 /* the configuration changed */
#define MTS_ROTOR_EV_RECLAIM 2 /* the host reclaims memory */
#define MTS_ROTOR_EV_FROZEN 3 /* a cgroup has frozen or thawed, or need not freeze any more */
#define MTS_ROTOR_EV_GATE 4 /* the gate was closed or opened */
#define MTS_ROTOR_EV_MEASURE 5 /* somebody reads the status */
#define MTS_ROTOR_EV_WANTED 6 /* a job has been thawed as it is wanted */

int mts_rotor_init(void);
void mts_rotor_exit(void);

/* Any context. */
void mts_rotor_wake(unsigned int event);

/* If this is the rotor's thread: it is getting on. */
void mts_rotor_alive(void);

/* Is it parked, the gate being closed: it does nothing to any job. */
bool mts_rotor_is_parked(void);

/* Are turns taken: is there more than one bin? Any context. */
bool mts_rotor_takes_turns(void);

/* A job came, went or changed; the caller holds mts_lock. */
void mts_rotor_jobs_changed(void);

/* What the rotor knows, for the device; each takes mts_lock. */
void mts_rotor_status(struct mts_status *status);

/* Copy up to @n; return how many there are. The caller holds mts_lock. */
u32 mts_rotor_bins(struct mts_bin_info *bins, u32 n);

/* The caller holds mts_lock. */
u64 mts_rotor_generation(void);

/* evict.c: swap that took no more may do so again. Any context. */
void mts_evict_retry(void);

#endif /* _MTS_ROTOR_H */

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
 * Memory is short, and the policy is not to take turns: IDLE becomes SHARING, and back (sharing.h).
 *
 * The gate (freezer.h) is closed by others; they have thawed everything by the
 * time that the rotor sees it.
 */
#ifndef _MTS_ROTOR_H
#define _MTS_ROTOR_H

#include "mts.h"

int mts_rotor_init(void);
void mts_rotor_exit(void);

#endif /* _MTS_ROTOR_H */

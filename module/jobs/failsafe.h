/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Fail open: whatever goes wrong, everything is thawed and the reason is said.
 * A watchdog thread that shares nothing with the rotor but a deadline (promise.h), and the
 * kernel's notifiers for suspend and for out of memory.
 */
#ifndef _MTS_FAILSAFE_H
#define _MTS_FAILSAFE_H

#include "context.h"

int mts_failsafe_init(void);
void mts_failsafe_exit(void);

/*
 * The longest that a job may stay frozen, above MTS_PAUSE_MARGIN_NS. A job's own limit, if it is
 * shorter, holds for that job.
 */
void mts_failsafe_set_limit(u64 ns);

/*
 * Is the rotor parked: the gate is closed, and it does nothing to any job? The rotor says so; a
 * suspend waits for it.
 */
void mts_failsafe_set_parked(bool parked);

#endif /* _MTS_FAILSAFE_H */

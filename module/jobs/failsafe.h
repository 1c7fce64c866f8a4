/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Fail open: on any error all jobs are thawed, and the log and the status have the reason. This is
 * done by a watchdog thread, which shares nothing with the rotor but a deadline (promise.h), and by
 * the kernel's notifiers for suspend and for out of memory.
 */
#ifndef _MTS_FAILSAFE_H
#define _MTS_FAILSAFE_H

#include "context.h"

int mts_failsafe_init(void);
void mts_failsafe_exit(void);

/*
 * The longest time that a job may stay frozen; more than MTS_PAUSE_MARGIN_NS. A shorter limit of a
 * job's own holds for that job. @is_reached: by plan. Then it is no cause to warn.
 */
void mts_failsafe_set_limit(u64 ns, bool is_reached);

/*
 * The rotor says whether it is parked: it has seen the closed gate, and does nothing to any job. A
 * suspend waits until it is.
 */
void mts_failsafe_set_parked(bool parked);

#endif /* _MTS_FAILSAFE_H */

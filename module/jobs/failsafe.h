/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Fail open: whatever goes wrong, everything is thawed and the reason is said.
 * A watchdog thread that shares nothing with the rotor but a deadline, and the
 * kernel's notifiers for suspend and for out of memory.
 */
#ifndef _MTS_FAILSAFE_H
#define _MTS_FAILSAFE_H

#include <linux/types.h>

int mts_failsafe_init(void);
void mts_failsafe_exit(void);

/**
 * mts_failsafe_promise() - the rotor will be heard of again
 * @ns: within this time
 * @doing: what it is doing, a string literal
 *
 * While a job is frozen and the promise is broken by a quarter of a second at two looks,
 * the watchdog stops everything.
 */
void mts_failsafe_promise(u64 ns, const char *doing);

/*
 * The longest that a job may stay frozen, above MTS_PAUSE_MARGIN_NS. A job's own limit, if it is
 * shorter, holds for that job.
 */
void mts_failsafe_set_limit(u64 ns);

/* A job that may be frozen is to run, or may (calls.h): the watchdog looks. Any context. */
void mts_failsafe_thaw_wanted(void);

/* Something has been frozen: the watchdog begins to look. Any context. */
void mts_failsafe_wake(void);

#endif /* _MTS_FAILSAFE_H */
